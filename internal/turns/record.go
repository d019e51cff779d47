package turns

import (
	"strconv"
	"strings"
)

// version begins each record. It has to change with the meaning of what follows.
const version = "1"

// maxNumber bounds the numbers of a record: as floating-point numbers, integers below it
// are exact.
const maxNumber = 1<<52 - 1

// Record returns a state as text: numbers between single spaces, the first of which is
// Begun. It is below 200 bytes.
func (s *State) Record() string {
	b := append(make([]byte, 0, 128), version...)
	long := int64(0)
	if s.Long {
		long = 1
	}
	for _, n := range [...]int64{s.Begun, s.Ended, s.First, s.N, s.Wait, s.Next, long, s.Claimed, s.Lease} {
		b = strconv.AppendInt(append(b, ' '), n, 10)
	}
	return string(strconv.AppendUint(append(b, ' '), s.Owner, 16))
}

// Parse reads a record. What is no record, or that of another version, is a question that
// nobody has asked.
func Parse(record string) (s State, ok bool) {
	const most = 200
	if len(record) > most {
		return State{}, false
	}
	fields := strings.Split(record, " ")
	if len(fields) != 11 || fields[0] != version {
		return State{}, false
	}
	var long int64
	for i, n := range [...]*int64{&s.Begun, &s.Ended, &s.First, &s.N, &s.Wait, &s.Next, &long, &s.Claimed, &s.Lease} {
		x, err := strconv.ParseUint(fields[1+i], 10, 64)
		if err != nil || x > maxNumber {
			return State{}, false
		}
		*n = int64(x)
	}
	owner, err := strconv.ParseUint(fields[10], 16, 64)
	if err != nil || long > 1 {
		return State{}, false
	}
	s.Owner, s.Long = owner, long == 1
	return s, true
}
