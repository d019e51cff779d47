package poll

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/status"
)

func TestTCPConnects(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	o := TCP{Address: listener.Addr().String()}.Probe(t.Context(), Attempt{})
	if o.Failure != nil || o.Kind != status.KindTCP || !o.Good() {
		t.Errorf("have %+v", o)
	}
}

func TestTCPTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Second, ErrAttemptTimeout)
		defer cancel()
		o := TCP{Address: "db:5432", Dial: hang}.Probe(ctx, Attempt{Number: 1})
		if o.Failure == nil || o.Failure.Kind != status.FailureTransient || o.Failure.Reason != "timed out after 5s without a connection" {
			t.Errorf("have %+v", o.Failure)
		}
	})
}

func TestTCPCheck(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		address string
		ok      bool
	}{
		{"db:5432", true}, {"[::1]:80", true}, {"db:https", true},
		{"db", false}, {":80", false}, {"db:", false}, {"db:99999", false}, {"db:nope", false}, {"", false},
	} {
		if err := (TCP{Address: test.address}).Check(); (err == nil) != test.ok {
			t.Errorf("%q: %v", test.address, err)
		}
	}
}
