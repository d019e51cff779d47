package expr

import "fmt"

// A Tri is the outcome of a condition: true, false or unknown.
type Tri int8

// The three outcomes. Unknown stands for what jq answers with a runtime error:
// text where a number is needed, a body that is not JSON. It never matches, and
// neither does its negation.
const (
	False Tri = iota
	True
	Unknown
)

// String returns "true", "false" or "unknown".
func (t Tri) String() string {
	switch t {
	case False:
		return "false"
	case True:
		return "true"
	case Unknown:
		return "unknown"
	}
	return fmt.Sprintf("Tri(%d)", int8(t))
}

// triOf is the Tri of a Go bool.
func triOf(b bool) Tri {
	if b {
		return True
	}
	return False
}

// not is Kleene's negation: unknown stays unknown.
func (t Tri) not() Tri {
	switch t {
	case True:
		return False
	case False:
		return True
	}
	return Unknown
}
