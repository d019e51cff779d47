package expr

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestIsJSON(t *testing.T) {
	t.Parallel()
	for _, text := range validatorSeeds() {
		if have, want := isJSON(text), json.Valid([]byte(text)); have != want {
			t.Errorf("isJSON(%q) = %v, want %v", text, have, want)
		}
	}
}

func TestScanJSONDepth(t *testing.T) {
	t.Parallel()
	nested := func(n int) string { return strings.Repeat(`{"a":[`, n/2) + strings.Repeat(`]}`, n/2) }
	if !isJSON(nested(maxDepth)) {
		t.Errorf("%d levels are refused", maxDepth)
	}
	if at, f := scanJSON(nested(maxDepth+2), 0); f != flawDeep {
		t.Errorf("%d levels: flaw %d at %d, want %d", maxDepth+2, f, at, flawDeep)
	}
	if _, f := scanJSON(strings.Repeat("[", 10<<20), 0); f != flawDeep {
		t.Errorf("10 MB of [: flaw %d, want %d", f, flawDeep)
	}
}

func TestScanJSONFlaw(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		at   int
		want flaw
	}{
		{``, 0, flawShort},
		{`<html>`, 0, flawSyntax},
		{`{"a":1`, 6, flawShort},
		{`{"a" 1}`, 5, flawSyntax},
		{`{"a":1,}`, 7, flawSyntax},
		{`[1 2]`, 3, flawSyntax},
		{`"abc`, 4, flawShort},
		{"\"a\nb\"", 2, flawSyntax},
		{`"\x"`, 2, flawSyntax},
		{`trap`, 2, flawSyntax},
		{`-`, 1, flawShort},
		{`1.x`, 2, flawSyntax},
	} {
		if at, have := scanJSON(test.text, 0); at != test.at || have != test.want {
			t.Errorf("scanJSON(%q) = %d, %d, want %d, %d", test.text, at, have, test.at, test.want)
		}
	}
}

func FuzzIsJSON(f *testing.F) {
	for _, text := range validatorSeeds() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end, have := scanJSON(text, 0)
		if end < 0 || end > len(text) {
			t.Fatalf("offset %d of %d", end, len(text))
		}
		if have == flawDeep {
			return
		}
		if have, want := isJSON(text), json.Valid([]byte(text)); have != want {
			t.Errorf("isJSON(%q) = %v, want %v", text, have, want)
		}
	})
}

func validatorSeeds() []string {
	return []string{
		``, ` `, `{}`, `[]`, ` { } `, `[[],{}]`, `{"a":{"b":[1,2,{"c":null}]}}`, `[1,]`, `{,}`, `{"a"}`, `{"a":}`, `{1:2}`,
		`true`, `tru`, `truee`, `false`, `null`, `nul`, `NaN`, `0`, `-0`, `01`, `1.5`, `1.`, `.5`, `1e9`, `1E+9`, `1e`, `-`, `+1`, `0x1`,
		`""`, `"a"`, `"\u00e9"`, `"\u00g0"`, `"\ud83d"`, `"\q"`, `"abcdefgh"`, `"abcdefg\"h"`, "\"tab\t\"", "\"\x7f\"", "\"\x80\xff\"", `"12345678\\"`,
		`{"a":1}{"a":2}`, "{\"a\":1}\n{\"a\":2}", `[1,2,3`, `]`, `}`, `[}`, `{]`, "\ufeff{}", "\x00", `{"a":1}x`, "\v1", "1\u00a0",
		`["` + strings.Repeat("x", 64) + `"]`, strings.Repeat("[", 100) + strings.Repeat("]", 100),
	}
}
