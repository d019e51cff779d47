package cli

import "testing"

func TestNearest(t *testing.T) {
	t.Parallel()
	flags, subcommands := mainFlags().names(), []string{"eval", "schedule", "tune", "simulate", "presets", "demo", "completion", "man", "help"}
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
		if have := nearest(test.word, test.candidates); have != test.want {
			t.Errorf("%q: have %q, want %q", test.word, have, test.want)
		}
	}
}

// What other tools call a flag leads to flags that exist.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	for word, meant := range elsewhere {
		if mainFlags().lookup(meant[2:]) == nil {
			t.Errorf("%s leads to %s, which does not exist", word, meant)
		}
		if f := mainFlags().lookup(word); f != nil {
			t.Errorf("%s is a flag", word)
		}
	}
}
