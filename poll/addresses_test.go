package poll_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A zone has the responses of a name server to the two types of queries for a name.
type zone map[dnsmessage.Type]reply

type reply struct {
	code dnsmessage.RCode
	body dnsmessage.ResourceBody // nil for no data
}

// resolver returns a resolver whose name server is on the loopback interface, and has the same zone for
// every name.
func resolver(t *testing.T, z zone) *net.Resolver {
	server := must(net.ListenPacket("udp", "127.0.0.1:0"))
	t.Cleanup(func() { server.Close() })
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil {
				continue
			}
			r := z[m.Questions[0].Type]
			m.Response, m.RecursionAvailable, m.RCode, m.Additionals = true, true, r.code, nil
			if r.body != nil {
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Class: dnsmessage.ClassINET}, Body: r.body}}
			}
			packed, _ := m.Pack()
			server.WriteTo(packed, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// TestAddresses connects to a name whose addresses, or whose queries, end in different ways. It is not
// parallel to others, since it replaces the resolver of the program.
func TestAddresses(t *testing.T) {
	ordinary := net.DefaultResolver
	defer func() { net.DefaultResolver = ordinary }()
	open := must(net.Listen("tcp", "127.0.0.1:0"))
	defer open.Close()
	go http.Serve(open, http.NotFoundHandler())
	_, port, _ := net.SplitHostPort(open.Addr().String())
	loopback := reply{body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}}
	loopback6 := reply{body: &dnsmessage.AAAAResource{AAAA: [16]byte{15: 1}}}
	// A link-local address without a zone leads nowhere, so nothing is sent there.
	nowhere := reply{body: &dnsmessage.AAAAResource{AAAA: [16]byte{0: 0xfe, 1: 0x80, 15: 1}}}
	missing := reply{code: dnsmessage.RCodeNameError}
	for name, test := range map[string]struct {
		a, aaaa       reply
		port          string
		class, reason string // neither for a connection
	}{
		"both refuse":      {loopback, loopback6, "1", "refused", "connection refused"},
		"one refuses":      {loopback, nowhere, "1", "", "[fe80::1]:1: "},
		"one listens":      {loopback, nowhere, port, "", ""},
		"no such name":     {missing, missing, "1", "dns", "no such host x.test."},
		"no data":          {reply{}, reply{}, "1", "dns", "no such host x.test."},
		"one query fails":  {reply{code: dnsmessage.RCodeServerFailure}, reply{}, "1", "", "cannot look up x.test."},
		"one is forbidden": {reply{code: dnsmessage.RCodeRefused}, reply{}, "1", "", "cannot look up x.test."},
	} {
		net.DefaultResolver = resolver(t, zone{dnsmessage.TypeA: test.a, dnsmessage.TypeAAAA: test.aaaa})
		address := "x.test.:" + test.port
		for _, probe := range []poll.Probe{poll.TCP{Address: address}, poll.HTTP{URL: "http://" + address, Transport: &http.Transport{DisableKeepAlives: true}}} {
			for range 8 { // which of two responses comes first is chance
				failure := probe.Check(t.Context(), poll.Attempt{Number: 1}).Failure
				if failure == nil {
					failure = &status.Failure{}
				}
				isSame := failure.Reason == test.reason || test.class+test.reason != "" && strings.HasPrefix(failure.Reason, test.reason)
				if failure.Class != test.class || !isSame {
					t.Errorf("%s, %T: have %q: %s", name, probe, failure.Class, failure.Reason)
					break
				}
			}
		}
	}
}

// Check changes no probe: the configured probe starts the operation anew, and a probe at a position repeats its
// request, also from several goroutines. All of them share the connection.
func TestProbesAreValues(t *testing.T) {
	var mu sync.Mutex
	var sent []string
	start := poll.HTTP{URL: "https://api.example.com/jobs", Method: "POST", Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, strings.TrimSpace(r.Method+r.URL.Path+" "+r.Header.Get("Cookie")))
		header := http.Header{"Location": {"/jobs/1"}, "Set-Cookie": {"sid=1; Path=/"}}
		return &http.Response{StatusCode: 202, Header: header, Body: http.NoBody, Request: r}, nil
	})}
	first := start.Check(t.Context(), poll.Attempt{Number: 1})
	again := start.Check(t.Context(), poll.Attempt{Number: 1})
	if !start.Plan().Once || first.Next.Plan().Once || again.Next.Plan().Once || first.Next.Plan().Origin != "https://api.example.com:443" {
		t.Errorf("plans %+v, %+v", start.Plan(), first.Next.Plan())
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { first.Next.Check(t.Context(), poll.Attempt{Number: 2}) })
	}
	all.Wait()
	resumed := must(start.Plan().Resume(first.Position))
	resumed.Check(t.Context(), poll.Attempt{Number: 2})
	want := []string{"POST/jobs", "POST/jobs", "GET/jobs/1 sid=1", "GET/jobs/1 sid=1", "GET/jobs/1 sid=1", "GET/jobs/1 sid=1"}
	if !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}

// A position of another request, or of an unknown kind, is an error.
func TestPositionsThatMakeNoSense(t *testing.T) {
	start := poll.HTTP{URL: "https://api.example.com/jobs", Method: "POST"}
	pass := func(ctx context.Context, a poll.Attempt, next func(context.Context, poll.Attempt) status.Observation) status.Observation {
		return next(ctx, a)
	}
	for position, want := range map[string]string{
		`{"phase":"given"}`: "another request",
		`{"phase":"dance"}`: "another request, or unknown",
		`{}`:                "another request, or unknown",
		`{"phase":"follow","at":{"url":"https://api.example.com/jobs/1"},"monitor":200}`: "of an unknown kind, 200",
		`{"phase":"follow","at":{"url":"ftp://api.example.com/"}}`:                       "neither http nor https",
		`{"phase":"follow","at":{"url":":"}}`:                                            "cannot be read",
		`[]`:                                                                             "cannot be read",
	} {
		for name, p := range map[string]poll.Probe{"HTTP": start, "wrapped": poll.Wrap(start, pass)} {
			if _, err := p.Plan().Resume(json.RawMessage(position)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: %v, want %q", name, position, err, want)
			}
			state := poll.State{}
			if err := json.Unmarshal(fmt.Appendf(nil, `{"v":3,"attempts":1,"position":%s}`, position), &state); err != nil {
				t.Fatal(err)
			}
			if o, err := (&poll.Poller{Probe: p, Past: &state}).Run(t.Context()); err == nil || o.Ending != poll.Failed || !strings.Contains(o.Reason, want) {
				t.Errorf("%s, %s: %+v, %v", name, position, o.Reason, err)
			}
		}
	}
}
