package expr

// A Doc is an answer read as JSON. It is checked once, when it is first asked
// for, however many expressions share it. It is safe for concurrent use.
type Doc struct {
	body   []byte
	reason string
}

// NewDoc returns the document of an answer. The body must not be changed while
// the Doc is in use. A byte order mark at its start is skipped.
func NewDoc(body []byte) *Doc { return &Doc{body: body} }

// Unreadable returns the document of an answer that cannot be JSON for a reason
// outside of its text, such as "the body was cut at 64 MiB". Every path on it is
// unknown for that reason.
func Unreadable(reason string) *Doc { return &Doc{reason: reason} }
