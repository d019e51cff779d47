package report

import "strings"

// maxReasons is how many reasons are told apart.
const maxReasons = 1000

// A reason is what the verdicts on several targets say alike, but for numbers and other
// words with digits: 41% done and 57% done are one reason, HTTP 502 and HTTP 503 are two.
type reason struct {
	key     string
	between []string // the text around the numbers
	numbers []string // as in the first of them, and "" where another one differed
	targets int      // that have it now, or ended with it
	waiting int      // of them, those that have not ended
	hinted  bool     // what may have been meant was reported
	advice  []string // of the first target that ended so
}

// text returns the reason with a mark for each number that differs.
func (r *reason) text(mark string) string {
	var b strings.Builder
	for i, text := range r.between {
		b.WriteString(text)
		switch {
		case i == len(r.numbers):
		case r.numbers[i] == "":
			b.WriteString(mark)
		default:
			b.WriteString(r.numbers[i])
		}
	}
	return b.String()
}

// reasons are the reasons that targets have.
type reasons struct {
	byKey map[string]*reason
	key   []byte   // room for the next one
	cut   []string // likewise
}

// numberPlace stands for a number in a key. Text that passed the sanitizer has none.
const numberPlace = '\x00'

// others stands for the reasons beyond maxReasons.
const others = "other reasons"

// find returns the reason that a line says, a new one if it is the first to say it.
func (r *reasons) find(line string) *reason {
	r.key, r.cut = r.key[:0], r.cut[:0]
	for i := 0; i < len(line); {
		end, varies := word(line, i)
		if varies {
			r.key = append(r.key, numberPlace)
			r.cut = append(r.cut, line[i:end])
		} else {
			r.key = append(r.key, line[i:end]...)
		}
		i = end
	}
	found := r.byKey[string(r.key)]
	switch {
	case found == nil && len(r.byKey) >= maxReasons && line != others:
		return r.find(others)
	case found == nil:
		return r.add()
	}
	for i, n := range r.cut {
		if found.numbers[i] != n {
			found.numbers[i] = ""
		}
	}
	return found
}

// add adds the reason that was just cut up.
func (r *reasons) add() *reason {
	made := &reason{key: string(r.key), between: strings.Split(string(r.key), string(numberPlace))}
	for _, n := range r.cut {
		made.numbers = append(made.numbers, strings.Clone(n)) // without the rest of the line
	}
	if r.byKey == nil {
		r.byKey = make(map[string]*reason)
	}
	r.byKey[made.key] = made
	return made
}

// release drops a reason that no target has any more.
func (r *reasons) release(one *reason) {
	if one.targets == 0 {
		delete(r.byKey, one.key)
	}
}

// leastID is how long a word with digits must be to be taken for an identifier.
const leastID = 8

// word returns the end of what begins at line[i], at least one byte, and whether it is
// something that differs between targets: a long word with digits, 41, 1m30s or 10.0.0.7.
// The code of an answer is not.
func word(line string, i int) (end int, varies bool) {
	if i == 0 || !inWord(line[i-1]) {
		digits := false
		for end = i; end < len(line) && inWord(line[end]); end++ {
			digits = digits || isDigit(line[end])
		}
		if digits && end-i >= leastID {
			return end, true
		}
	}
	if !isDigit(line[i]) {
		return i + 1, false
	}
	for end = i; end < len(line) && (isDigit(line[end]) || isLetter(line[end]) || line[end] == '.'); {
		end++
	}
	for line[end-1] == '.' {
		end--
	}
	return end, !strings.HasSuffix(line[:i], "HTTP ") && !strings.HasSuffix(line[:i], "exit ")
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func inWord(c byte) bool   { return isDigit(c) || isLetter(c) || c == '_' || c == '-' }
