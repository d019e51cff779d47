package expr

// A Kind is the type of a value.
type Kind uint8

// The kinds of value.
const (
	KindUnknown Kind = iota // could not be read, see [Value.Reason]
	KindMissing             // not there
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// A Value is what an expression yields.
type Value struct {
	Kind   Kind
	Raw    string // JSON text; "" where there is no value
	Reason string // why the value is unknown or missing; otherwise ""

	text string
}

// Exists reports whether there is a value: it is neither missing nor unknown.
func (v Value) Exists() bool { return v.Kind > KindMissing }

// Text returns a string's characters as they are, and any other value as JSON.
func (v Value) Text() string {
	if v.Kind == KindString {
		return v.text
	}
	return v.Raw
}
