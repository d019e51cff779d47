package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// readProbe reads what the flags say of a probe of that kind, but not yet what it looks
// at.
func (r *targetReader) readProbe(s *Spec, kind status.Kind) (t target, err error) {
	t.kind = kind
	if kind == status.KindCommand {
		t.command, err = r.readCommand(s)
	} else if kind == status.KindHTTP {
		t.http, err = r.readHTTP(s)
	}
	return t, err
}

// aim makes a target look at what the operands name.
func (r *targetReader) aim(s *Spec, t *target, operands []string) error {
	switch t.kind {
	case status.KindCommand:
		return r.aimCommand(s, t, operands)
	case status.KindTCP:
		return r.aimTCP(t, operands[0])
	}
	return r.aimHTTP(s, t, operands[0])
}

func (r *targetReader) aimTCP(t *target, address string) error {
	if err := refuseURL(address); err != nil {
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
func (r *targetReader) readHTTP(s *Spec) (*poll.HTTP, error) {
	probe := &poll.HTTP{
		Method:          s.Request,
		MaxBody:         s.MaxBody,
		Bodies:          r.bodies,
		MaxRedirects:    s.maxRedirects(),
		NoConditional:   s.NoConditional,
		LocationTrusted: s.LocationTrusted,
		Follow:          s.Follow,
		FollowEach:      s.followsEach(),
		LookupEnv:       s.LookupEnv,
	}
	if s.Gone && s.Follow == "" && s.Request != "" && !strings.EqualFold(probe.Method, "POST") {
		probe.Follow = "self" // what it deletes; a POST is to a collection, or an action
	}
	if s.Each != "" {
		probe.Next = cmp.Or(s.Next, "auto")
	}
	var err error
	if probe.Header, probe.Refresh, err = s.renewedHeaders(r.world); err != nil {
		return nil, err
	}
	for _, step := range []func(*poll.HTTP, *Spec) error{r.readBody, readUser, r.readConnection} {
		if err := step(probe, s); err != nil {
			return nil, err
		}
	}
	return probe, nil
}

// aimHTTP makes a target request a URL. The check of the request is about the URL, and then
// about --follow.
func (r *targetReader) aimHTTP(s *Spec, t *target, address string) error {
	if err := refuseURL(address); err != nil {
		return err
	}
	probe := t.http
	probe.URL = address
	if err := r.readPassword(s, probe); err != nil {
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
		return badExpression(s.Origin("next"), err)
	}
	plain.Follow, plain.FollowEach = "", false
	if wrong := plain.Check(); wrong != nil {
		return argv.Usagef("%w", wrong)
	}
	return badExpression(s.Origin("follow"), err)
}

// maxRedirects converts curl's number (0 = none, -1 = unlimited) to the probe's.
func (s *Spec) maxRedirects() int {
	switch s.MaxRedirs {
	case 0:
		return poll.NoRedirects
	case -1:
		return math.MaxInt
	}
	return s.MaxRedirs
}

// A connection is what requests have in common that connect alike.
type connection struct {
	transport *http.Transport
	through   string // with --share, what tells it from others
}

// readConnection reads how to connect.
func (r *targetReader) readConnection(probe *poll.HTTP, s *Spec) error {
	connect := poll.Connect{
		Insecure: s.Insecure, CACert: s.CACert, Cert: s.Cert, Key: s.Key,
		UnixSocket: s.UnixSocket, Proxy: s.Proxy, Routes: s.Routes,
	}
	name := fmt.Sprintf("%#v", connect)
	made, known := r.connections[name]
	if !known {
		transport, err := connect.Transport()
		if err != nil {
			return argv.Usagef("%w", err)
		}
		transport.MaxIdleConnsPerHost = max(transport.MaxIdleConnsPerHost, r.perHost)
		made.transport = transport
		if s.Share != "" {
			made.through = connect.Through()
		}
		put(&r.connections, name, made)
	}
	probe.Transport, probe.Through = made.transport, made.through
	return nil
}

// readUser reads -u, and -A. Errors do not repeat what is in it.
func readUser(probe *poll.HTTP, s *Spec) error {
	if s.UserAgent != nil {
		probe.Header.Set("User-Agent", *s.UserAgent)
	}
	if s.User == "" {
		return nil
	}
	name, password, ok := strings.Cut(s.User, ":")
	if !ok {
		return argv.Usagef("%s needs a colon, USER:PASS, since poll does not ask for a password", s.Origin("user"))
	}
	probe.User = url.UserPassword(name, password)
	return nil
}

// readBody reads the body. JSON is sent as such unless -H names another type.
func (r *targetReader) readBody(probe *poll.HTTP, s *Spec) error {
	var parts [][]byte
	for _, p := range s.Data {
		text, err := p.read(s, r.world)
		if err != nil {
			return err
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
		return argv.Usagef("a header needs a colon: 'Name: value'").Hint("a token that a file has is sent by --oauth2-bearer @FILE")
	case key == "Authorization" && slices.Contains([]string{"Bearer", "Basic", "Token"}, value):
		return argv.Usagef("the header Authorization has nothing after %s", value).Hint("is a variable of the shell not set?")
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
func (r *targetReader) readCommand(s *Spec) (*poll.Command, error) {
	c := &poll.Command{
		Foreground: s.Foreground,
		MaxBody:    s.MaxBody,
		Bodies:     r.bodies,
		// As process 1 of a container. One that reaps for one target would reap the
		// programs of others.
		ReapOrphans: os.Getpid() == 1 && !r.several,
	}
	if r.nested == nil {
		r.nested = nest(r.world, r.grace)
	}
	c.Grace, c.Hurry, c.Env = r.nested.Grace, r.nested.Hurry, r.nested.Env
	if s.Stdin {
		input, err := r.world.readFile("-", maxInput)
		if err != nil {
			return nil, fmt.Errorf("read stdin: %w", err)
		}
		c.Stdin = append([]byte{}, input...)
	}
	return c, nil
}

// aimCommand makes a target run a program.
func (r *targetReader) aimCommand(s *Spec, t *target, args []string) error {
	t.command.Args = args
	t.poller.Probe = t.command
	// On Windows it may be a batch file, which the arguments have to be fit for.
	if r.programs[args[0]] && runtime.GOOS != "windows" {
		return nil
	}
	var err error
	if t.missing, t.advice, err = r.world.checkProgram(*t.command); err == nil && t.missing == nil {
		put(&r.programs, args[0], true)
	}
	return err
}

// killAfter is the variable that tells a command how long after TERM it is killed.
const killAfter = "POLL_KILL_AFTER"

// nest returns what prepares commands for running under another poll, and for running one
// themselves: if the outer one killed first, the command of the inner one, which has its own
// process group, would be left running.
func nest(world World, grace time.Duration) *poll.Command {
	outer, err := time.ParseDuration(world.getenv(killAfter))
	if err == nil && outer >= 0 {
		grace = min(grace, outer-outer/4)
	}
	return &poll.Command{
		Grace: cmp.Or(grace, poll.NoGrace),
		Hurry: hurried(world.Hurry, grace),
		Env:   append(os.Environ(), killAfter+"="+grace.String()),
	}
}

// hurried returns what hurries the end of a command: a value when hurry is closed, and its own
// close soon after. Of several commands one gets the value.
func hurried(hurry <-chan struct{}, grace time.Duration) <-chan struct{} {
	if hurry == nil {
		return nil
	}
	sooner := make(chan struct{}, 1)
	go func() {
		<-hurry
		sooner <- struct{}{}
		time.Sleep(hurriedGrace(grace))
		close(sooner)
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
