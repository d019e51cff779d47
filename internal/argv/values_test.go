package argv

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// values checks the result of parse for each key of want: a value, or the message of an error.
func values[T any](t *testing.T, parse func(string) (T, error), want map[string]any) {
	t.Helper()
	for text, want := range want {
		value, err := parse(text)
		have := any(value)
		if err != nil {
			have = err.Error()
		}
		if have != want {
			t.Errorf("%q: have %v, want %v", text, have, want)
		}
	}
}

// like adds an error to want for each of texts, and returns want. The message is the quoted text, "is" and
// words.
func like(want map[string]any, words string, texts ...string) map[string]any {
	for _, text := range texts {
		want[text] = fmt.Sprintf("%q is %s", text, words)
	}
	return want
}

func TestParseDuration(t *testing.T) {
	values(t, ParseDuration, like(map[string]any{
		"0": time.Duration(0), "500ms": 500 * time.Millisecond, "1.5s": 1500 * time.Millisecond,
		"1h30m": 90 * time.Minute, "+5s": 5 * time.Second, "1000000h": 1000000 * time.Hour,
		"5": "5 needs a unit, e.g. 5s", "1e3": "1e3 needs a unit, e.g. 1e3s", "-5s": "-5s is negative",
	}, "not a time, e.g. 500ms, 30s, 5m, 1h30m", "9999999h", "", "soon", "NaN", ".", "µs", "1h1"))
}

func TestNumbers(t *testing.T) {
	values(t, ParseCount(1), like(map[string]any{"1": 1, "0": "0 is less than 1"}, "not a whole number", "", "99999999999999999999"))
	values(t, ParseNumber(1), like(map[string]any{"1": 1.0, "1.5": 1.5, "0.99": "0.99 is less than 1"}, "not a number", "NaN", "1e999"))
	values(t, ParsePercent, like(map[string]any{
		"10%": 0.1, "0.5%": 0.005, "10": "10 needs a %, e.g. 10%", "0%": "0% is not more than 0%",
	}, "not a percentage, e.g. 10%", "%"))
	values(t, ParseSize, like(map[string]any{
		"0": int64(0), "1B": int64(1), "64MiB": int64(64 << 20), "1k": int64(1 << 10), "1kB": int64(1000),
		"1.5GiB": int64(3 << 29), "2 GB": int64(2e9), "9999999999GiB": "9999999999GiB is too large",
	}, "not a size, e.g. 64MiB", "-1", "MiB", "0.5"))
	values(t, ParseRate, like(map[string]any{
		"50/s": 50.0, "90/m": 1.5, "1/h": 1.0 / 3600, "5/10s": 0.5, "0": 0.0, "1/1" + strings.Repeat("0", 308) + "d": math.SmallestNonzeroFloat64,
		"10": "10 needs a unit of time, e.g. 10/s, 10/m or 10/h",
	}, "not a rate in s, m, h or d, e.g. 50/s, 10/m or 5/10s", "10/", "10/min", "10/0s", "/s"))
}

func TestShare(t *testing.T) {
	of := func(total int) func(string) (int, error) {
		return func(text string) (n int, err error) {
			share, err := ParseShare(text)
			if err == nil {
				n, err = share.Of(total, "things")
			}
			return n, err
		}
	}
	values(t, of(5000), map[string]any{"95%": 4750})
	values(t, of(750), map[string]any{"4.4%": 33, "4.5%": 34})
	values(t, of(3), like(map[string]any{
		"1": 1, "33%": 1, "34%": 2, "4": "4 of 3 things is more than all",
	}, "neither a whole number nor a percentage, e.g. 3 or 95%", "0", "1.5"))
}

// Only the first error is reported.
func TestLine_firstError(t *testing.T) {
	l := NewLine(&Command{Flags: Flags{{Name: "a", Value: "A", Set: Parsed(ParseCount(0), func(*int, int) {})}}})
	for _, value := range []string{"x", "-1"} {
		l.Add(&l.Flags[0], value, "--a", Typed)
	}
	if have, want := l.Err.Error(), `--a: "x" is not a whole number`; have != want {
		t.Errorf("have %q, want %q", have, want)
	}
}

func TestHasScheme(t *testing.T) {
	for word, want := range map[string]bool{
		"http://h": true, "a1+b-c.d://h": true, "Z://": true,
		"http:/h": false, "://h": false, "1a://h": false, "a_b://h": false, "me:pw@h://x": false, ".state =~ \"^http://\"": false,
	} {
		if have := HasScheme(word); have != want {
			t.Errorf("%q: have %t, want %t", word, have, want)
		}
	}
}

func TestSettings(t *testing.T) {
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
