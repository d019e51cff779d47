package read

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/targets"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// readProbe sets the probe of t, without its URL or command. It sets none for a TCP address.
func (r *Reader) readProbe(t *Target) (err error) {
	switch t.Kind {
	case status.KindCommand:
		t.Poller.Probe, err = r.readCommand(t.Run)
	case status.KindHTTP:
		t.Poller.Probe, err = r.readHTTP(t.Run)
	}
	return err
}

// setRequest sets the URL or the command of t from its entry e. It copies the probe, which other targets
// share.
func (r *Reader) setRequest(t *Target, e *targets.Entry, place string) error {
	if e.Command == nil {
		if err := refuseURL(e.URL); err != nil {
			return located(place, err)
		}
	}
	switch probe := t.Poller.Probe.(type) {
	case *poll.Command:
		command := *probe
		command.Args = e.Command
		t.Poller.Probe = &command
	case *poll.HTTP:
		request := *probe
		request.URL = e.URL
		t.Poller.Probe = &request
		return r.checkRequest(t.Run, &request, place)
	default:
		made, err := tcpProbe(e.URL)
		made.Dial = r.process.Dial
		t.Poller.Probe = made
		return located(place, err)
	}
	return nil
}

// refuseURL returns a usage error for a URL with characters that are never sent deliberately. Examples are
// white space, invisible characters, unexpanded shell variables, and braces for curl or --targets.
func refuseURL(operand string) error {
	isOdd := func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("{[$,", r)
	}
	_, rest, _ := strings.Cut(operand, "://")
	host, _, _ := strings.Cut(rest, "/")
	if !strings.ContainsFunc(operand, isOdd) && !strings.HasSuffix(host, ":") {
		return nil
	}
	wrong, hint := argv.Advice("address " + operand)
	if wrong == "" {
		return nil
	}
	return argv.Usagef("the URL %s", wrong).Hint("%s", hint)
}

func tcpProbe(address string) (probe poll.TCP, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Port() == "" || strings.Trim(u.Path, "/") != "" {
		return probe, argv.Usagef("a TCP address is only a host and a port: tcp://HOST:PORT")
	}
	probe.Address = net.JoinHostPort(u.Hostname(), u.Port())
	if err := probe.Plan().Invalid; err != nil {
		return probe, argv.Usagef("%w", err)
	}
	return probe, nil
}

// readHTTP returns the request of the flags, without its URL and the password of its host.
func (r *Reader) readHTTP(s *Run) (probe *poll.HTTP, err error) {
	made := s.HTTP
	probe = &made
	probe.LookupEnv = s.LookupEnv
	if s.Gone && probe.Follow == "" && probe.Method != "" && !strings.EqualFold(probe.Method, "POST") {
		probe.Follow = "self" // follow the deleted URL; a POST usually has a collection's URL
	}
	if s.Each != "" {
		probe.Next = cmp.Or(probe.Next, "auto")
	}
	probe.Header = http.Header{}
	if len(s.Header)+len(s.Bearer)+len(s.Cookie) > 0 {
		probe.Header, probe.Refresh, err = ReadHeaders(s.Line, r.process, s.Header, s.Bearer, strings.Join(s.Cookie, "; "))
	}
	if err != nil {
		return nil, err
	}
	if _, isGiven := probe.Header["If-None-Match"]; s.NoConditional && !isGiven {
		probe.Header["If-None-Match"] = nil
	}
	if s.Has("user-agent") {
		probe.Header.Set("User-Agent", s.UserAgent)
	}
	return probe, cmp.Or(r.readBody(s, probe), r.readConnection(s, probe))
}

// checkRequest sets the host's password and checks probe. The error names --next or --follow if that flag is
// wrong.
func (r *Reader) checkRequest(s *Run, probe *poll.HTTP, place string) error {
	if err := r.readPassword(s, probe); err != nil {
		return err
	}
	plain := *probe
	err := plain.Plan().Invalid
	if err == nil {
		return nil
	}
	if plain.Next = ""; plain.Plan().Invalid == nil {
		return BadExpression(s.Origin("next"), err)
	}
	plain.Follow = ""
	if wrong := plain.Plan().Invalid; wrong != nil {
		return argv.Usagef("%s%w", place, wrong)
	}
	return BadExpression(s.Origin("follow"), err)
}

