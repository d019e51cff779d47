package argv

import (
	"strings"
	"testing"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	const url, command Kinds = 1, 2
	flags := Flags{
		{Name: "interval", Value: "D"}, {Name: "factor", Value: "F", Not: "interval"}, {Name: "until", Value: "EXPR", Many: true},
		{Name: "strategy", Value: "S"}, {Name: "overshoot", Value: "P", Not: "strategy!=exponential"}, {Name: "jitter", Value: "J", Not: "strategy=fixed"},
		{Name: "header", Value: "LINE", For: url}, {Name: "stdin", For: command}, {Name: "joblog", Value: "FILE", WholeRun: true},
		{Name: "resume", Needs: "joblog"}, {Name: "cert", Value: "FILE"}, {Name: "key", Value: "FILE", Needs: "cert"},
	}
	ranks := map[string]Rank{"preset": Preset, "variable": Variable, "typed": Typed, "entry": Entry}
	inEntries := Check{Entries: flags}
	for _, test := range []struct {
		settings string // RANK:NAME=VALUE
		check    Check
		want     string // NAME=VALUE, or the error
	}{
		{"typed:interval=1s typed:interval=2s", Check{}, "interval=2s"},
		{"typed:until=a typed:until=b", Check{}, "until=a until=b"},
		{"variable:until=a typed:until=b", Check{}, "until=b"},

		{"typed:interval=1s typed:factor=2", Check{}, "--factor and --interval contradict each other: give one of them"},
		{"variable:interval=1s typed:factor=2", Check{}, "factor=2"},
		{"entry:interval=1s typed:factor=2", Check{}, "interval=1s"},
		{"preset:interval=1s variable:factor=2", Check{}, "factor=2"},
		{"typed:strategy=fixed typed:overshoot=1%", Check{}, "--overshoot and --strategy contradict each other: give one of them"},
		{"typed:strategy=exponential typed:overshoot=1%", Check{}, "overshoot=1% strategy=exponential"},
		{"typed:strategy=fixed typed:jitter=full", Check{}, "--jitter and --strategy contradict each other: give one of them"},
		{"typed:strategy=linear typed:jitter=full", Check{}, "jitter=full strategy=linear"},

		{"typed:header=a", Check{Kinds: url, Least: Typed}, "header=a"},
		{"typed:header=a", Check{Kinds: command, Least: Typed, Word: "a command"}, "--header is for a URL, but the target is a command"},
		{"variable:header=a", Check{Kinds: command, Least: Typed}, "header=a"},
		{"typed:stdin=false", Check{Kinds: url, Least: Typed}, "stdin=false"},

		{"typed:key=f", Check{}, "--key needs --cert"},
		{"typed:key=f variable:cert=g", Check{}, "cert=g key=f"},
		{"variable:key=f", Check{}, ""},
		{"typed:key=f", inEntries, "key=f"},
		{"typed:resume=1", inEntries, "--resume needs --joblog"},

		{"typed:resume=maybe", Check{}, `--resume is a switch: "maybe" is neither true nor false`},
		{"typed:interval=", Check{}, "--interval is given an empty value"},
		{"variable:until=a variable:until=", Check{}, "--until has an empty line"},
	} {
		var l Settings
		var err error
		for setting := range strings.FieldsSeq(test.settings) {
			rank, rest, _ := strings.Cut(setting, ":")
			name, text, _ := strings.Cut(rest, "=")
			if err == nil {
				l, err = l.With(flags.Named(name), text, "--"+name, ranks[rank])
			}
		}
		if err == nil {
			l, err = l.Resolved(test.check)
		}
		if have := shown(l, err); have != test.want {
			t.Errorf("%s: have %s, want %s", test.settings, have, test.want)
		}
	}
}

// shown returns the settings ordered by name, or the message of err.
func shown(l Settings, err error) string {
	if err != nil {
		return err.Error()
	}
	var list []string
	for _, name := range []string{"cert", "factor", "header", "interval", "jitter", "key", "overshoot", "stdin", "strategy", "until"} {
		for _, text := range l.Texts(name) {
			list = append(list, name+"="+text)
		}
	}
	return strings.Join(list, " ")
}
