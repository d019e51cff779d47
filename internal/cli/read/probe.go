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

// readProbe sets t's probe without its URL or command, which setRequest adds. It does nothing for a TCP target.
func (r *Reader) readProbe(t *Target) (err error) {
	switch t.Kind {
	case status.KindCommand:
		t.Poller.Probe, err = r.readCommand(t.Run)
	case status.KindHTTP:
		t.Poller.Probe, err = r.readHTTP(t.Run)
	}
	return err
}

// setRequest adds the entry's URL or command to t's probe. It changes a copy, because other targets share the
// probe.
func (r *Reader) setRequest(t *Target, e *targets.Entry, place string) error {
	if e.Command == nil {
		if err := refuseURL(e.URL); err != nil {
			return located(place, err)
		}
	}
	if t.Kind == status.KindTCP {
		made, err := tcpProbe(e.URL)
		made.Dial = r.process.Dial
		t.Poller.Probe = made
		return located(place, err)
	}
	t.Poller.Probe = requestOf(t.Poller.Probe, e.URL, e.Command)
	if request, ok := t.Poller.Probe.(*poll.HTTP); ok {
		return r.checkRequest(t.Run, request, place)
	}
	return nil
}

// requestOf returns a copy of probe for the given URL, or for the given arguments if probe is a command.
func requestOf(probe poll.Probe, url string, args []string) poll.Probe {
	if command, ok := probe.(*poll.Command); ok {
		made := *command
		made.Args = args
		return &made
	}
	made := *probe.(*poll.HTTP)
	made.URL = url
	return &made
}

// refuseURL returns a usage error for a URL with characters that hardly anybody sends on purpose. Examples are white
// space, control characters, shell variables that were not expanded, braces that curl or --targets would replace, a
// placeholder of a route, and colons without a port.
func refuseURL(operand string) error {
	isOdd := func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("{[$,", r)
	}
	_, rest, _ := strings.Cut(operand, "://")
	host, _, _ := strings.Cut(rest, "/")
	isPort := strings.Count(host, ":") < 2 && !strings.HasSuffix(host, ":")
	if !strings.ContainsFunc(operand, isOdd) && isPort && !strings.Contains(rest, "/:") {
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
		return probe, argv.Usagef("a TCP address has a host and a port, and no path: tcp://HOST:PORT")
	}
	probe.Address = net.JoinHostPort(u.Hostname(), u.Port())
	if err := probe.Plan().Invalid; err != nil {
		return probe, argv.Usagef("%w", err)
	}
	return probe, nil
}

// readHTTP returns the HTTP probe that the flags describe, without the URL and without the host's password in
// ~/.netrc.
func (r *Reader) readHTTP(s *Run) (probe *poll.HTTP, err error) {
	made := s.HTTP
	probe = &made
	probe.LookupEnv = s.LookupEnv
	if s.Gone && probe.Follow == "" && probe.Method != "" && !strings.EqualFold(probe.Method, "POST") {
		probe.Follow = "self" // poll the deleted URL itself; a POST request usually goes to a collection's URL
	}
	if s.Each != "" {
		probe.Next = cmp.Or(probe.Next, "auto")
	}
	if probe.Header, probe.Refresh, err = ReadHeaders(s.Line, r.process, strings.Join(s.Cookie, "; ")); err != nil {
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

// checkRequest sets the host's password from ~/.netrc, and checks probe. If --next or --follow is invalid, the
// error names that flag.
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
	defaultAttempt = 30 * time.Second // for HTTP and TCP; commands have no time limit by default
	DefaultGrace   = 2 * time.Second
)

// readConnection sets the transport of probe. Targets with the same connection settings share a transport, and so
// its connections.
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

// boundIdle makes transport limit the number of idle connections, because idle connections to many hosts could
// exhaust the process's limit of open files. The transports count their new connections together. Each time the
// count has grown by a quarter of that limit, they close all idle connections.
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

// readBody sets the body of probe from the values of -d, --data-raw and --data-binary, which it joins with "&".
// With -d and --data-binary, @FILE stands for the content of FILE, and @- for stdin. As in curl, -d removes line
// breaks and NUL bytes from a file. If the body is a JSON object or array, readBody sets the content type
// application/json, unless -H sets a content type.
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
	probe.Body = append([]byte{}, bytes.Join(parts, []byte("&"))...) // must not be nil: an empty body is a body
	if _, said := probe.Header["Content-Type"]; !said && isJSONDocument(probe.Body) {
		probe.Header.Set("Content-Type", "application/json")
	}
	return nil
}