const (
	defaultAttempt = 30 * time.Second // commands have no default
	DefaultGrace   = 2 * time.Second
)

// readConnection sets the transport of probe. Targets with equal connection settings share a transport.
func (r *Reader) readConnection(s *Run, probe *poll.HTTP) error {
	name := fmt.Sprintf("%#v", s.Connect)
	transport := r.transports[name]
	if transport == nil {
		made, err := s.Connect.Transport()
		if wrong, ok := errors.AsType[*connect.FileError](err); ok {
			return argv.Usagef("%s: %w", s.Origin(wrong.Option), wrong)
		} else if err != nil {
			return argv.Usagef("%w", err)
		}
		if r.process.Dial != nil {
			made.DialContext = r.process.Dial
		}
		if transport = made; r.Several {
			transport.MaxIdleConnsPerHost = max(transport.MaxIdleConnsPerHost, s.Group.Parallel)
		}
		r.boundIdle(transport)
		r.transports[name] = transport
	}
	probe.Transport = transport
	return nil
}

// boundIdle limits the idle connections of all transports. After each quarter of the process's file limit in
// new connections, all idle connections are closed. Idle connections to many hosts could otherwise reach the
// limit.
func (r *Reader) boundIdle(transport *http.Transport) {
	dial, transports, dials, most := transport.DialContext, r.transports, r.dials, max(system.OpenFiles()/4, 1)
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if dials.Add(1)%most == 0 {
			for _, t := range transports {
				t.CloseIdleConnections()
			}
		}
		return dial(ctx, network, address)
	}
}

// readBody sets the body of probe from the values of -d, --data-raw and --data-binary, joined by "&". -d and
// --data-binary read the file of @FILE, or stdin for @-. -d removes line breaks and NUL bytes from a file. A JSON object or array gets the content
// type application/json, unless -H sets a type.
func (r *Reader) readBody(s *Run, probe *poll.HTTP) error {
	var parts [][]byte
	for _, given := range s.Settings {
		text, isFile, err := []byte(given.Text), false, error(nil)
		switch given.Flag.Name {
		case "data", "data-binary":
			text, isFile, err = r.process.ReadValue(s.Line, given.Origin, given.Text, MaxInput)
		case "data-raw":
		default:
			continue
		}
		if err != nil {
			return err
		}
		if isFile && given.Flag.Name == "data" {
			text = slices.DeleteFunc(text, func(b byte) bool { return b == '\n' || b == '\r' || b == 0 })
		}
		parts = append(parts, text)
	}
	if parts == nil {
		return nil
	}
	probe.Body = append([]byte{}, bytes.Join(parts, []byte("&"))...) // not nil: an empty body is a body
	if _, said := probe.Header["Content-Type"]; !said && isJSONDocument(probe.Body) {
		probe.Header.Set("Content-Type", "application/json")
	}
	return nil
}

// readCommand returns the command of the flags, without its arguments. With --stdin it reads stdin.
func (r *Reader) readCommand(s *Run) (*poll.Command, error) {
	if r.nested == nil {
		r.nested = nestedCommand(r.process, s.Grace)
	}
	c := s.Command
	c.Grace, c.Env = r.nested.Grace, r.nested.Env
	if s.Stdin {
		input, err := r.process.ReadFile("-", MaxInput)
		if err != nil {
			return nil, fmt.Errorf("read stdin: %w", err)
		}
		c.Stdin = append([]byte{}, input...)
	}
	return &c, nil
}

// KillAfter is the environment variable that passes the time between TERM and KILL to a command.
const KillAfter = "POLL_KILL_AFTER"

// nestedCommand returns the grace and the environment of commands. Under an outer poll, the grace is shorter
// than the outer grace. Otherwise the outer poll would kill this process first, and leave its command running,
// which has its own process group.
func nestedCommand(process Env, grace time.Duration) *poll.Command {
	if outer, err := time.ParseDuration(process.Getenv(KillAfter)); err == nil && outer >= 0 {
		grace = min(grace, outer-outer/4)
	}
	return &poll.Command{
		Grace: cmp.Or(grace, -1),
		Env:   append(os.Environ(), KillAfter+"="+grace.String()),
	}
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
