package expr

import "unicode/utf8"

// like reports whether text matches a pattern of gjson: * is any text, ? is one
// character, \ takes the meaning from what follows. The time is at most the
// product of the lengths; gjson itself gives up and says no.
func like(text, pattern string) bool {
	star, mark := -1, 0 // where the last * was, and what it has eaten up to
	i, j := 0, 0
	for i < len(text) {
		if j < len(pattern) && pattern[j] == '*' {
			star, mark = j, i
			j++
			continue
		}
		if n, m := likeOne(text[i:], pattern[j:]); m > 0 {
			i, j = i+n, j+m
			continue
		}
		if star < 0 {
			return false
		}
		_, size := utf8.DecodeRuneInString(text[mark:])
		mark += size
		i, j = mark, star+1
	}
	for j < len(pattern) && pattern[j] == '*' {
		j++
	}
	return j == len(pattern)
}

// likeOne matches one character, and returns how much of text and of pattern it
// took; 0 if it does not match.
func likeOne(text, pattern string) (int, int) {
	if pattern == "" {
		return 0, 0
	}
	_, n := utf8.DecodeRuneInString(text)
	if pattern[0] == '?' {
		return n, 1
	}
	skip := 0
	if pattern[0] == '\\' && len(pattern) > 1 {
		skip = 1
	}
	_, m := utf8.DecodeRuneInString(pattern[skip:])
	if text[:n] != pattern[skip:skip+m] {
		return 0, 0
	}
	return n, skip + m
}
