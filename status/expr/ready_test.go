package expr

import (
	"strconv"
	"strings"
	"testing"
)

// TestIndexed looks for many values in one, which is indexed then, and sees that
// the outcome is that for each of them alone.
func TestIndexed(t *testing.T) {
	t.Parallel()
	members := []string{
		`1`, `1.0`, `10e-1`, `-1`, `0`, `-0.0`, `2.50`, `1e400`, `10e399`, `"1"`, `"a"`, `"\u0061"`, `""`, `"ab"`, `"abc"`, `true`, `false`, `null`,
		`[]`, `{}`, `[[]]`, `[1,{"a":1}]`, `[1.0,{"a":1e0}]`, `[{"a":1},1]`, `{"a":1,"b":2}`, `{"b":2,"a":1.0}`, `{"a":1,"a":3,"b":2}`, `{"a":2,"b":1}`,
	}
	for _, source := range []string{`. in $json.b`, `$json.b contains .`, `($json.b[0] | tostring) contains (. | tostring)`} {
		x, err := CompileValue("count(.a[]; " + source + ")")
		if err != nil {
			t.Fatal(err)
		}
		for skip := range members {
			b := "[" + strings.Join(append([]string{`"abcab"`}, members[skip/2:skip]...), ",") + "]"
			alone := 0
			for _, a := range members {
				if x.Eval(answerEnv(`{"a":[`+a+`],"b":`+b+`}`)).Value().Raw == "1" {
					alone++
				}
			}
			have := x.Eval(answerEnv(`{"a":[` + strings.Join(members, ",") + `],"b":` + b + `}`)).Value().Raw
			if have != strconv.Itoa(alone) {
				t.Errorf("%s for members of %s: %s, each alone %d", source, b, have, alone)
			}
		}
	}
}
