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
		{"5/10s", 0.5, ""},
		{"0", 0, ""},
		{"10", 0, "--r: 10 needs a unit of time, e.g. 10/s, 10/m or 10/h"},
		{"10/", 0, `--r: "10/" is not a rate in s, m, h or d, e.g. 50/s, 10/m or 5/10s`},
		{"10/min", 0, `--r: "10/min" is not a rate in s, m, h or d, e.g. 50/s, 10/m or 5/10s`},
		{"10/0s", 0, `--r: "10/0s" is not a rate in s, m, h or d, e.g. 50/s, 10/m or 5/10s`},
		{"/s", 0, `--r: "/s" is not a rate in s, m, h or d, e.g. 50/s, 10/m or 5/10s`},
	} {
		have, err := ParseRate(test.in)
		message := inWords("--r", err)
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
		{"95%", 5000, 4750, ""},
		{"33%", 3, 1, ""},
		{"34%", 3, 2, ""},
		{"4", 3, 0, "--s: 4 of 3 things is more than all"},
		{"0", 3, 0, `--s: "0" is neither a whole number nor a percentage, e.g. 3 or 95%`},
		{"1.5", 3, 0, `--s: "1.5" is neither a whole number nor a percentage, e.g. 3 or 95%`},
	} {
		have, err := ParseShare(test.in, test.total, "things")
		message := ""
		if err != nil {
			message = "--s: " + err.Error()
		}
		if message != test.err || have != test.want {
			t.Errorf("%q of %d: have %d, %q, want %d, %q", test.in, test.total, have, message, test.want, test.err)
		}
	}
}
