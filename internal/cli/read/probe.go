package read

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

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
	if probe.Header, probe.Refresh, err = ReadHeaders(s.Line, r.process, s.Header, s.Bearer, strings.Join(s.Cookie, "; ")); err != nil {
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

// readBody sets the body of probe from the parts of -d, joined by "&". A JSON object or array gets the content
// type application/json, unless -H sets a type.
func (r *Reader) readBody(s *Run, probe *poll.HTTP) error {
	var parts [][]byte
	for _, p := range s.Data {
		text, err := p.read(s, r.process)
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
