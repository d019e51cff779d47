package cli

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// readNetrc returns the login and password for a host in a .netrc file, nil if
// there is none. The first entry that fits counts: "machine HOST", or "default".
// The format is that of ftp(1): words between blanks, with quotes around those that hold
// blanks; comments (#) and macro definitions are skipped.
func readNetrc(text, host string) (*url.Userinfo, error) {
	words, err := netrcWords(text)
	if err != nil {
		return nil, err
	}
	values, fits := map[string]string{}, false
	for i := 0; i < len(words); i++ {
		word, value := words[i], ""
		if i+1 < len(words) {
			value = words[i+1]
		}
		switch word {
		case "machine", "default":
			if fits && values["login"] != "" {
				return url.UserPassword(values["login"], values["password"]), nil
			}
			clear(values)
			// Equal lengths: Unicode folds letters that differ in a host name, such as s and ſ.
			fits = word == "default" || len(value) == len(host) && strings.EqualFold(value, host)
			if word == "default" {
				continue
			}
		case "login", "password", "account":
			values[word] = value
		default:
			continue // an unknown word has no value
		}
		i++
	}
	if !fits || values["login"] == "" {
		return nil, nil
	}
	return url.UserPassword(values["login"], values["password"]), nil
}

// netrcWords returns the words of a file, without macros and comments. In quotes a backslash
// escapes the next character; n, r and t become control characters.
func netrcWords(text string) (words []string, err error) {
	word := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\S+`)
	escapes := strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\\`, `\`, `\`, "")
	macro := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if macro = macro && line != ""; macro || strings.HasPrefix(line, "#") {
			continue
		}
		for _, w := range word.FindAllString(line, -1) {
			if quoted, isQuoted := strings.CutPrefix(w, `"`); isQuoted {
				if len(w) < 2 || !strings.HasSuffix(w, `"`) {
					return nil, errors.New("a quote in the netrc file is not closed")
				}
				w = escapes.Replace(strings.TrimSuffix(quoted, `"`))
			}
			words = append(words, w)
		}
		if at := slices.Index(words, "macdef"); at >= 0 {
			macro, words = true, words[:at]
		}
	}
	return words, nil
}
