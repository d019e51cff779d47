package term

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestLineWriter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		writes []string
		want   string // before Flush
		flush  string // what Flush adds
	}{
		{"nothing", nil, "", ""},
		{"a line", []string{"a\n"}, "| a\n", ""},
		{"in pieces", []string{"a", "b\r", "\nc"}, "| ab\n", "| c\n"},
		{"many at once", []string{"a\nb\n\nc\n"}, "| a\n| b\n| \n| c\n", ""},
		{"a split rune", []string{"\xe6\x97", "\xa5\n"}, "| 日\n", ""},
		{"a split escape", []string{"\x1b", "[2J\n"}, `| \x1b[2J` + "\n", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			w := NewLineWriter(&b)
			for _, s := range test.writes {
				if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
					t.Fatalf("Write(%q) = %d, %v", s, n, err)
				}
			}
			if have := b.String(); have != test.want {
				t.Errorf("before Flush\nhave %q\nwant %q", have, test.want)
			}
			b.Reset()
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if have := b.String(); have != test.flush {
				t.Errorf("from Flush\nhave %q\nwant %q", have, test.flush)
			}
			b.Reset()
			if _ = w.Flush(); b.Len() > 0 {
				t.Errorf("a second Flush wrote %q", b.String())
			}
		})
	}
}

func TestLineWriter_longLine(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := NewLineWriter(&b)
	line := strings.Repeat("é", 3*maxLine/2)
	_, _ = w.Write([]byte(line + "\n"))
	var joined strings.Builder
	for row := range strings.Lines(b.String()) {
		if len(row) > maxLine+len(prefix)+1 {
			t.Errorf("a row of %d bytes", len(row))
		}
		joined.WriteString(strings.TrimSuffix(strings.TrimPrefix(row, prefix), "\n"))
	}
	if joined.String() != line {
		t.Errorf("the pieces do not make the line again")
	}
	if len(w.buf) != 0 {
		t.Errorf("%d bytes are left", len(w.buf))
	}
}

func TestLineWriter_error(t *testing.T) {
	t.Parallel()
	want := errors.New("gone")
	w := NewLineWriter(writerFunc(func([]byte) (int, error) { return 0, want }))
	if n, err := w.Write([]byte("a\n")); n != 2 || !errors.Is(err, want) {
		t.Errorf("Write = %d, %v; want 2, %v", n, err, want)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func FuzzLineWriter(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		var b bytes.Buffer
		w := NewLineWriter(&b)
		_, _ = w.Write([]byte(one))
		_, _ = w.Write([]byte(two))
		_ = w.Flush()
		wantHarmless(t, b.String())
		if len(one)+len(two) <= maxLine && b.String() != Block(one+two) {
			t.Errorf("in pieces %q, at once %q", b.String(), Block(one+two))
		}
	})
}
