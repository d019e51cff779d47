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

// readProbe sets the probe of a target, without its URL or command.
func (r *Reader) readProbe(t *Target) (err error) {
	switch t.Kind {
	case status.KindCommand:
		t.Poller.Probe, err = r.readCommand(t.Run)
	case status.KindHTTP:
		t.Poller.Probe, err = r.readHTTP(t.Run)
	}
	return err
}

// setRequest sets the URL or the command of a target from its entry.
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

// readHTTP returns the request of the flags, except the password of a host.
func (r *Reader) readHTTP(s *Run) (probe *poll.HTTP, err error) {
	made := s.HTTP
	probe = &made
	probe.LookupEnv = s.LookupEnv
	if s.Gone && probe.Follow == "" && probe.Method != "" && !strings.EqualFold(probe.Method, "POST") {
		probe.Follow = "self" // what it deletes; a POST is to a collection, or an action
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

// checkRequest checks a request. Its error names --next or --follow if that flag is wrong.
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
	defaultAttempt = 30 * time.Second // but of a command, which has none
	DefaultGrace   = 2 * time.Second
)

// readConnection reads how to connect.
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

// boundIdle has a transport close all idle connections, those of the other transports included, once in so many
// new connections. Idle connections to many hosts would otherwise use up the files that a process can have open.
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

// readBody reads the body. JSON is sent as such unless -H names another type.
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

// readCommand returns the command of the flags, without its arguments.
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

// KillAfter is the variable that tells a command how long after TERM it is killed.
const KillAfter = "POLL_KILL_AFTER"

// nestedCommand returns the settings of commands that may run under another poll, or may run one. If the
// outer poll killed first, the command of the inner one, which has its own process group, would be left running.
func nestedCommand(process Env, grace time.Duration) *poll.Command {
	if outer, err := time.ParseDuration(process.Getenv(KillAfter)); err == nil && outer >= 0 {
		grace = min(grace, outer-outer/4)
	}
	return &poll.Command{
		Grace: cmp.Or(grace, -1),
		Env:   append(os.Environ(), KillAfter+"="+grace.String()),
	}
}
