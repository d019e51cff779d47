package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pollcli/poll/words"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	var flags []string
	for _, f := range waitFlags() {
		if !f.Hidden {
			flags = append(flags, f.Name)
		}
	}
	subcommands := []string{"eval", "schedule", "tune", "simulate", "presets", "demo", "completion", "man", "help"}
	for _, test := range []struct {
		word       string
		candidates []string
		want       string
	}{
		{"tiemout", flags, "timeout"},
		{"timout", flags, "timeout"},
		{"unitl", flags, "until"},
		{"max-attempt", flags, "max-attempts"},
		{"jittre", flags, "jitter"},
		{"color", flags, "color"},
		{"filter", flags, ""},
		{"intreval", flags, "interval"},
		{"itnreval", flags, "interval"},
		{"colour", flags, "color"},
		{"time", flags, "timeout"},
		{"success", flags, "success-threshold"},
		{"max-", flags, ""}, // of several
		{"st", flags, ""},
		{"x", flags, ""},
		{"banana", flags, ""},
		{"shedule", subcommands, "schedule"},
		{"preset", subcommands, "presets"},
		{"sched", subcommands, "schedule"},
		{"evla", subcommands, "eval"},
		{"dmeo", subcommands, "demo"},
		{"ls", subcommands, ""},
		{"kubectl", subcommands, ""},
		{"", subcommands, ""},
		{"anything", nil, ""},
	} {
		if have := words.Nearest(test.word, test.candidates); have != test.want {
			t.Errorf("%q: have %q, want %q", test.word, have, test.want)
		}
	}
}

// What other tools call a flag leads to flags that exist.
func TestFlagSynonyms(t *testing.T) {
	t.Parallel()
	for word, meant := range flagSynonyms() {
		if waitFlags().Lookup(meant) == nil {
			t.Errorf("%s leads to %s, which does not exist", word, meant)
		}
		if f := waitFlags().Lookup(word); f != nil {
			t.Errorf("%s is a flag", word)
		}
	}
}

// A conflict whose flags do not exist would never be found out.
func TestConflicts_exist(t *testing.T) {
	t.Parallel()
	p := testProgram()
	for _, command := range append(p.Commands(), p.Main) {
		for _, c := range command.Conflicts {
			for _, name := range []string{c.Flag, c.Other} {
				if f := command.Flags.Lookup(name); f != nil && f.Name != name || f == nil && command.Name != "simulate" {
					t.Errorf("poll %s has no flag %s", command.Name, name)
				}
			}
		}
	}
}

// Every pair that contradicts itself is refused, in both orders.
func TestConflicts_refused(t *testing.T) {
	t.Parallel()
	table := waitFlags()
	values := map[string]string{"strategy": "linear", "progress": "json"}
	spell := func(name string) string {
		if table.Lookup(name).IsSwitch() {
			return "--" + name
		}
		value := values[name]
		if value == "" {
			value = "1"
		}
		return fmt.Sprintf("--%s=%s", name, value)
	}
	for _, c := range waitConflicts() {
		for _, args := range [][]string{{spell(c.Flag), spell(c.Other), "ls"}, {spell(c.Other), spell(c.Flag), "ls"}} {
			if _, err := testProgram().Run(t.Context(), args); err == nil || !strings.Contains(err.Error(), "contradict") {
				t.Errorf("%q is accepted", args)
			}
		}
	}
}
