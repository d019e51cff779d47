package argv

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

// hints has what to say of words that are often mistyped: a pattern of the word and what it
// stands for, a tab, and the words, in which {1} is the pattern's first group.
//
//go:embed hints.txt
var hints string

// Advice returns the words of the first pattern that matches all of a text, "" for none.
func Advice(about string) string {
	subject, _, _ := strings.Cut(about, " ")
	for row := range strings.Lines(hints) {
		pattern, words, isRow := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		if !isRow || !strings.HasPrefix(pattern, subject+" ") {
			continue
		}
		if m := regexp.MustCompile("^(?s:" + pattern + ")$").FindStringSubmatch(about); m != nil {
			for i, group := range m {
				words = strings.ReplaceAll(words, fmt.Sprintf("{%d}", i), group)
			}
			return words
		}
	}
	return ""
}
