package connect

import (
	"strings"
	"testing"
)

func TestNetrc(t *testing.T) {
	t.Parallel()
	const file = `# machine commented.example.com login no password no
machine one.example.com login me password p1
machine two.example.com
	login machine
	password login
machine three.example.com login half
machine six.example.com password alone
machine four.example.com account x login a password #not-a-comment port 21
default login anonymous password guest
machine five.example.com login late password late
`
	for _, test := range []struct{ host, want string }{
		{"one.example.com", "me p1"},
		{"ONE.example.com", "me p1"},
		{"two.example.com", "machine login"},
		{"three.example.com", "half "},
		{"four.example.com", "a #not-a-comment"},
		{"commented.example.com", "anonymous guest"},
		{"five.example.com", "anonymous guest"},
		{"six.example.com", "anonymous guest"}, // it has no login
	} {
		user, err := Netrc(file, test.host)
		if err != nil || user == nil {
			t.Errorf("%s: have %v, %v", test.host, user, err)
			continue
		}
		password, _ := user.Password()
		if have := user.Username() + " " + password; have != test.want {
			t.Errorf("%s: have %q, want %q", test.host, have, test.want)
		}
	}
	if user, err := Netrc("machine a login b password c", "other"); user != nil || err != nil {
		t.Errorf("have %v, %v", user, err)
	}
	if user, err := Netrc("machine secure login b password c", "ſecure"); user != nil || err != nil {
		t.Errorf("for a host that only Unicode folds to the machine: have %v, %v", user, err)
	}
	for _, unread := range []string{`machine a login "s3cret" password b`, "macdef s3cret\n\n"} {
		if _, err := Netrc(unread, "a"); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("have error %v", err)
		}
	}
}
