package exchange

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/pollcli/poll/status"
)

// A dial notes how far an attempt to connect gets, where a context holds it by its key.
// The connection may be opened on another goroutine, and after the request has ended.
type dial struct {
	mu       sync.Mutex
	began    time.Time
	named    bool      // there is a name to look up
	resolved time.Time // the name, or the first of the addresses was tried
	opened   time.Time // the connection
	asked    time.Time // a proxy was asked to connect
	passed   time.Time // it has answered
}

type dialKey struct{}

// note sets a time of the dial of ctx that is not set yet, if there is one.
func note(ctx context.Context, which func(*dial) *time.Time) {
	d, ok := ctx.Value(dialKey{}).(*dial)
	if !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if at := which(d); at.IsZero() {
		*at = time.Now()
	}
}

// DialFunc connects, as the DialContext of a [net.Dialer] does.
type DialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// ObserveDial makes d note when the name of a host is resolved.
func ObserveDial(d *net.Dialer) {
	d.ControlContext = func(ctx context.Context, _, _ string, _ syscall.RawConn) error {
		note(ctx, func(d *dial) *time.Time { return &d.resolved })
		return nil
	}
}

// TimeDial returns connect, which notes when it begins and ends.
func TimeDial(connect DialFunc) DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		note(ctx, func(d *dial) *time.Time {
			host, _, _ := net.SplitHostPort(address)
			_, err := netip.ParseAddr(host)
			d.named = d.named || err != nil && network != "unix"
			return &d.began
		})
		conn, err := connect(ctx, network, address)
		if err == nil {
			note(ctx, func(d *dial) *time.Time { return &d.opened })
		}
		return conn, err
	}
}

// WithDial returns a context that connections are noted in, and what says how far they got
// until now.
func WithDial(ctx context.Context) (context.Context, func() status.Stages) {
	d := new(dial)
	return context.WithValue(ctx, dialKey{}, d), func() status.Stages {
		s, _ := d.stages(time.Now())
		return s
	}
}

// stages returns how far the dial got until end, and when the last of its stages ended. A
// stage that did not is Unfinished.
func (d *dial) stages(end time.Time) (s status.Stages, last time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	last = d.began
	if d.began.IsZero() {
		return s, last
	}
	step := func(stage status.Stage, ended time.Time) (on bool) {
		s.Unfinished = ended.IsZero()
		if s.Unfinished {
			ended = end
		}
		s.Note(stage, last, ended)
		last = ended
		return !s.Unfinished
	}
	if d.named && !step(status.StageName, d.resolved) || !step(status.StageConnect, d.opened) {
		return s, last
	}
	if !d.asked.IsZero() {
		step(status.StageProxy, d.passed)
	}
	return s, last
}

// stages returns how far the request got that ended with an answer at end, or without one.
func (d *delivery) stages(sent, end time.Time, answered, encrypted bool) (s status.Stages) {
	d.mu.Lock()
	opened, reused, dial := d.opened, d.reused, d.dial
	d.mu.Unlock()
	switch {
	case opened.IsZero() && answered: // the transport calls no hooks
		opened = sent
	case reused:
		s.Reused = true
	case dial != nil:
		var last time.Time
		s, last = dial.stages(end)
		switch _, dialed := s.Last(); {
		case !dialed || s.Unfinished:
		case encrypted && opened.IsZero():
			s.Note(status.StageTLS, last, end)
			s.Unfinished = true
		case encrypted:
			s.Note(status.StageTLS, last, opened)
		}
	}
	if !opened.IsZero() {
		s.Note(status.StageAnswer, opened, end)
		s.Unfinished = !answered
	}
	return s
}
