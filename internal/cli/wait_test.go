package cli

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
)

// The hints for flags of other tools name flags that exist. No flag of poll has such a hint.
func TestHints(t *testing.T) {
	t.Parallel()
	table := read.WaitFlags()
	for row := range strings.Lines(page(t, "internal/argv/hints.txt")) {
		columns := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		switch _, err := regexp.Compile(columns[0]); {
		case row[0] == '#':
		case err != nil:
			t.Error(err)
		case len(columns) != 3 || columns[1]+columns[2] == "":
			t.Errorf("no row of three columns: %s", row)
		case strings.HasPrefix(row, "flag ") && columns[1] != "" && table.Lookup(columns[1]) == nil:
			t.Errorf("%s leads to --%s, which does not exist", columns[0], columns[1])
		}
	}
	for _, f := range table {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if meaning, hint := argv.Advice("flag " + name); meaning+hint != "" {
				t.Errorf("--%s exists, and is said not to: %s%s", name, meaning, hint)
			}
		}
	}
}

// Every pair of contradicting flags is rejected, in both orders.
func TestConflicts_refused(t *testing.T) {
	t.Parallel()
	table := read.WaitFlags()
	values := map[string]string{"strategy": "linear", "user": "a:b", "jitter": "decorrelated", "progress": "json", "D": "1s", "PCT": "10%"}
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
