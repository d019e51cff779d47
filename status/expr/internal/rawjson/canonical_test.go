package rawjson

import (
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	// The texts on one line are equal, and no others.
	lines := []string{
		"null\t null ", "true", "false", `"true"`, "0\t-0\t0e9", `"0"`, "[]\t[ ]", "{}\t{\n}", "[[]]", "[{}]", "[null]", "[0,0]",
		`""`, `"a"` + "\t" + `"\u0061"`, `"\ud83d\ude00"` + "\t\"\U0001f600\"", `"\\u0061"`, `["a","b"]`, `["a,b"]`, `["a\",\"b"]`,
		`[1,[2,{"x":1.50}]]` + "\t" + `[ 1.0 , [ 20e-1 , { "x" : 15e-1 } ] ]`, `[1,[2],{"x":1.5}]`, `[12]`, `[1,2]`,
		`{"a":1,"b":2}` + "\t" + `{"b":2,"a":1}` + "\t" + `{"a":1,"a":3,"b":2,"b":[]}`, `{"a":2,"b":1}`, `{"a":{"b":1},"c":2}`, `{"a":{"b":1,"c":2}}`,
	}
	seen := map[string]int{}
	for i, line := range lines {
		for text := range strings.SplitSeq(line, "\t") {
			c := Canonical(text)
			if j, ok := seen[c]; ok && j != i {
				t.Errorf("%s is equal to one of %s", text, lines[j])
			}
			if seen[c] = i; c != Canonical(strings.Split(line, "\t")[0]) {
				t.Errorf("%s is not equal to the others of %s", text, line)
			}
		}
	}
	if have := Canonical(`"\u0061b"`); have != CanonicalText("ab") {
		t.Errorf("%s, want %s", have, CanonicalText("ab"))
	}
}
