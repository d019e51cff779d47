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
	const leastBeginning = 3 // letters suffice to tell which word is meant
	var longer []string
	best, least := "", max(1, len(word)/3)+1
	for _, c := range candidates {
		if strings.HasPrefix(c, word) {
			longer = append(longer, c)
		}
		if len(word)-len(c) >= least || len(c)-len(word) >= least {
			continue // which saves the time for a word without an end
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
