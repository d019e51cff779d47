package words

import "strings"

// Nearest returns the candidate that word is the beginning of or, unless there is
// exactly one, the one that differs least; "" if none is close. If more than one
// letter differs, the first must match: it is seldom wrong.
func Nearest(word string, candidates []string) string {
	if whole := beginningWith(word, candidates); len(whole) == 1 && len(word) >= leastBeginning {
		return whole[0]
	}
	best, least := "", max(1, len(word)/3)+1
	for _, c := range candidates {
		if len(word)-len(c) >= least || len(c)-len(word) >= least {
			continue // which saves the time for a word without an end
		}
		if d := distance(word, c); d < least && (d < 2 || word[0] == c[0]) {
			best, least = c, d
		}
	}
	return best
}

// leastBeginning is how many letters suffice to tell which word is meant.
const leastBeginning = 3

func beginningWith(start string, words []string) []string {
	var found []string
	for _, word := range words {
		if strings.HasPrefix(word, start) {
			found = append(found, word)
		}
	}
	return found
}

// distance counts the single-letter changes between two words (Levenshtein, with a
// swap of two neighbours as one change).
func distance(a, b string) int {
	before, row := []int(nil), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			next[j+1] = min(row[j]+change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
