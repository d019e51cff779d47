package cli

import (
	"cmp"
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/poll"
)

// readPassword takes the password of the URL's host from ~/.netrc (or $NETRC) with -n.
func (r *reader) readPassword(probe *poll.HTTP) error {
	u, err := url.Parse(probe.URL)
	if r.User != "" || !r.Netrc || err != nil || u.User != nil {
		return nil // the check of the probe reports a malformed URL
	}
	home := cmp.Or(r.world.getenv("HOME"), r.world.getenv("USERPROFILE")) // as curl, for Windows
	text, err := r.world.readFile(cmp.Or(r.world.getenv("NETRC"), filepath.Join(home, ".netrc")), maxLines)
	if err == nil {
		probe.User, err = readNetrc(string(text), u.Hostname())
	}
	if err != nil {
		return argv.Usagef("%s: %w", r.Origin("netrc"), err)
	}
	return nil
}

// readNetrc returns the login and password for a host in a .netrc file, nil if there is none.
// The first entry that fits counts: "machine HOST", or "default". Lines that begin with # are
// comments.
func readNetrc(text, host string) (*url.Userinfo, error) {
	var words []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			words = append(words, strings.Fields(line)...)
		}
	}
	words = append(words, "default", "") // which ends the last entry
	entry, fits := map[string]string{}, false
	for len(words) > 1 {
		word, value := words[0], words[1]
		words = words[2:]
		switch {
		case word == "macdef" || strings.HasPrefix(value, `"`):
			return nil, errors.New("a netrc file with macros or quotes is not read")
		case word != "machine" && word != "default":
			entry[word] = value
			continue
		case fits && entry["login"] != "":
			return url.UserPassword(entry["login"], entry["password"]), nil
		case word == "default":
			words = append([]string{value}, words...) // it has no value
		}
		// Equal lengths: Unicode folds letters that differ in a host name, such as s and ſ.
		fits = word == "default" || len(value) == len(host) && strings.EqualFold(value, host)
		clear(entry)
	}
	return nil, nil
}
