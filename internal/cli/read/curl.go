package read

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/poll"
)

// What curl's flags mean beyond setting one field of a request.

// A part is a value of -d or its kin.
type part struct {
	Text string
	flag string
}

// partOf returns the value of a flag that adds a part.
func partOf(flag string) argv.Reader {
	return argv.Parsed(func(text string) (part, error) { return part{text, flag}, nil }, func(s *Run, v part) { s.Data = append(s.Data, v) })
}

// read returns the bytes that the part adds to the body. -d reads @FILE without line breaks and NUL, and @- is stdin.
// --data-binary reads a file as it is. --data-raw reads no file.
func (p part) read(s *Run, process Env) ([]byte, error) {
	if p.flag == "data-raw" {
		return []byte(p.Text), nil
	}
	text, isFile, err := process.ReadValue(s.Line, s.Origin(p.flag), p.Text, MaxInput)
	if isFile && p.flag == "data" {
		text = slices.DeleteFunc(text, func(b byte) bool { return b == '\n' || b == '\r' || b == 0 })
	}
	return text, err
}

// isJSONDocument reports whether a body is an object or an array in JSON.
func isJSONDocument(body []byte) bool {
	body = bytes.TrimSpace(body)
	return len(body) > 0 && (body[0] == '{' || body[0] == '[') && json.Valid(body)
}

func parseCookie(text string) (string, error) {
	if !strings.Contains(text, "=") {
		return "", argv.Usagef("a cookie is NAME=VALUE; poll reads no file of cookies").
			Hint("poll sends back the cookies of answers anyway; -H @FILE reads headers, such as Cookie: NAME=VALUE")
	}
	return strings.Trim(text, "; "), nil
}

// parseProxy reads -x as curl does. A proxy without a scheme is an HTTP proxy, and "" means no proxy.
func parseProxy(text string) (string, error) {
	if text == "" {
		return "direct", nil
	}
	u, err := connect.ParseProxy(text)
	if err != nil {
		return "", errors.New("not the URL of a proxy, such as http://HOST:PORT")
	}
	if u.Port() == "" && u.Scheme != "https" {
		u.Host = net.JoinHostPort(u.Hostname(), "1080") // as curl
	}
	return u.String(), nil
}

// route returns the value of a flag that adds routes of a [connect.Options].
func route(form string, read func(value string) (from string, to []string)) argv.Reader {
	type pair struct {
		from string
		to   []string
	}
	parse := func(value string) (p pair, err error) {
		from, to := read(value)
		if to == nil || strings.ContainsAny(value, " \t\r\n=") {
			return p, argv.Usagef("%q is not %s", value, form)
		}
		if !connect.IsASCII(value) { // net/http connects to the ASCII form, which no such route is for
			return p, argv.Usagef("%q has a host name that is not in ASCII", value).Hint("write the name in its ASCII form, xn--...")
		}
		return pair{strings.ToLower(strings.Replace(from, ".:", ":", 1)), to}, nil
	}
	return argv.Parsed(parse, func(s *Run, v pair) {
		if s.Connect.Routes == nil {
			s.Connect.Routes = map[string][]string{}
		}
		s.Connect.Routes[v.from] = append(s.Connect.Routes[v.from], v.to...)
	})
}

// anyHost matches a host, which may be an IPv6 address in brackets.
const anyHost = `(\[[^\]]*\]|[^:\[\]]*)`

// resolved reads HOST:PORT:ADDRESS[,ADDRESS...]; * is any host, and + means to curl that the entry may
// expire.
func resolved(value string) (from string, to []string) {
	m := find(`^\+?\*?`+anyHost+`:(\d*):(.+)$`, value)
	if m == nil || !isPort(m[2]) {
		return "", nil
	}
	for address := range strings.SplitSeq(m[3], ",") {
		address = strings.Trim(address, "[]")
		if net.ParseIP(address) == nil {
			return "", nil
		}
		to = append(to, net.JoinHostPort(address, m[2]))
	}
	return m[1] + ":" + m[2], to
}

// connectedTo reads HOST:PORT:HOST:PORT. Each part may be empty.
func connectedTo(value string) (from string, to []string) {
	m := find("^"+anyHost+`:(\d*):`+anyHost+`:(\d*)$`, value)
	if m == nil || !isPort(m[2]) || !isPort(m[4]) {
		return "", nil
	}
	return m[1] + ":" + m[2], []string{m[3] + ":" + m[4]}
}

// isPort reports whether text is the number of a port, or empty.
func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil
}

// readPassword sets the password of the URL's host from ~/.netrc (or $NETRC), with -n.
func (r *Reader) readPassword(s *Run, probe *poll.HTTP) error {
	u, err := url.Parse(probe.URL)
	if s.HTTP.User != nil || !s.Netrc || err != nil || u.User != nil {
		return nil // the check of the probe reports a malformed URL
	}
	home := cmp.Or(r.process.Getenv("HOME"), r.process.Getenv("USERPROFILE")) // as curl, for Windows
	text, err := r.process.ReadFile(cmp.Or(r.process.Getenv("NETRC"), filepath.Join(home, ".netrc")), maxLines)
	if err == nil {
		probe.User, err = connect.Netrc(string(text), u.Hostname())
	}
	if err != nil {
		return argv.Usagef("%s: %w", s.Origin("netrc"), err)
	}
	return nil
}
