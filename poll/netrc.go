package poll

import (
	"bufio"
	"errors"
	"github.com/pollcli/poll/poll/internal/exchange"
	"io"
	"net/url"
	"strings"
)

// ReadNetrc returns the login and password that a .netrc file has for a host,
// nil if it has none. The first entry that fits counts: "machine HOST", or
// "default". The format is that of ftp(1) and of the GNU inetutils manual:
// tokens between blanks, quotes around those that hold blanks; lines that begin
// with # and macro definitions are passed over.
func ReadNetrc(r io.Reader, host string) (*url.Userinfo, error) {
	tokens, err := netrcTokens(r)
	if err != nil {
		return nil, err
	}
	for len(tokens) > 0 {
		var entry netrcEntry
		entry, tokens = nextEntry(tokens)
		if entry.fits(host) {
			return url.UserPassword(entry.login, entry.password), nil
		}
	}
	return nil, nil
}

type netrcEntry struct {
	machine         string
	isDefault       bool
	login, password string
}

func (e netrcEntry) fits(host string) bool {
	return e.login != "" && (e.isDefault || e.machine != "" && exchange.SameHost(e.machine, host))
}

// nextEntry reads tokens up to the next machine or default. Words that are not
// known are passed over.
func nextEntry(tokens []string) (e netrcEntry, rest []string) {
	for i := 0; i < len(tokens); i++ {
		word, next := tokens[i], ""
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		switch word {
		case "machine", "default":
			if e.machine != "" || e.isDefault {
				return e, tokens[i:]
			}
			if e.isDefault = word == "default"; e.isDefault {
				continue
			}
			e.machine = next
		case "login":
			e.login = next
		case "password":
			e.password = next
		case "account":
		default:
			continue
		}
		i++
	}
	return e, nil
}

// netrcTokens splits a file into words, without macros and comments.
func netrcTokens(r io.Reader) ([]string, error) {
	var tokens []string
	lines := bufio.NewScanner(r)
	macro := false
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if macro = macro && line != ""; macro || strings.HasPrefix(line, "#") {
			continue
		}
		words, err := netrcWords(line)
		if err != nil {
			return nil, err
		}
		for _, w := range words {
			if macro = w == "macdef"; macro {
				break
			}
			tokens = append(tokens, w)
		}
	}
	if lines.Err() != nil {
		return nil, errors.New("a line of the netrc file is too long")
	}
	return tokens, nil
}

// netrcWords splits a line at blanks outside of quotes.
func netrcWords(line string) ([]string, error) {
	var words []string
	for {
		line = strings.TrimLeft(line, " \t")
		switch {
		case line == "":
			return words, nil
		case line[0] == '"':
			word, rest, ok := quotedWord(line[1:])
			if !ok {
				return nil, errors.New("a quote in the netrc file is not closed")
			}
			words, line = append(words, word), rest
		default:
			end := strings.IndexAny(line, " \t")
			if end < 0 {
				end = len(line)
			}
			words, line = append(words, line[:end]), line[end:]
		}
	}
}

// quotedWord reads up to the closing quote. A backslash takes the next byte as
// it is, but n, r and t, which it makes control characters.
func quotedWord(s string) (word, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], true
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteString(unescape(s[i]))
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

func unescape(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	}
	return string([]byte{c})
}
