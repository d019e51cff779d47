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
		{"500ms", 500 * time.Millisecond, ""},
		{"1.5s", 1500 * time.Millisecond, ""},
		{"1h30m", 90 * time.Minute, ""},
		{"+5s", 5 * time.Second, ""},
		{"5", 0, "5 needs a unit, e.g. 5s"},
		{"-5s", 0, "-5s is negative"},
		{"1000000h", 1000000 * time.Hour, ""},
		{"9999999h", 0, `"9999999h" is not a time, e.g. 500ms, 30s, 5m, 1h30m`},
		{"", 0, `"" is not a time, e.g. 500ms, 30s, 5m, 1h30m`},
		{"soon", 0, `"soon" is not a time, e.g. 500ms, 30s, 5m, 1h30m`},
		{"NaN", 0, `"NaN" is not a time, e.g. 500ms, 30s, 5m, 1h30m`},
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

// inWords returns an error about a flag in words.
func inWords(flag string, err error) string {
	if err == nil {
		return ""
	}
	return flag + ": " + err.Error()
}

func TestCount(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in   string
		want int
		err  string
	}{
		{"1", 1, ""},
		{"0", 0, "--n: 0 is less than 1"},
		{"", 0, `--n: "" is not a whole number`},
		{"99999999999999999999", math.MaxInt, `--n: "99999999999999999999" is not a whole number`},
	} {
		have, err := ParseCount(1)(test.in)
		message := inWords("--n", err)
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
		{"1e999", 0, `--f: "1e999" is not a number`},
	} {
		have, err := ParseNumber(1)(test.in)
		message := inWords("--f", err)
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
		{"10", 0, "--p: 10 needs a %, e.g. 10%"},
		{"0%", 0, "--p: 0% is not more than 0%"},
		{"%", 0, `--p: "%" is not a percentage, e.g. 10%`},
	} {
		have, err := ParsePercent(test.in)
		message := inWords("--p", err)
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
		{"1B", 1, ""},
		{"64MiB", 64 << 20, ""},
		{"1k", 1 << 10, ""},
		{"1kB", 1000, ""},
		{"1.5GiB", 3 << 29, ""},
		{"2 GB", 2e9, ""},
		{"-1", 0, `--s: "-1" is not a size, e.g. 64MiB`},
		{"9999999999GiB", 0, "--s: 9999999999GiB is too large"},
		{"MiB", 0, `--s: "MiB" is not a size, e.g. 64MiB`},
	} {
		have, err := ParseSize(test.in)
		message := inWords("--s", err)
		if message != test.err || test.err == "" && have != test.want {
			t.Errorf("%q: have %d, %q, want %d, %q", test.in, have, message, test.want, test.err)
		}
	}
}

// Only the first mistake is told.
func TestLine_firstError(t *testing.T) {
	t.Parallel()
	var n int
	l := &Line{Command: &Command{Flags: Flags{{Name: "a", Value: "A", To: To(&n, ParseCount(0))}}}}
	for _, value := range []string{"x", "-1"} {
		l.Assign(&l.Command.Flags[0], value, "--a", Typed)
	}
	if have, want := l.Err().Error(), `--a: "x" is not a whole number`; have != want {
		t.Errorf("have %q, want %q", have, want)
	}
}
