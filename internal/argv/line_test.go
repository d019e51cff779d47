package argv

import (
	"math"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want time.Duration
		err  string
	}{
		{"0", 0, ""},
		{"0s", 0, ""},
		{"500ms", 500 * time.Millisecond, ""},
		{"1.5s", 1500 * time.Millisecond, ""},
		{"1h30m", 90 * time.Minute, ""},
		{"+5s", 5 * time.Second, ""},
		{"5", 0, "5 needs a unit, e.g. 5s"},
		{"0.5", 0, "0.5 needs a unit, e.g. 0.5s"},
		{"-5s", 0, "-5s is negative"},
		{"-5", 0, "-5 is negative"},
		{"1000000h", 1000000 * time.Hour, ""},
		{"9999999h", 0, "9999999h is more than 292 years"},
		{"99999999999999999999s", 0, "99999999999999999999s is more than 292 years"},
		{"", 0, `"" is not a time, e.g. 500ms, 30s, 5m, 1h30m`},
		{"5 s", 0, `"5 s" is not a time, e.g. 500ms, 30s, 5m, 1h30m`},
		{"5d", 0, `"5d" is not a time, e.g. 500ms, 30s, 5m, 1h30m`},
		{"soon", 0, `"soon" is not a time, e.g. 500ms, 30s, 5m, 1h30m`},
		{"5sec", 0, `"5sec" is not a time, e.g. 500ms, 30s, 5m, 1h30m`},
		{"NaN", 0, `"NaN" is not a time, e.g. 500ms, 30s, 5m, 1h30m`},
		{"inf", 0, `"inf" is not a time, e.g. 500ms, 30s, 5m, 1h30m`},
		{"1e3", 0, "1e3 needs a unit, e.g. 1e3s"},
	}
	for _, test := range tests {
		have, err := ParseDuration(test.in)
		switch {
		case err == nil && test.err != "", err != nil && err.Error() != test.err:
			t.Errorf("%q: have error %v, want %q", test.in, err, test.err)
		case have != test.want:
			t.Errorf("%q: have %v, want %v", test.in, have, test.want)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, seed := range []string{"5", "5s", "-1h", "1e99s", "9999999999h", "", ".", "1.s", "1h1", "µs", "5μs"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDuration(s)
		if d < 0 || (err != nil && d != 0) {
			t.Errorf("%q: have %v, %v", s, d, err)
		}
	})
}

// reading returns the error after reading a flag, in words.
func reading(f Flag, value string, read func(*Line)) string {
	l := &Line{
		reader: reader{program: &Program{}, command: &Command{Flags: Flags{f}}},
		Given:  []Given{{Flag: &f, Value: value, Origin: "--" + f.Name}},
	}
	read(l)
	if l.Err() == nil {
		return ""
	}
	return l.Err().Error()
}

func TestCount(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in   string
		want int
		err  string
	}{
		{"1", 1, ""},
		{"007", 7, ""},
		{"0", 0, "--n: 0 is less than 1"},
		{"-1", -1, "--n: -1 is less than 1"},
		{"1.5", 0, `--n: "1.5" is not a whole number`},
		{"", 0, `--n: "" is not a whole number`},
		{"99999999999999999999", math.MaxInt, "--n: 99999999999999999999 is too large"},
	} {
		var have int
		message := reading(Flag{Name: "n", Value: "N"}, test.in, func(l *Line) { have = l.Count("n", 1, 7) })
		if message != test.err || test.err == "" && have != test.want {
			t.Errorf("%q: have %d, %q, want %d, %q", test.in, have, message, test.want, test.err)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in   string
		want float64
		err  string
	}{
		{"1", 1, ""},
		{"1.5", 1.5, ""},
		{"0.99", 0, "--f: 0.99 is less than 1"},
		{"NaN", 0, `--f: "NaN" is not a number`},
		{"Inf", 0, `--f: "Inf" is not a number`},
		{"1e999", 0, `--f: "1e999" is not a number`},
		{"two", 0, `--f: "two" is not a number`},
	} {
		var have float64
		message := reading(Flag{Name: "f", Value: "F"}, test.in, func(l *Line) { have = l.Number("f", 1, 7) })
		if message != test.err || test.err == "" && have != test.want {
			t.Errorf("%q: have %v, %q, want %v, %q", test.in, have, message, test.want, test.err)
		}
	}
}

func TestPercent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in   string
		want float64
		err  string
	}{
		{"10%", 0.1, ""},
		{"0.5%", 0.005, ""},
		{"150%", 1.5, ""},
		{"10", 0, "--p: 10 needs a %, e.g. 10%"},
		{"0%", 0, "--p: 0% is not more than 0%"},
		{"-5%", 0, "--p: -5% is not more than 0%"},
		{"%", 0, `--p: "%" is not a percentage, e.g. 10%`},
		{"NaN%", 0, `--p: "NaN%" is not a percentage, e.g. 10%`},
	} {
		var have float64
		message := reading(Flag{Name: "p", Value: "PCT"}, test.in, func(l *Line) { have = l.Percent("p") })
		if message != test.err || test.err == "" && have != test.want {
			t.Errorf("%q: have %v, %q, want %v, %q", test.in, have, message, test.want, test.err)
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in   string
		want int64
		err  string
	}{
		{"0", 0, ""},
		{"1000", 1000, ""},
		{"1B", 1, ""},
		{"64MiB", 64 << 20, ""},
		{"64M", 64 << 20, ""},
		{"1k", 1 << 10, ""},
		{"1kB", 1000, ""},
		{"1KB", 1000, ""},
		{"1.5GiB", 3 << 29, ""},
		{"2 GB", 2e9, ""},
		{"-1", 0, "--s: -1 is negative"},
		{"9999999999GiB", 0, "--s: 9999999999GiB is too large"},
		{"much", 0, `--s: "much" is not a size, e.g. 64MiB`},
		{"MiB", 0, `--s: "MiB" is not a size, e.g. 64MiB`},
		{"NaN", 0, `--s: "NaN" is not a size, e.g. 64MiB`},
	} {
		var have int64
		message := reading(Flag{Name: "s", Value: "SIZE"}, test.in, func(l *Line) { have = l.Size("s", 7) })
		if message != test.err || test.err == "" && have != test.want {
			t.Errorf("%q: have %d, %q, want %d, %q", test.in, have, message, test.want, test.err)
		}
	}
}

