package cli

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// configureURL sets up the probe for an operand with a scheme.
func (in *invocation) configureURL(w *wait, operand string) error {
	for _, name := range []string{"stdin", "foreground", "show-stderr"} {
		if g := in.split.last(name); g != nil && !g.env && !off(g) {
			return usagef("--%s is for a command, and a URL is waited for", name)
		}
	}
	if err := refuseBlanks(operand); err != nil {
		return err
	}
	scheme, _, _ := strings.Cut(operand, "://")
	switch strings.ToLower(scheme) {
	case "http", "https":
		return in.configureHTTP(w, operand)
	case "tcp":
		return in.configureTCP(w, operand)
	}
	return usagef("%s:// cannot be waited for: poll knows http, https and tcp", scheme)
}

func (in *invocation) configureTCP(w *wait, operand string) error {
	if err := in.refuseGiven(groupHTTP, "is for http and https, and a TCP address is waited for"); err != nil {
		return err
	}
	u, err := url.Parse(operand)
	if err != nil || u.Hostname() == "" || u.Port() == "" || strings.Trim(u.Path, "/") != "" {
		return usagef("a TCP address is a host and a port, and nothing else: tcp://HOST:PORT")
	}
	probe := poll.TCP{Address: net.JoinHostPort(u.Hostname(), u.Port())}
	if err := probe.Check(); err != nil {
		return usagef("%w", err)
	}
	w.kind, w.poller.Probe = status.KindTCP, probe
	return nil
}

func (in *invocation) configureHTTP(w *wait, operand string) error {
	probe := poll.HTTP{
		URL:             operand,
		Method:          in.values.String("request"),
		MaxBody:         in.values.size("max-body", 0),
		MaxRedirects:    in.maxRedirects(),
		NoConditional:   in.split.on("no-conditional"),
		LocationTrusted: in.split.on("location-trusted"),
	}
	for _, step := range []func(*poll.HTTP) error{in.header, in.body, in.credentials, in.connection, in.follow} {
		if err := step(&probe); err != nil {
			return err
		}
	}
	if err := probe.Check(); err != nil {
		return usagef("%w", err)
	}
	w.kind, w.poller.Probe = status.KindHTTP, probe
	return nil
}

// maxRedirects turns curl's numbers (0 = none, -1 = no limit of one's own) into the probe's.
func (in *invocation) maxRedirects() int {
	switch n := in.values.count("max-redirs", -1, poll.DefaultMaxRedirects); n {
	case 0:
		return poll.NoRedirects
	case -1:
		return math.MaxInt
	default:
		return n
	}
}

// connection makes the transport.
func (in *invocation) connection(probe *poll.HTTP) error {
	v := in.values
	c := poll.Connect{
		Insecure:   in.split.on("insecure"),
		CACert:     v.String("cacert"),
		Cert:       v.String("cert"),
		Key:        v.String("key"),
		UnixSocket: v.String("unix-socket"),
	}
	if c.Key != "" && c.Cert == "" {
		return usagef("%s needs %s, whose key it is", v.origin("key"), "--cert")
	}
	transport, err := c.Transport()
	if err != nil {
		if given := in.anyOf("cacert", "cert", "key"); given != "" && !errors.Is(err, poll.ErrProxy) {
			err = fmt.Errorf("%s: %w", given, err)
		}
		return usagef("%w", err)
	}
	probe.Transport = transport
	return nil
}

// anyOf names those of some flags that are set, for an error that is about one
// of them.
func (in *invocation) anyOf(names ...string) string {
	var set []string
	for _, name := range names {
		if in.values.IsSet(name) {
			set = append(set, in.values.origin(name))
		}
	}
	return strings.Join(set, ", ")
}

func (in *invocation) follow(probe *poll.HTTP) error {
	if !in.values.IsSet("follow") {
		return nil
	}
	follow, err := poll.ParseFollow(in.values.String("follow"))
	if err != nil {
		return badExpression(in.values.origin("follow"), err)
	}
	probe.Follow = follow
	return nil
}

