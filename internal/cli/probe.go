package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// kindOf returns what kind of target the operands name.
func kindOf(l *argv.Line) (status.Kind, error) {
	if l.IsCommand() {
		return status.KindCommand, nil
	}
	return kindOfURL(l.Operands[0])
}

// kindOfURL returns the kind of a URL by its scheme.
func kindOfURL(text string) (status.Kind, error) {
	scheme, _, hasScheme := strings.Cut(text, "://")
	if !hasScheme {
		return 0, argv.Usagef("the URL has no scheme").Hint("it begins with http://, https:// or tcp://")
	}
	switch strings.ToLower(scheme) {
	case "http", "https":
		return status.KindHTTP, nil
	case "tcp":
		return status.KindTCP, nil
	}
	err := argv.Usagef("%s:// cannot be waited for: poll knows http, https and tcp", scheme)
	if ask, known := map[string]string{
		"redis": "redis-cli -h HOST ping", "postgres": "pg_isready -h HOST", "postgresql": "pg_isready -h HOST",
	}[strings.ToLower(scheme)]; known {
		err.Hint("poll tcp://HOST:PORT waits for its port, and poll -- %s until it answers", ask)
	}
	return 0, err
}

// readProbe reads what the flags say of a probe of that kind, but not yet what it looks
// at.
func (r *targetReader) readProbe(ctx context.Context, l *argv.Line, kind status.Kind) (t target, err error) {
	t.kind = kind
	if kind == status.KindCommand {
		t.command, err = r.readCommand(ctx, l)
		return t, err
	}
	if err = refuseForURL(l, kind); err == nil && kind == status.KindHTTP {
		t.http, err = r.readHTTP(l)
	}
	return t, err
}

// aim makes a target look at what the operands name.
func (r *targetReader) aim(l *argv.Line, t *target, operands []string) error {
	switch t.kind {
	case status.KindCommand:
		return r.aimCommand(l, t, operands)
	case status.KindTCP:
		return r.aimTCP(t, operands[0])
	}
	return r.aimHTTP(l, t, operands[0])
}

// refuseForURL refuses the flags that do not fit a URL of that kind.
func refuseForURL(l *argv.Line, kind status.Kind) error {
	for _, name := range []string{"stdin", "foreground", "show-stderr"} {
		if l.Typed(name) != nil {
			return argv.Usagef("--%s is for a command, but the target is a URL", name)
		}
	}
	if kind == status.KindTCP {
		return refuseHTTP(l, "is for http and https, but the target is a TCP address")
	}
	return nil
}

