package words

import (
	"slices"
	"strings"

	"github.com/xrash/smetrics"
)

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

// distance counts the letters that differ between two words (Levenshtein). A swap of two letters
// is one change.
func distance(a, b string) int {
	changes := smetrics.WagnerFischer(a, b, 1, 1, 1)
	if changes == 2 && letters(a) == letters(b) {
		return 1
	}
	return changes
}

// letters returns the letters of a word in the order of the alphabet.
func letters(word string) string { return string(slices.Sorted(slices.Values([]byte(word)))) }
