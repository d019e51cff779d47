package term

import "testing"

func TestPalette(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		streams Streams
		mode    ColorMode
		want    bool
	}{
		{"terminal", Streams{ErrIsTerminal: true}, ColorAuto, true},
		{"pipe", Streams{}, ColorAuto, false},
		{"stdout does not count", Streams{OutIsTerminal: true}, ColorAuto, false},
		{"NO_COLOR", Streams{ErrIsTerminal: true, NoColor: true}, ColorAuto, false},
		{"dumb", Streams{ErrIsTerminal: true, Dumb: true}, ColorAuto, false},
		{"always in a pipe", Streams{}, ColorAlways, true},
		{"always beats NO_COLOR", Streams{NoColor: true}, ColorAlways, true},
		{"never on a terminal", Streams{ErrIsTerminal: true}, ColorNever, false},
	}
	for _, test := range tests {
		want := "x"
		if test.want {
			want = "\x1b[32mx\x1b[0m"
		}
		if have := test.streams.Palette(test.mode).Paint(Good, "x"); have != want {
			t.Errorf("%s: have %q, want %q", test.name, have, want)
		}
	}
}

func TestPalette_environment(t *testing.T) {
	// The color package reads NO_COLOR for every colour.
	t.Setenv("NO_COLOR", "1")
	s := Streams{}
	if have, want := s.Palette(ColorAlways).Paint(Good, "x"), "\x1b[32mx\x1b[0m"; have != want {
		t.Errorf("have %q, want %q", have, want)
	}
}