// readCommand returns the command probe that the flags describe, without its arguments. With --stdin, it also
// reads stdin.
func (r *Reader) readCommand(s *Run) (*poll.Command, error) {
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

// KillAfter names the environment variable through which poll passes the time between TERM and KILL to its
// command, as a duration such as "2s".
const KillAfter = "POLL_KILL_AFTER"

// nestedCommand returns the grace period and the environment for commands. The grace period is the time between
// TERM and KILL. If this poll runs as the command of an outer poll, it uses at most three quarters of the outer
// poll's grace period. Otherwise the outer poll might kill this poll before it has killed its own command, and the
// command would keep running in its own process group.
func nestedCommand(process Env, grace time.Duration) *poll.Command {
	if outer, err := time.ParseDuration(process.Lookup.Get(KillAfter)); err == nil && outer >= 0 {
		grace = min(grace, outer-outer/4)
	}
	return &poll.Command{
		Grace: cmp.Or(grace, -1),
		Env:   append(os.Environ(), KillAfter+"="+grace.String()),
	}
}

// isJSONDocument reports whether body is a JSON object or a JSON array.
func isJSONDocument(body []byte) bool {
	body = bytes.TrimSpace(body)
	return len(body) > 0 && (body[0] == '{' || body[0] == '[') && json.Valid(body)
}

func parseCookie(text string) (string, error) {
	if !strings.Contains(text, "=") {
		return "", argv.Usagef("a cookie is NAME=VALUE; poll reads no file of cookies").
			Hint("poll sends back the cookies of responses anyway; -H @FILE reads headers, such as Cookie: NAME=VALUE")
	}
	return strings.Trim(text, "; "), nil
}

// parseProxy parses the value of -x as curl does, and returns the proxy's URL. The scheme defaults to http. The port
// defaults to 1080, except with the scheme https. For "", which means no proxy, parseProxy returns "direct".
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

// route returns the Reader of a flag that adds an entry to Routes in [connect.Options]. read splits a value into
// from, the address that is replaced, and to, its replacements. If the value is malformed, read returns a nil to. In
// error messages, form describes a valid value.
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
		if !connect.IsASCII(value) { // net/http connects to the host name's ASCII form, so the route would never match
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

// anyHost is a regular expression that matches a host name, an IP address, an IPv6 address in brackets, or the
// empty string.
const anyHost = `(\[[^\]]*\]|[^:\[\]]*)`

// resolved splits HOST:PORT:ADDRESS[,ADDRESS...], the value of --resolve. The host "*" stands for any host. A
// leading "+", which makes the entry expire in curl, is ignored. If value is malformed, to is nil.
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

// connectedTo splits HOST:PORT:HOST:PORT, the value of --connect-to. Each part may be empty. If value is malformed,
// to is nil.
func connectedTo(value string) (from string, to []string) {
	m := find("^"+anyHost+`:(\d*):`+anyHost+`:(\d*)$`, value)
	if m == nil || !isPort(m[2]) || !isPort(m[4]) {
		return "", nil
	}
	return m[1] + ":" + m[2], []string{m[3] + ":" + m[4]}
}

// isPort reports whether text is a port number or the empty string.
func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil
}

// readPassword sets the user and password for the URL's host from the file $NETRC or ~/.netrc. It does nothing
// without --netrc (-n), or if -u or the URL contains a user.
func (r *Reader) readPassword(s *Run, probe *poll.HTTP) error {
	u, err := url.Parse(probe.URL)
	if s.HTTP.User != nil || !s.Netrc || err != nil || u.User != nil {
		return nil // checkRequest reports a malformed URL later
	}
	home := cmp.Or(r.process.Lookup.Get("HOME"), r.process.Lookup.Get("USERPROFILE")) // curl also uses USERPROFILE on Windows
	text, err := r.process.ReadFile(cmp.Or(r.process.Lookup.Get("NETRC"), filepath.Join(home, ".netrc")), maxLines)
	if err == nil {
		probe.User, err = connect.Netrc(string(text), u.Hostname())
	}
	if err != nil {
		return argv.Usagef("%s: %w", s.Origin("netrc"), err)
	}
	return nil
}
