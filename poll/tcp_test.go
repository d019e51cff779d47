package poll

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/status"
)

func TestTCP(t *testing.T) {
	for want, dial := range map[string]func(context.Context) (net.Conn, error){
		"":                   func(context.Context) (net.Conn, error) { return &net.TCPConn{}, nil },
		"connection refused": func(context.Context) (net.Conn, error) { return nil, syscall.ECONNREFUSED },
		"no route to host": func(context.Context) (net.Conn, error) {
			return nil, errors.Join(syscall.ECONNREFUSED, syscall.EHOSTUNREACH)
		},
		"timed out after 5s without a connection": func(ctx context.Context) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Second, ErrAttemptTimeout)
			defer cancel()
			probe := TCP{Address: "db:5432", Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}
			o := probe.Check(ctx, Attempt{Number: 1})
			if o.Kind != status.KindTCP || o.Good() != (want == "") {
				t.Fatalf("have %+v", o)
			}
			if f := o.Failure; f != nil && (f.Kind != status.FailureTransient || f.Reason != want) {
				t.Errorf("have %+v, want %s", f, want)
			}
		})
	}
}

func TestTCPCheck(t *testing.T) {
	for _, test := range []struct {
		address string
		ok      bool
	}{
		{"db:5432", true}, {"[::1]:80", true}, {"db:https", true},
		{"db", false}, {":80", false}, {"db:", false}, {"db:99999", false}, {"db:nope", false}, {"", false},
		{"bücher.test:80", false}, {"xn--bcher-kva.test:80", true},
	} {
		if err := (TCP{Address: test.address}).Plan().Invalid; (err == nil) != test.ok {
			t.Errorf("%q: %v", test.address, err)
		}
	}
}
