package poll

import "github.com/pollcli/poll/status/expr"

// Elements says which elements of a probe's answers are waited for. The zero value of each
// field but Each has a meaning.
//
// The wait is over once all elements that are known have ended: at once if Known names them,
// or Expect of them are known, and otherwise when two answers in a row show no other. An
// element that an answer does not hold is NOT_READY.
type Elements struct {
	// Each is where the elements are in an answer.
	Each *expr.Each
	// Keys are the expressions whose values, joined by slashes, name an element. Nil means
	// the first of .id, .name and .metadata.name that all have; a member of an object has its
	// key.
	Keys []*expr.Expr
	// Known names the elements that are waited for. Others are ignored. Nil means all that
	// there are.
	Known []string
	// Expect is how many elements there are at least. 0 means that this is not known: at least
	// one, unless MayBeNone.
	Expect    int
	MayBeNone bool

	// Past holds, by key, the states of elements that this run goes on from; see
	// [Poller.Past]. They are known from the beginning.
	Past map[string]State

	// Narrow returns the probe that asks about these keys, some of Known, which have not
	// ended. It is called whenever that are fewer. Nil means that the Poller's Probe always
	// asks about all.
	Narrow func(keys []string) Probe
	// Alone looks at each element by itself, once an answer has listed them: the session has
	// to be a [Forker].
	Alone bool
}

// A Forker is a session whose answer lists operations that can be looked at one by one.
type Forker interface {
	Probe
	// Fork returns the session that looks at an element of the last answer from now on.
	Fork(element []byte) (Probe, error)
}
