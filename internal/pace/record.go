package pace

import (
	"strconv"
	"strings"
)

// version begins each record. It has to change with the meaning of what follows.
const version = "2"

// maxNumber bounds the numbers of a record: as floating-point numbers, integers below it
// are exact, and so are sums of a few.
const maxNumber = Forever

// Record returns a state as text: numbers between single spaces. It is below 500 bytes.
func (s *State) Record() []byte {
	b := append(make([]byte, 0, 256), version...)
	integer := func(n int64) { b = strconv.AppendInt(append(b, ' '), n, 10) }
	number := func(f float64) { b = strconv.AppendFloat(append(b, ' '), f, 'g', -1, 64) }
	for _, n := range [...]int64{s.Now, s.Version, s.Since, s.Closed, s.Reset, s.Last, s.Begun} {
		integer(n)
	}
	for _, f := range [...]float64{s.Base, s.Pace, s.Here, s.Before, s.Knee} {
		number(f)
	}
	if s.First {
		integer(1)
	} else {
		integer(0)
	}
	for _, free := range s.Free {
		if free == 0 {
			break
		}
		integer(free)
	}
	return b
}

// Parse reads a record. What is no record, or that of another version, is a place of which
// nothing is known.
func Parse(record string) (s State, ok bool) {
	const fixed = 14
	fields := strings.Split(record, " ")
	if len(fields) < fixed || len(fields) > fixed+maxFree || fields[0] != version {
		return State{}, false
	}
	ok = true
	integers := [...]*int64{&s.Now, &s.Version, &s.Since, &s.Closed, &s.Reset, &s.Last, &s.Begun}
	for i, n := range integers {
		*n = integer(fields[1+i], &ok)
	}
	for i, f := range [...]*float64{&s.Base, &s.Pace, &s.Here, &s.Before, &s.Knee} {
		*f = number(fields[1+len(integers)+i], &ok)
	}
	first := fields[fixed-1]
	s.First = first == "1"
	ok = ok && (first == "0" || first == "1") && s.Now > 0
	earlier := int64(1)
	for i, field := range fields[fixed:] {
		s.Free[i] = integer(field, &ok)
		ok = ok && s.Free[i] >= earlier
		earlier = s.Free[i]
	}
	if !ok {
		return State{}, false
	}
	return s, true
}

// integer reads an integer of a record.
func integer(field string, ok *bool) int64 {
	n, err := strconv.ParseUint(field, 10, 64)
	if err != nil || n > maxNumber {
		*ok = false
	}
	return int64(n)
}

// number reads a number of a record.
func number(field string, ok *bool) float64 {
	f, err := strconv.ParseFloat(field, 64)
	if err != nil || !(f >= 0 && f <= maxNumber) || strings.Trim(field, "0123456789.e+-") != "" {
		*ok = false
	}
	return f
}
