package cli

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

var (
	errOpenQuote = errors.New("a quote in the netrc file is not closed")
	errLongLine  = errors.New("a line of the netrc file is too long")
)

// readNetrc returns the login and password for a host in a .netrc file, nil if
// there is none. The first entry that fits counts: "machine HOST", or "default".
// The format is that of ftp(1) and the GNU inetutils manual: words between blanks,
// with quotes around those that hold blanks; comments (#) and macro definitions are
// skipped.
func readNetrc(text, host string) (*url.Userinfo, error) {
	words, err := netrcWords(text)
	if err != nil {
		return nil, err
	}
	var login, password string
	fits := false
	for i := 0; i < len(words); i++ {
		word, value := words[i], ""
		if i+1 < len(words) {
			value = words[i+1]
		}
		switch word {
		case "machine", "default":
			if fits && login != "" {
				return url.UserPassword(login, password), nil
			}
			login, password = "", ""
			if fits = word == "default"; fits {
				continue
			}
			// Equal lengths: Unicode folds letters that differ in a host name, such
			// as s and ſ.
			fits = value != "" && len(value) == len(host) && strings.EqualFold(value, host)
		case "login":
			login = value
		case "password":
			password = value
		case "account":
		default:
			continue // an unknown word has no value
		}
		i++
	}
	if !fits || login == "" {
		return nil, nil
	}
	return url.UserPassword(login, password), nil
}

// netrcWords returns the words of a file, without macros and comments.
func netrcWords(text string) ([]string, error) {
	const maxLine = 64 << 10
	var words []string
	macro := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if len(line) > maxLine {
			return nil, errLongLine
		}
		if macro = macro && line != ""; macro || strings.HasPrefix(line, "#") {
			continue
		}
		inLine, err := wordsOfLine(line)
		if err != nil {
			return nil, err
		}
		if at := slices.Index(inLine, "macdef"); at >= 0 {
			macro, inLine = true, inLine[:at]
		}
		words = append(words, inLine...)
	}
	return words, nil
}

// wordsOfLine splits a line at blanks outside quotes. In quotes a backslash escapes
// the next byte; n, r and t become control characters.
func wordsOfLine(line string) (words []string, err error) {
	escapes := strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\\`, `\`, `\`, "")
	for line = strings.TrimLeft(line, " \t"); line != ""; line = strings.TrimLeft(line, " \t") {
		quoted, inQuotes := strings.CutPrefix(line, `"`)
		if !inQuotes {
			end := strings.IndexAny(line+" ", " \t")
			words, line = append(words, line[:end]), line[end:]
			continue
		}
		end := 0
		for end < len(quoted) && quoted[end] != '"' {
			if quoted[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(quoted) {
			return nil, errOpenQuote
		}
		words, line = append(words, escapes.Replace(quoted[:end])), quoted[end+1:]
	}
	return words, nil
}