func TestChoice(t *testing.T) {
	t.Parallel()
	words := []string{"exponential", "fixed", "linear"}
	for _, test := range []struct{ in, want, err string }{
		{"linear", "linear", ""},
		{"Linear", "fixed", `--w: "Linear" is not one of exponential, fixed, linear`},
		{"", "fixed", `--w: "" is not one of exponential, fixed, linear`},
	} {
		var have string
		message := reading(Flag{Name: "w", Value: "W", Words: words, Default: "fixed"}, test.in, func(l *Line) { have = l.Choice("w") })
		if message != test.err || have != test.want {
			t.Errorf("%q: have %q, %q, want %q, %q", test.in, have, message, test.want, test.err)
		}
	}
}

// Only the first mistake is told, under the name that the person used.
func TestLine_firstError(t *testing.T) {
	t.Parallel()
	message := reading(Flag{Name: "a", Value: "A"}, "x", func(l *Line) {
		l.Given[0].Variable, l.Given[0].Origin = true, "POLL_A"
		l.Count("a", 0, 0)
		l.Duration("a", 0)
	})
	if want := `POLL_A: "x" is not a whole number`; message != want {
		t.Errorf("have %q, want %q", message, want)
	}
}

// Both are on the command line, or both in the environment: nobody can know
// which is meant. testdata/usage.txt has what is said then.
func TestResolveConflicts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		args []string
		env  map[string]string
		want string
	}{
		{"the flag is meant", []string{"--factor", "3", "ls"}, map[string]string{"POLL_INTERVAL": "1s"}, `factor=3 cmd ["ls"]`},
		{"either way", []string{"--interval", "1s", "ls"}, map[string]string{"POLL_FACTOR": "3"}, `interval=1s cmd ["ls"]`},
		{"a value that fits", []string{"--overshoot", "10%", "--strategy", "exponential", "ls"}, nil, `overshoot=10% strategy=exponential cmd ["ls"]`},
		{"a switch that is off", []string{"-q", "--verbose=false", "ls"}, nil, `quiet=true verbose=false cmd ["ls"]`},
		{"the last one counts", []string{"-q", "--progress", "json", "--progress", "none", "ls"}, nil, `quiet=true progress=json progress=none cmd ["ls"]`},
		{"stderr beside a log", []string{"--show-stderr", "--progress", "lines", "ls"}, nil, `show-stderr=true progress=lines cmd ["ls"]`},
		{"quiet against the environment", []string{"-q", "ls"}, map[string]string{"POLL_PROGRESS": "json", "POLL_VERBOSE": "1"}, `quiet=true cmd ["ls"]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l, err := readLine(t, test.args, test.env)
			if err != nil {
				t.Fatal(err)
			}
			if have := l.show(); have != test.want {
				t.Errorf("have %s, want %s", have, test.want)
			}
		})
	}
}

// Nobody can know which of two is meant that are both on the command line, or both
// in the environment.
func TestResolve_refuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		env  map[string]string
		want string
	}{
		{[]string{"--factor", "3", "--interval", "1s", "ls"}, nil, "--interval and --factor contradict each other: give one of them"},
		{[]string{"--overshoot", "1%", "--strategy", "linear", "ls"}, nil, "--overshoot and --strategy linear contradict each other: give one of them"},
		{[]string{"--show-stderr", "--progress=json", "ls"}, nil, "--show-stderr and --progress json contradict each other: give one of them"},
		{[]string{"ls"}, map[string]string{"POLL_QUIET": "1", "POLL_VERBOSE": "on"}, "POLL_QUIET and POLL_VERBOSE contradict each other: give one of them"},
	} {
		if _, err := readLine(t, test.args, test.env); err == nil || err.Error() != test.want {
			t.Errorf("%q %v: have %v, want %s", test.args, test.env, err, test.want)
		}
	}
}

// A variable is for all waits, and a switch that is off is not meant.
func TestTyped(t *testing.T) {
	t.Parallel()
	l, err := readLine(t, []string{"--strict=false", "--insecure", "--timeout", "1s", "ls"}, map[string]string{"POLL_FACTOR": "3"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"strict": false, "insecure": true, "timeout": true, "factor": false, "until": false} {
		if have := l.Typed(name) != nil; have != want {
			t.Errorf("%s: have %t, want %t", name, have, want)
		}
	}
}

// A number may have lost its unit to the next word, which is then no operand.
func TestDuration_unitApart(t *testing.T) {
	t.Parallel()
	for unit, want := range map[string]string{
		"s":    "--d: 5 needs its unit in the same word: 5s",
		"ms":   "--d: 5 needs its unit in the same word: 5ms",
		"0.5s": "--d: 5 needs a unit, e.g. 5s",
		"ls":   "--d: 5 needs a unit, e.g. 5s",
	} {
		have := reading(Flag{Name: "d", Value: "D"}, "5", func(l *Line) {
			l.Operands = []string{unit}
			l.Duration("d", 0)
		})
		if have != want {
			t.Errorf("%s: have %q, want %q", unit, have, want)
		}
	}
}
