package argv

import "testing"

func TestRate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in   string
		want float64
		err  string
	}{
		{"50/s", 50, ""},
		{"90/m", 1.5, ""},
		{"1/h", 1.0 / 3600, ""},
		{"1/d", 1.0 / 86400, ""},
		{"5/10s", 0.5, ""},
		{"0.5/s", 0.5, ""},
		{"0", 0, ""},
		{"0/s", 0, ""},
		{"10", 0, "--r: 10 needs a unit of time, e.g. 10/s, 10/m or 10/h"},
		{"10/", 0, `--r: "10/" is not a rate: its unit is s, m, h or d, e.g. 10/m or 5/10s`},
		{"10/min", 0, `--r: "10/min" is not a rate: its unit is s, m, h or d, e.g. 10/m or 5/10s`},
		{"10/sm", 0, `--r: "10/sm" is not a rate: its unit is s, m, h or d, e.g. 10/m or 5/10s`},
		{"10/0s", 0, "--r: 10/0s is in no time"},
		{"-1/s", 0, "--r: -1/s is negative"},
		{"/s", 0, `--r: "/s" is not a rate, e.g. 50/s, 10/m or 5/10s`},
		{"fast", 0, `--r: "fast" is not a rate, e.g. 50/s, 10/m or 5/10s`},
		{"Inf/s", 0, `--r: "Inf/s" is not a rate, e.g. 50/s, 10/m or 5/10s`},
	} {
		var have float64
		message := reading(Flag{Name: "r", Value: "N/U"}, test.in, func(l *Line) { have = l.Rate("r", 7) })
		if message != test.err || have != test.want {
			t.Errorf("%q: have %v, %q, want %v, %q", test.in, have, message, test.want, test.err)
		}
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in    string
		total int
		want  int
		err   string
	}{
		{"1", 3, 1, ""},
		{"3", 3, 3, ""},
		{"95%", 5000, 4750, ""},
		{"33%", 3, 1, ""},
		{"34%", 3, 2, ""},
		{"100%", 7, 7, ""},
		{"0.1%", 10, 1, ""},
		{"4", 3, 0, "--s: 4 of 3 things is more than all"},
		{"101%", 3, 0, "--s: 101% is more than all things"},
		{"0", 3, 0, "--s: 0 is not more than 0"},
		{"0%", 3, 0, "--s: 0% is not more than 0"},
		{"1.5", 3, 0, `--s: "1.5" is neither a whole number nor a percentage, e.g. 3 or 95%`},
		{"half", 3, 0, `--s: "half" is neither a whole number nor a percentage, e.g. 3 or 95%`},
	} {
		var have int
		message := reading(Flag{Name: "s", Value: "N|P%"}, test.in, func(l *Line) { have = l.Share("s", test.total, "things") })
		if message != test.err || have != test.want {
			t.Errorf("%q of %d: have %d, %q, want %d, %q", test.in, test.total, have, message, test.want, test.err)
		}
	}
}

// Settings replace those of the same flags, win over what contradicts them, and alone
// count as typed. The line itself stays what it was.
func TestWith(t *testing.T) {
	t.Parallel()
	l, err := readLine(t, []string{"--factor", "3", "--insecure", "ls"}, map[string]string{"POLL_TIMEOUT": "1s"})
	if err != nil {
		t.Fatal(err)
	}
	set := func(name, value string) Given {
		return Given{Flag: l.Flag(name), Value: value, Origin: "line 1: " + name}
	}
	with, err := l.With([]Given{set("interval", "2s"), set("timeout", "5"), set("strict", "yes")})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"interval": "2s", "timeout": "5", "strict": "true", "insecure": "true", "factor": ""} {
		if have := with.String(name); have != want {
			t.Errorf("%s: have %q, want %q", name, have, want)
		}
		if isNew, have := want != "" && name != "insecure", with.Typed(name) != nil; have != isNew {
			t.Errorf("%s: typed is %t, want %t", name, have, isNew)
		}
	}
	if with.Duration("timeout", 0); with.Err() == nil || with.Err().Error() != "line 1: timeout: 5 needs a unit, e.g. 5s" {
		t.Errorf("have %v", with.Err())
	}
	if l.String("factor") != "3" || l.Has("interval") || l.Typed("insecure") == nil || l.Err() != nil {
		t.Errorf("the line was changed: %s, %v", l.show(), l.Err())
	}
	for want, settings := range map[string][]Given{
		"line 1: interval and line 1: factor contradict each other: give one of them": {set("factor", "2"), set("interval", "2s")},
		`line 1: strict: "maybe" is neither true nor false`:                           {set("strict", "maybe")},
		"line 1: timeout is given an empty value":                                     {set("timeout", "")},
	} {
		if _, err := l.With(settings); err == nil || err.Error() != want {
			t.Errorf("have %v, want %s", err, want)
		}
	}
}
