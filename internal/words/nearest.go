package words

import "strings"

// leastBeginning is the number of letters that identify a word.
const leastBeginning = 3

// Nearest returns the candidate that starts with word, if exactly one candidate does. Otherwise it returns the
// candidate that differs least, or "" if no candidate is close. If more than one letter differs, the first letter
// must match, since people seldom mistype it.
func Nearest(word string, candidates []string) string {
	best, least, longer := "", max(1, len(word)/3)+1, []string(nil)
	for _, c := range candidates {
		if strings.HasPrefix(c, word) {
			longer = append(longer, c)
		}
		if len(word)-len(c) >= least || len(c)-len(word) >= least {
			continue // saves time if word is very long
		}
		if d := distance(word, c); d < least && (d < 2 || word[0] == c[0]) {
			best, least = c, d
		}
	}
	if len(longer) == 1 && len(word) >= leastBeginning {
		return longer[0]
	}
	return best
}

// distance counts the single-letter changes between two words (Levenshtein, with a
// swap of two neighbours as one change).
func distance(a, b string) int {
	var before, row []int
	for j := range len(b) + 1 {
		row = append(row, j)
	}
	for i := range len(a) {
		next := []int{i + 1}
		for j := range len(b) {
			least := min(row[j], row[j+1]+1, next[j]+1)
			if a[i] != b[j] {
				least = min(row[j], row[j+1], next[j]) + 1
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				least = min(least, before[j-1]+1)
			}
			next = append(next, least)
		}
		before, row = row, next
	}
	return row[len(b)]
}