func (r *targetReader) aimTCP(t *target, address string) error {
	if err := refuseBlanks(address); err != nil {
		return err
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Port() == "" || strings.Trim(u.Path, "/") != "" {
		return argv.Usagef("a TCP address is only a host and a port: tcp://HOST:PORT")
	}
	probe := poll.TCP{Address: net.JoinHostPort(u.Hostname(), u.Port())}
	if err := probe.Check(); err != nil {
		return argv.Usagef("%w", err)
	}
	t.poller.Probe = probe
	return nil
}

// readHTTP reads what the flags say of a request, but for the password of a host.
func (r *targetReader) readHTTP(l *argv.Line) (*poll.HTTP, error) {
	probe := &poll.HTTP{
		Method:          l.String("request"),
		MaxBody:         l.Size("max-body", 0),
		Bodies:          r.bodies,
		MaxRedirects:    maxRedirects(l),
		NoConditional:   l.On("no-conditional"),
		LocationTrusted: l.On("location-trusted"),
		Follow:          l.String("follow"),
		FollowEach:      followsEach(l),
		LookupEnv:       l.LookupEnv,
	}
	if l.On("gone") && !l.Has("follow") && l.Has("request") && !strings.EqualFold(probe.Method, "POST") {
		probe.Follow = "self" // what it deletes; a POST is to a collection, or an action
	}
	if l.Has("each") {
		probe.Next = cmp.Or(l.String("next"), "auto")
	}
	var err error
	if probe.Header, probe.Refresh, err = renewedHeaders(l, r.world); err != nil {
		return nil, err
	}
	for _, step := range []func(*poll.HTTP, *argv.Line) error{r.readBody, readUser, r.readConnection} {
		if err := step(probe, l); err != nil {
			return nil, err
		}
	}
	return probe, nil
}

// aimHTTP makes a target request a URL. The check of the request is about the URL, and then
// about --follow.
func (r *targetReader) aimHTTP(l *argv.Line, t *target, address string) error {
	if err := cmp.Or(refuseBlanks(address), refuseGlobs(address)); err != nil {
		return err
	}
	probe := t.http
	probe.URL = address
	if err := r.readPassword(l, probe); err != nil {
		return err
	}
	t.poller.Probe = probe
	err := probe.Check()
	if err == nil {
		return nil
	}
	plain := *probe
	plain.Next = ""
	if plain.Check() == nil {
		return badExpression(l.Origin("next"), err)
	}
	plain.Follow, plain.FollowEach = "", false
	if wrong := plain.Check(); wrong != nil {
		return argv.Usagef("%w", wrong)
	}
	return badExpression(l.Origin("follow"), err)
}

// maxRedirects converts curl's number (0 = none, -1 = unlimited) to the probe's.
func maxRedirects(l *argv.Line) int {
	switch n := l.Count("max-redirs", -1, poll.DefaultMaxRedirects); n {
	case 0:
		return poll.NoRedirects
	case -1:
		return math.MaxInt
	default:
		return n
	}
}

// A connection is what requests have in common that connect alike.
type connection struct {
	transport *http.Transport
	through   string // with --share, what tells it from others
}

// readConnection reads how to connect.
func (r *targetReader) readConnection(probe *poll.HTTP, l *argv.Line) error {
	key := l.String("key")
	switch {
	case l.Has("each"):
		key = "" // the expression for an element's name
	case key == "" || l.Has("cert"):
	case l.DropVariable("key"):
		key = ""
	default:
		return argv.Usagef("%s needs --cert, the certificate of the key", l.Origin("key")).
			Hint("with --each EXPR, --key EXPR names the elements of a list")
	}
	connect := poll.Connect{
		Insecure:   l.On("insecure"),
		CACert:     l.String("cacert"),
		Cert:       l.String("cert"),
		Key:        key,
		UnixSocket: l.String("unix-socket"),
		Proxy:      proxyOf(l),
		Routes:     routesOf(l),
	}
	name := fmt.Sprintf("%#v", connect)
	made, known := r.connections[name]
	if !known {
		transport, err := connect.Transport()
		if err != nil {
			if given := certificates(l); given != "" && !errors.Is(err, poll.ErrProxy) {
				err = fmt.Errorf("%s: %w", given, err)
			}
			return argv.Usagef("%w", err)
		}
		transport.MaxIdleConnsPerHost = max(transport.MaxIdleConnsPerHost, r.perHost)
		made.transport = transport
		if l.Has("share") {
			made.through = connect.Through()
		}
		put(&r.connections, name, made)
	}
	probe.Transport, probe.Through = made.transport, made.through
	return nil
}

// certificates names the certificate flags that are set, one of which an error is
// about.
func certificates(l *argv.Line) string {
	var set []string
	for _, name := range []string{"cacert", "cert", "key"} {
		if l.Has(name) && isOfHTTP(l, l.Flag(name)) {
			set = append(set, l.Origin(name))
		}
	}
	return strings.Join(set, ", ")
}

// readUser reads -u, and -A. Errors do not repeat what is in it.
func readUser(probe *poll.HTTP, l *argv.Line) error {
	if l.Has("user-agent") {
		probe.Header.Set("User-Agent", l.String("user-agent"))
	}
	if !l.Has("user") {
		return nil
	}
	name, password, ok := strings.Cut(l.String("user"), ":")
	if !ok {
		return argv.Usagef("%s needs a colon, USER:PASS, since poll does not ask for a password", l.Origin("user"))
	}
	probe.User = url.UserPassword(name, password)
	return nil
}

// readPassword takes the password of the URL's host from ~/.netrc (or $NETRC) with -n.
func (r *targetReader) readPassword(l *argv.Line, probe *poll.HTTP) error {
	if l.Has("user") || !l.On("netrc") {
		return nil
	}
	u, err := url.Parse(probe.URL)
	if err != nil || u.User != nil {
		return nil // the check of the probe reports it, or the URL has its own
	}
	login, known := r.logins[u.Hostname()]
	if !known {
		if login, err = netrc(u.Hostname(), r.world); err != nil {
			return argv.Usagef("%s: %w", l.Origin("netrc"), err)
		}
		put(&r.logins, u.Hostname(), login)
	}
	probe.User = login
	return nil
}

func netrc(host string, world World) (*url.Userinfo, error) {
	home := cmp.Or(world.getenv("HOME"), world.getenv("USERPROFILE")) // as curl, for Windows
	text, err := world.readFile(cmp.Or(world.getenv("NETRC"), filepath.Join(home, ".netrc")), maxLines)
	if err != nil {
		return nil, err
	}
	return readNetrc(string(text), host)
}

// readBody reads the body. JSON is sent as such unless -H names another type.
func (r *targetReader) readBody(probe *poll.HTTP, l *argv.Line) error {
	parts, err := dataParts(l, r.world)
	if err != nil || parts == nil {
		return err
	}
	probe.Body = append([]byte{}, bytes.Join(parts, []byte("&"))...) // not nil: an empty body is a body
	if _, said := probe.Header["Content-Type"]; !said && isJSONDocument(probe.Body) {
		probe.Header.Set("Content-Type", "application/json")
	}
	return nil
}

// withoutBreaks returns text without line breaks and NUL. Other bytes stay, UTF-8
// or not.
func withoutBreaks(text []byte) []byte {
	return slices.DeleteFunc(text, func(b byte) bool { return b == '\n' || b == '\r' || b == 0 })
}

// addHeader adds a line to header. Even a malformed line may be a secret, so errors
// do not repeat it.
func addHeader(header http.Header, line string) error {
	name, value, ok := strings.Cut(line, ":")
	bare, empty := strings.CutSuffix(line, ";")
	if empty = empty && !ok; empty {
		name = bare
	}
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	key := http.CanonicalHeaderKey(name)
	switch {
	case !ok && !empty:
		return fmt.Errorf("a header needs a colon: 'Name: value'")
	case name == "":
		return fmt.Errorf("a header needs a name: 'Name: value'")
	case strings.ContainsAny(line, "\r\n\x00"):
		return fmt.Errorf("header %q contains a line break", name)
	case value != "" || empty:
		header.Add(name, value)
	case header[key] == nil:
		header[key] = nil // not sent, not even poll's own
	}
	return nil
}

// readCommand reads what the flags say of a command.
func (r *targetReader) readCommand(ctx context.Context, l *argv.Line) (*poll.Command, error) {
	if err := refuseHTTP(l, "is for a URL, but the target is a command"); err != nil {
		return nil, cmp.Or(refuseStray(l), err)
	}
	c := &poll.Command{
		Foreground: l.On("foreground") && !r.several,
		Grace:      cmp.Or(r.grace, poll.NoGrace),
		MaxBody:    l.Size("max-body", 0),
		Bodies:     r.bodies,
		// As process 1 of a container. One that reaps for one target would reap the
		// programs of others.
		ReapOrphans: os.Getpid() == 1 && !r.several,
	}
	if r.nested == nil {
		r.nested = nest(ctx, r.world, c.Grace)
	}
	c.Hurry, c.Env = r.nested.Hurry, r.nested.Env
	if l.On("stdin") && !r.several {
		input, err := r.world.readFile("-", maxInput)
		if err != nil {
			return nil, fmt.Errorf("read stdin: %w", err)
		}
		c.Stdin = append([]byte{}, input...)
	}
	return c, nil
}

// aimCommand makes a target run a program.
func (r *targetReader) aimCommand(l *argv.Line, t *target, args []string) error {
	t.command.Args = args
	t.poller.Probe = t.command
	// On Windows it may be a batch file, which the arguments have to be fit for.
	if r.programs[args[0]] && runtime.GOOS != "windows" {
		return nil
	}
	var err error
	if t.missing, t.advice, err = checkProgram(l, *t.command); err == nil && t.missing == nil {
		put(&r.programs, args[0], true)
	}
	return err
}

// isOfHTTP reports whether a flag is about a request. With --each, --key is not.
func isOfHTTP(l *argv.Line, f *argv.Flag) bool {
	return f.Group == groupHTTP || f.Name == "key" && !l.Has("each")
}

// refuseHTTP refuses flags about a request that were typed. Those in the
// environment are for other waits.
func refuseHTTP(l *argv.Line, why string) error {
	for _, g := range l.Given {
		if isOfHTTP(l, g.Flag) && g.Typed() && !g.Off() {
			return argv.Usagef("%s %s", g.Origin, why)
		}
	}
	return nil
}

// killAfter is the variable that tells a command how long after TERM it is killed.
const killAfter = "POLL_KILL_AFTER"

// nest returns what prepares commands for running under another poll, and for running one
// themselves. Both polls stop what they run at the same moment. If the outer one killed
// first, the command of the inner one, which has its own process group, would be
// left running.
func nest(ctx context.Context, world World, grace time.Duration) *poll.Command {
	c := &poll.Command{Hurry: world.Hurry}
	grace = max(grace, 0)
	outer, err := time.ParseDuration(world.getenv(killAfter))
	nested := err == nil && outer >= 0
	if nested {
		grace = min(grace, outer-outer/4)
	}
	if nested || world.Hurry != nil {
		c.Hurry = hurried(ctx, world.Hurry, nested, grace)
	}
	c.Env = append(os.Environ(), killAfter+"="+grace.String())
	return c
}

// hurried returns what hurries the end of a command: a value when hurry is closed,
// and its own close soon after. Under another poll it also closes when the grace
// has passed since the end of ctx. Of several commands one gets the value.
func hurried(ctx context.Context, hurry <-chan struct{}, nested bool, grace time.Duration) <-chan struct{} {
	sooner := make(chan struct{}, 1)
	go func() {
		defer close(sooner)
		var ended <-chan struct{}
		if nested {
			ended = ctx.Done()
		}
		select {
		case <-hurry:
		case <-ended:
			select {
			case <-hurry:
			case <-time.After(grace):
				return
			}
		}
		sooner <- struct{}{}
		time.Sleep(hurriedGrace(grace))
	}()
	return sooner
}

// hurriedGrace is the time between the second TERM and KILL: 0.2 s for the default
// grace, and always less than 0.6 s. It is shorter for a shorter grace, so that a
// poll under another has killed its own command before it is killed itself.
func hurriedGrace(grace time.Duration) time.Duration {
	const most, half = 600 * time.Millisecond, 4 * time.Second
	return time.Duration(float64(most) * float64(grace) / float64(grace+half))
}
