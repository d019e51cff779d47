package connect

import (
	"errors"
	"net/url"
	"strings"
)

// Netrc returns the login and the password of a host in the text of a .netrc file, or nil without an entry for the host.
// The first entry that fits counts: "machine HOST", or "default". Lines that begin with # are comments.
func Netrc(text, host string) (*url.Userinfo, error) {
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
			return nil, errors.New("a netrc file with macros or quotes is not supported")
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
