package request

import (
	"encoding/json"

	"testing"
)

// Who follows an operation reads an answer in another way than who only asks for its URL, and
// goes on to a result of its own.
func TestIdentityOfWhoFollows(t *testing.T) {
	t.Parallel()
	const op = "https://api.example.com/ops/1"
	known := map[string]string{}
	for _, kept := range []string{
		``,
		`{"at":"` + op + `"}`,
		`{"at":"` + op + `","monitor":1}`,
		`{"at":"` + op + `","monitor":2}`,
		`{"at":"` + op + `","monitor":2,"result":"https://api.example.com/a"}`,
		`{"at":"` + op + `","monitor":2,"result":"https://api.example.com/b"}`,
		`{"at":"` + op + `","monitor":2,"result":"https://api.example.com/b","result_trusted":true}`,
	} {
		s, err := NewSession(Request{URL: op})
		if err != nil {
			t.Fatal(err)
		}
		if kept != "" {
			if err := s.Resume(json.RawMessage(kept)); err != nil {
				t.Fatal(err)
			}
		}
		identity := string(s.Identity(""))
		if other, again := known[identity]; again || identity == "" {
			t.Errorf("%q is as %q: %q", kept, other, identity)
		}
		known[identity] = kept
	}
}
