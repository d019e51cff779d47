package rawjson

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestValid(t *testing.T) {
	t.Parallel()
	for _, text := range validatorSeeds() {
		if have, want := Valid(text), json.Valid([]byte(text)); have != want {
			t.Errorf("Valid(%q) = %v, want %v", text, have, want)
		}
	}
}

func TestScanJSONDepth(t *testing.T) {
	t.Parallel()
	nested := func(n int) string { return strings.Repeat(`{"a":[`, n/2) + strings.Repeat(`]}`, n/2) }
	if !Valid(nested(MaxDepth)) {
		t.Errorf("%d levels are refused", MaxDepth)
	}
	if at, f := Scan(nested(MaxDepth+2), 0, MaxDepth); f != TooDeep {
		t.Errorf("%d levels: flaw %d at %d, want %d", MaxDepth+2, f, at, TooDeep)
	}
	if _, f := Scan(strings.Repeat("[", 10<<20), 0, MaxDepth); f != TooDeep {
		t.Errorf("10 MB of [: flaw %d, want %d", f, TooDeep)
	}
}

func TestScanJSONFlaw(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		at   int
		want Flaw
	}{
		{``, 0, TooShort},
		{`<html>`, 0, BadSyntax},
		{`{"a":1`, 6, TooShort},
		{`{"a" 1}`, 5, BadSyntax},
		{`{"a":1,}`, 7, BadSyntax},
		{`[1 2]`, 3, BadSyntax},
		{`"abc`, 4, TooShort},
		{"\"a\nb\"", 2, BadSyntax},
		{`"\x"`, 2, BadSyntax},
		{`trap`, 2, BadSyntax},
		{`-`, 1, TooShort},
		{`1.x`, 2, BadSyntax},
	} {
		if at, have := Scan(test.text, 0, MaxDepth); at != test.at || have != test.want {
			t.Errorf("Scan(%q) = %d, %d, want %d, %d", test.text, at, have, test.at, test.want)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range validatorSeeds() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end, have := Scan(text, 0, MaxDepth)
		if end < 0 || end > len(text) {
			t.Fatalf("offset %d of %d", end, len(text))
		}
		if have == TooDeep {
			return
		}
		if have, want := Valid(text), json.Valid([]byte(text)); have != want {
			t.Errorf("Valid(%q) = %v, want %v", text, have, want)
		}
	})
}

func validatorSeeds() []string {
	return []string{
		``, ` `, `{}`, `[]`, `{`, `{"a":1,`, ` { } `, `[[],{}]`, `{"a":{"b":[1,2,{"c":null}]}}`, `[1,]`, `{,}`, `{"a"}`, `{"a":}`, `{1:2}`,
		`true`, `tru`, `truee`, `false`, `null`, `nul`, `NaN`, `0`, `-0`, `01`, `1.5`, `1.`, `.5`, `1e9`, `1E+9`, `1e`, `-`, `+1`, `0x1`,
		`""`, `"a"`, `"\u00e9"`, `"\u00g0"`, `"\ud83d"`, `"\q"`, `"abcdefgh"`, `"abcdefg\"h"`, "\"tab\t\"", "\"\x7f\"", "\"\x80\xff\"", `"12345678\\"`,
		`{"a":1}{"a":2}`, "{\"a\":1}\n{\"a\":2}", `[1,2,3`, `]`, `}`, `[}`, `{]`, "\ufeff{}", "\x00", `{"a":1}x`, "\v1", "1\u00a0",
		`["` + strings.Repeat("x", 64) + `"]`, strings.Repeat("[", 100) + strings.Repeat("]", 100),
	}
}
