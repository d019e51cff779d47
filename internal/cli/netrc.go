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
	if r.User != "" || !r.Netrc {
		return nil
	}
	u, err := url.Parse(probe.URL)
	if err != nil || u.User != nil {
		return nil // the check of the probe reports it, or the URL has its own
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
	login, password, fits := "", "", false
	for i := 0; i+1 < len(words); i++ {
		word, value := words[i], words[i+1]
		switch word {
		case "machine", "default":
			if fits && login != "" {
				return url.UserPassword(login, password), nil
			}
			// Equal lengths: Unicode folds letters that differ in a host name, such as s and ſ.
			fits = word == "default" || len(value) == len(host) && strings.EqualFold(value, host)
			login, password = "", ""
		case "login":
			login = value
		case "password":
			password = value
		}
		if word == "macdef" || strings.HasPrefix(value, `"`) {
			return nil, errors.New("a netrc file with macros or quotes is not read")
		}
		if word != "default" {
			i++
		}
	}
	return nil, nil
}
