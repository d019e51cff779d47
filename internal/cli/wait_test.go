package cli

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// What other tools call a flag leads to flags that exist, and every hint can be found.
func TestHints(t *testing.T) {
	t.Parallel()
	table := waitFlags()
	for row := range strings.Lines(page(t, "internal/argv/hints.txt")) {
		pattern, hint, isRow := strings.Cut(strings.TrimSpace(row), "\t")
		if !isRow {
			continue
		}
		if _, err := regexp.Compile(pattern); err != nil {
			t.Error(err)
		}
		for _, m := range regexp.MustCompile(`poll calls it --([a-z0-9-]+)`).FindAllStringSubmatch(hint, -1) {
			if table.Lookup(m[1]) == nil {
				t.Errorf("%s leads to --%s, which does not exist", pattern, m[1])
			}
		}
		kind, words, _ := strings.Cut(pattern, " ")
		for word := range strings.SplitSeq(strings.Trim(words, "(?:)"), "|") {
			if f := table.Lookup(word); kind == "flag" && f != nil {
				t.Errorf("%s is a flag", word)
			}
		}
	}
}

// Every pair that contradicts itself is refused, in both orders.
func TestConflicts_refused(t *testing.T) {
	t.Parallel()
	table := waitFlags()
	values := map[string]string{"strategy": "linear", "jitter": "decorrelated", "progress": "json", "D": "1s", "PCT": "10%"}
	spell := func(name string) string {
		if table.Lookup(name).IsSwitch() {
			return "--" + name
		}
		value := cmp.Or(values[name], values[table.Lookup(name).Value], "1")
		return fmt.Sprintf("--%s=%s", name, value)
	}
	for _, f := range table {
		for other := range strings.FieldsSeq(f.Not) {
			other = strings.FieldsFunc(other, func(r rune) bool { return r == '=' || r == '!' })[0]
			for _, args := range [][]string{{spell(f.Name), spell(other), "http://h"}, {spell(other), spell(f.Name), "http://h"}} {
				if _, err := lineOf(t, args, nil); err == nil || !strings.Contains(err.Error(), "contradict") {
					t.Errorf("%q is accepted: %v", args, err)
				}
			}
		}
	}
}
