package exchange

import (
	"errors"
	"net"
	"net/http/httptrace"
	"strings"
	"testing"
)

// A closable connection notes that it was closed.
type closable struct {
	net.Conn
	closed bool
}

func (c *closable) Close() error { c.closed = true; return nil }

// TestDelivery plays what a transport does with a request: it asks for a
// connection, and is given a new one, one that was in use before, or the same again.
func TestDelivery(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		events string
		again  plainError
		err    string // of the transport
		left   bool
	}{
		{events: "ask"},
		{events: "ask new", left: true},
		{events: "ask new wrote", left: true},
		{events: "ask ask new wrote", left: true},
		{events: "ask ask ask", again: afterGoAway},
		{events: "ask new ask", again: afterGoAway},
		{events: "ask used ask new wrote", left: true},
		{events: "ask used ask ask new", left: true},
		{events: "ask used ask ask ask", again: afterGoAway},
		{events: "ask used ask used wrote ask", again: afterClose, left: true},
		{events: "ask used wrote ask new", again: afterClose, left: true},
		{events: "ask new wrote ask", again: afterEither, left: true},
		{events: "ask new wrote ask same", again: afterRefusal},
		{events: "ask new wrote ask same ask", again: afterRefusal},
		{events: "ask new wrote answer ask new wrote", left: true},
		{events: "ask new wrote answer", err: "REFUSED_STREAM; received from peer", left: true},
		{events: "ask new wrote", err: "REFUSED_STREAM; received from peer"},
		{events: "ask new wrote", err: "PROTOCOL_ERROR; received from peer", left: true},
		{events: "ask new wrote", err: "GOAWAY and closed the connection; LastStreamID=0, ErrCode=NO_ERROR"},
		{events: "ask new wrote", err: "GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR", left: true},
		{events: "ask new wrote answer 1xx ask", again: afterEither, left: true},
		{events: "", left: true},
	} {
		stops := 0
		ctx, d := deliver(t.Context())
		d.stop = func(error) { stops++ }
		hooks := httptrace.ContextClientTrace(ctx)
		var conn *closable
		for event := range strings.FieldsSeq(test.events) {
			switch event {
			case "ask":
				hooks.GetConn("")
			case "new", "used":
				conn = &closable{}
				hooks.GotConn(httptrace.GotConnInfo{Conn: conn, Reused: event == "used"})
			case "same":
				hooks.GotConn(httptrace.GotConnInfo{Conn: conn, Reused: true})
			case "wrote":
				hooks.WroteHeaders()
			case "answer":
				hooks.GotFirstResponseByte()
			case "1xx":
				hooks.Got1xxResponse(103, nil)
			}
		}
		if d.again != test.again || (stops == 1) != (test.again != "") {
			t.Errorf("%s: stopped %d times, %q, want %q", test.events, stops, d.again, test.again)
		}
		if e := d.failed(errors.New(test.err)); e.left != test.left {
			t.Errorf("%s, %q: left is %t", test.events, test.err, e.left)
		}
		stray := test.again == afterClose && strings.HasSuffix(test.events, "new")
		if conn != nil && conn.closed != stray {
			t.Errorf("%s: the last connection is closed: %t", test.events, conn.closed)
		}
	}
}
