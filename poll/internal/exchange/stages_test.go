package exchange

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/status"
)

// A slowServer is reached after some time for each stage, or never. Its pipe replaces the
// network.
type slowServer struct {
	resolve, connect, answer time.Duration
	refuses                  bool
	answers                  string // what it writes for each request, "" for nothing
}

const endless = 100 * time.Hour

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (s slowServer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var dialer net.Dialer
	ObserveDial(&dialer)
	if err := pause(ctx, s.resolve); err != nil {
		return nil, err
	}
	if err := dialer.ControlContext(ctx, network, address, nil); err != nil {
		return nil, err
	}
	if err := pause(ctx, s.connect); err != nil {
		return nil, err
	}
	if s.refuses {
		return nil, errors.New("refused")
	}
	here, there := net.Pipe()
	go s.serve(there)
	return here, nil
}

func (s slowServer) serve(conn net.Conn) {
	defer conn.Close()
	for r := bufio.NewReader(conn); ; {
		if strings.HasPrefix(s.answers, "HTTP") {
			if _, err := http.ReadRequest(r); err != nil {
				return
			}
		} else if _, err := r.ReadByte(); err != nil {
			return
		} else if s.answers == "" {
			continue
		}
		time.Sleep(s.answer)
		if _, err := conn.Write([]byte(s.answers)); err != nil {
			return
		}
	}
}

// told is what stages say, in short.
func told(s status.Stages) string {
	var parts []string
	if s.Reused {
		parts = append(parts, "reused")
	}
	for i, name := range []string{"name", "connect", "proxy", "tls", "answer", "body"} {
		if took := s.Took[i]; took > 0 {
			parts = append(parts, fmt.Sprint(name, " ", took))
		}
	}
	if s.Unfinished {
		parts = append(parts, "unfinished")
	}
	return strings.Join(parts, ", ")
}

func TestStages(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	whole := "HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno"
	for name, test := range map[string]struct {
		server slowServer
		url    string // http://name/ if it is ""
		proxy  string
		want   []string // for each attempt
	}{
		"an answer": {server: slowServer{resolve: 2 * ms, connect: 3 * ms, answer: 40 * ms, answers: whole},
			want: []string{"name 2ms, connect 3ms, answer 40ms", "reused, answer 40ms"}},
		"an address": {server: slowServer{connect: 3 * ms, answer: 40 * ms, answers: whole}, url: "http://127.0.0.1/",
			want: []string{"connect 3ms, answer 40ms"}},
		"a name that takes long": {server: slowServer{resolve: endless}, want: []string{"name 30s, unfinished"}},
		"a connection that takes long": {server: slowServer{resolve: 2 * ms, connect: endless},
			want: []string{"name 2ms, connect 29.998s, unfinished"}},
		"a refusal": {server: slowServer{resolve: 2 * ms, connect: 3 * ms, refuses: true},
			want: []string{"name 2ms, connect 3ms, unfinished"}},
		"no TLS": {server: slowServer{resolve: 2 * ms, connect: 3 * ms}, url: "https://name/",
			want: []string{"name 2ms, connect 3ms, tls 29.995s, unfinished"}},
		"no answer": {server: slowServer{resolve: 2 * ms, connect: 3 * ms, answer: endless, answers: whole},
			want: []string{"name 2ms, connect 3ms, answer 29.995s, unfinished"}},
		"half an answer": {server: slowServer{resolve: 2 * ms, connect: 3 * ms, answer: 40 * ms, answers: whole[:len(whole)-1]},
			want: []string{"name 2ms, connect 3ms, answer 40ms, body 29.955s, unfinished"}},
		"no answer of a proxy": {server: slowServer{resolve: 2 * ms, connect: 3 * ms, answer: endless, answers: whole},
			url: "https://name/", proxy: "http://proxy", want: []string{"name 2ms, connect 3ms, proxy 29.995s, unfinished"}},
		"a proxy, and broken TLS": {server: slowServer{connect: 3 * ms, answer: 5 * ms, answers: "HTTP/1.1 200 OK\r\n\r\n"},
			url: "https://name/", proxy: "http://10.0.0.1", want: []string{"connect 3ms, proxy 5ms, tls 1ns, unfinished"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				transport := &http.Transport{DialContext: TimeDial(test.server.dial)}
				if test.proxy != "" {
					transport.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(test.proxy) }
				}
				ObserveProxy(transport)
				defer transport.CloseIdleConnections()
				if test.url == "" {
					test.url = "http://name/"
				}
				session, err := NewSession(Request{URL: test.url, Transport: transport})
				if err != nil {
					t.Fatal(err)
				}
				for i, want := range test.want {
					ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
					o := session.Look(ctx, false)
					cancel()
					if have := told(o.Stages); have != want {
						t.Errorf("attempt %d: have %s\nwant %s", i+1, have, want)
					}
				}
				time.Sleep(2 * endless) // whatever is still under way ends
			})
		})
	}
}

// The stages of a redirected request are those of the last one.
func TestStages_redirected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		session, err := NewSession(Request{URL: "http://name/", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if n++; n == 1 {
				time.Sleep(time.Hour)
				return &http.Response{StatusCode: 302, Header: http.Header{"Location": {"/there"}}, Body: http.NoBody}, nil
			}
			time.Sleep(time.Second)
			return &http.Response{StatusCode: 503, Body: http.NoBody}, nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		if have := told(session.Look(t.Context(), false).Stages); have != "answer 1s" {
			t.Errorf("have %s", have)
		}
	})
}

// An answer that is confirmed has the stages of the request that confirmed it.
func TestStages_notModified(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		code := 200
		session, err := NewSession(Request{URL: "http://name/", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			time.Sleep(time.Duration(code) * time.Second)
			return &http.Response{StatusCode: code, Header: http.Header{"Etag": {`"1"`}}, Body: http.NoBody}, nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		for ; code <= 304; code += 104 {
			o := session.Look(t.Context(), false)
			if want := fmt.Sprint("answer ", time.Duration(code)*time.Second); told(o.Stages) != want || o.NotModified != (code == 304) {
				t.Errorf("have %s, %t, want %s", told(o.Stages), o.NotModified, want)
			}
		}
	})
}

func TestWithDial(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stages := WithDial(t.Context())
		failing := TimeDial(slowServer{resolve: time.Second, connect: time.Second, refuses: true}.dial)
		if _, err := failing(ctx, "tcp", "name:1"); err == nil {
			t.Fatal("have a connection")
		}
		conn, err := TimeDial(slowServer{resolve: time.Second, connect: time.Minute}.dial)(ctx, "tcp", "name:1")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		time.Sleep(time.Hour)
		if have := told(stages()); have != "name 1s, connect 1m2s" {
			t.Errorf("have %s", have)
		}
	})
}