// credentials reads -u, and ~/.netrc (or $NETRC) with -n. What they say is not
// repeated in an error.
func (in *invocation) credentials(probe *poll.HTTP) error {
	v := in.values
	if agent := v.String("user-agent"); v.IsSet("user-agent") {
		probe.Header.Set("User-Agent", agent)
	}
	if v.IsSet("user") {
		name, password, ok := strings.Cut(v.String("user"), ":")
		if !ok {
			return usagef("%s needs a colon, USER:PASS, since poll does not ask for a password", v.origin("user"))
		}
		probe.User = url.UserPassword(name, password)
		return nil
	}
	if !in.split.on("netrc") {
		return nil
	}
	user, err := in.netrc(probe.URL)
	if err != nil {
		return usagef("%s: %w", v.origin("netrc"), err)
	}
	probe.User = user
	return nil
}

func (in *invocation) netrc(target string) (*url.Userinfo, error) {
	u, err := url.Parse(target)
	if err != nil || u.User != nil {
		return nil, nil // the check of the probe says so, or the URL has its own
	}
	path := in.getenv("NETRC")
	if path == "" {
		path = filepath.Join(in.getenv("HOME"), ".netrc")
	}
	text, err := in.readFile(path, mostLines)
	if err != nil {
		return nil, err
	}
	return poll.ReadNetrc(bytes.NewReader(text), u.Hostname())
}

// body reads -d as curl does: several are joined by "&", @FILE is read without
// its line breaks, and @- is stdin.
func (in *invocation) body(probe *poll.HTTP) error {
	if !in.values.IsSet("data") {
		return nil
	}
	var parts [][]byte
	for _, data := range in.values.texts("data") {
		part := []byte(data)
		if name, ok := strings.CutPrefix(data, "@"); ok {
			text, err := in.readFile(name, mostInput)
			if err != nil {
				return usagef("%s: %w", in.values.origin("data"), err)
			}
			part = withoutBreaks(text)
		}
		parts = append(parts, part)
	}
	probe.Body = append([]byte{}, bytes.Join(parts, []byte("&"))...) // not nil: an empty body is one
	return nil
}

// withoutBreaks returns text without line breaks and NUL. Its other bytes stay,
// also where they are not UTF-8.
func withoutBreaks(text []byte) []byte {
	return slices.DeleteFunc(text, func(b byte) bool { return b == '\n' || b == '\r' || b == 0 })
}

func (in *invocation) header(probe *poll.HTTP) (err error) {
	probe.Header, err = in.headers()
	return err
}

// headers reads -H as curl does: "Name: value", "Name;" for an empty value,
// "Name:" for a header not to be sent, and @FILE for a file with one header a line.
func (in *invocation) headers() (http.Header, error) {
	header := http.Header{}
	for _, line := range in.values.texts("header") {
		lines := []string{line}
		if file, ok := strings.CutPrefix(line, "@"); ok {
			text, err := in.readFile(file, mostLines)
			if err != nil {
				return nil, usagef("%s: %w", in.values.origin("header"), err)
			}
			lines = strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' })
		}
		for _, l := range lines {
			if err := addHeader(header, l); err != nil {
				return nil, usagef("%s: %w", in.values.origin("header"), err)
			}
		}
	}
	return header, nil
}

// addHeader adds a line to header. The line may be a secret, even where it is
// malformed, so an error says nothing of it.
func addHeader(header http.Header, line string) error {
	name, value, ok := strings.Cut(line, ":")
	bare, empty := strings.CutSuffix(line, ";")
	if empty = empty && !ok; empty {
		name, ok = bare, true
	}
	name = strings.TrimSpace(name)
	switch {
	case !ok:
		return fmt.Errorf("a header needs a colon: 'Name: value'")
	case name == "":
		return fmt.Errorf("a header needs a name: 'Name: value'")
	case strings.ContainsAny(line, "\r\n\x00"):
		return fmt.Errorf("header %q contains a line break", name)
	}
	value = strings.TrimSpace(value)
	if value == "" && !empty {
		if key := http.CanonicalHeaderKey(name); header[key] == nil {
			header[key] = nil // not sent, not even poll's own
		}
		return nil
	}
	header.Add(name, value)
	return nil
}
