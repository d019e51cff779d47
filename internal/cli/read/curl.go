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

// The readers of curl's flags that do more than set one field of a request.

// A part is a value of -d, --data-raw or --data-binary.
type part struct {
	Text string
	flag string
}

// partOf returns the reader of a flag that adds a part to the body.
func partOf(flag string) argv.Reader {
	return argv.Parsed(func(text string) (part, error) { return part{text, flag}, nil }, func(s *Run, v part) { s.Data = append(s.Data, v) })
}

// read returns the bytes that p adds to the body. -d and --data-binary read the file of @FILE, or stdin for
// @-. -d removes line breaks and NUL bytes from a file. --data-raw reads no file.
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

// parseProxy returns the proxy's URL for the value of -x, following curl. The scheme defaults to http and the
// port to 1080. An empty text means no proxy: it returns "direct".
func parseProxy(text string) (string, error) {
	if text == "" {
		return "direct", nil
	}
	u, err := connect.ParseProxy(text)
	if err != nil {
		return "", errors.New("not the URL of a proxy, such as http://HOST:PORT")
	}
	if u.Port() == "" && u.Scheme != "https" {
		u.Host = net.JoinHostPort(u.Hostname(), "1080") // curl's default port
	}
	return u.String(), nil
}

// route returns the reader of a flag that adds to the routes of [connect.Options]. read splits a value, and
// returns nil as to if the value is malformed. form is the expected form, for errors.
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
		if !connect.IsASCII(value) { // net/http connects to the ASCII form, so this route would never match
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

// anyHost matches a host name, an address, an IPv6 address in brackets, or nothing.
const anyHost = `(\[[^\]]*\]|[^:\[\]]*)`

// resolved splits HOST:PORT:ADDRESS[,ADDRESS...]. A * means any host. A + is ignored: in curl it lets the
// entry expire. It returns a nil to if value is malformed.
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

// connectedTo splits HOST:PORT:HOST:PORT, whose parts may be empty. It returns a nil to if value is malformed.
func connectedTo(value string) (from string, to []string) {
	m := find("^"+anyHost+`:(\d*):`+anyHost+`:(\d*)$`, value)
	if m == nil || !isPort(m[2]) || !isPort(m[4]) {
		return "", nil
	}
	return m[1] + ":" + m[2], []string{m[3] + ":" + m[4]}
}

// isPort reports whether text is a port number or empty.
func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil
}

// readPassword sets the user and password for the URL's host from $NETRC or ~/.netrc, with -n. It does nothing
// if -u or the URL has a user.
func (r *Reader) readPassword(s *Run, probe *poll.HTTP) error {
	u, err := url.Parse(probe.URL)
	if s.HTTP.User != nil || !s.Netrc || err != nil || u.User != nil {
		return nil // the check of the probe reports a malformed URL
	}
	home := cmp.Or(r.process.Getenv("HOME"), r.process.Getenv("USERPROFILE")) // like curl, for Windows
	text, err := r.process.ReadFile(cmp.Or(r.process.Getenv("NETRC"), filepath.Join(home, ".netrc")), maxLines)
	if err == nil {
		probe.User, err = connect.Netrc(string(text), u.Hostname())
	}
	if err != nil {
		return argv.Usagef("%s: %w", s.Origin("netrc"), err)
	}
	return nil
}
