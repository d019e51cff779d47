package connect

import (
	"errors"
	"net/url"
	"strings"
)

// Netrc searches text, the content of a .netrc file, and returns the login and the password for host. It uses the
// first "machine HOST" or "default" entry that applies to host and has a login, or returns nil if there is no such
// entry. Lines that start with # are comments. Macros and quoted values are not supported, and lead to an error.
func Netrc(text, host string) (*url.Userinfo, error) {
	var words []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			words = append(words, strings.Fields(line)...)
		}
	}
	words = append(words, "default", "") // a final entry, so that the loop also handles the last entry of the file
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
			words = append([]string{value}, words...) // "default" has no value: put back the word that follows
		}
		// Unicode case folding also equates ASCII letters with other letters, such as s and ſ. Their encodings differ
		// in length, so the lengths are compared, too.
		fits = word == "default" || len(value) == len(host) && strings.EqualFold(value, host)
		clear(entry)
	}
	return nil, nil
}
