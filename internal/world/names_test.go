package world

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http/httptrace"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// A naming is the resolver and the addresses of a name. In an outage some of them fail, while the server runs on.
type naming struct {
	Addresses []string      `json:",omitzero"` // how a connection to each of them ends in an outage: see refusals
	Queries   []string      `json:",omitzero"` // how queries for A and AAAA end in an outage: see codes; nil for an outage of the addresses
	From      time.Duration `json:",omitzero"` // when the outage begins
	For       time.Duration `json:",omitzero"`
	Off       bool          `json:",omitzero"` // the server is switched off when the operation is gone
	Routed    bool          `json:",omitzero"` // a command line names the addresses
}

// refusals are the ends of connections; a server that is switched off does not accept them.
var refusals = map[string]error{"refuse": syscall.ECONNREFUSED, "no route": syscall.EHOSTUNREACH, "no net": syscall.ENETUNREACH, "hang": os.ErrDeadlineExceeded}

// codes are the ends of queries. "no data" and "missing" say that there is no address.
var codes = map[string]dnsmessage.RCode{"no data": dnsmessage.RCodeSuccess, "missing": dnsmessage.RCodeNameError, "failure": dnsmessage.RCodeServerFailure, "refused": dnsmessage.RCodeRefused}

// drawNaming draws a naming for a server that is waited for to be gone.
func (p *plan) drawNaming(r *rand.Rand) {
	n := &naming{From: drawn(r, 0, 10*time.Second), For: drawn(r, time.Second, 30*time.Second), Off: r.IntN(2) == 0, Routed: p.isLine() && p.Probe == "" && r.IntN(2) == 0}
	for range 2 + r.IntN(2) {
		n.Addresses = append(n.Addresses, pick(r, "refuse", "refuse", "no route", "no net", "hang"))
	}
	if !n.Routed && r.IntN(2) == 0 {
		n.Queries = []string{pick(r, sorted(codes)...), pick(r, sorted(codes)...)}
	}
	if p.Names = n; !p.hasNaming() {
		p.Names = nil
		return
	}
	p.Faults = slices.DeleteFunc(p.Faults, func(f fault) bool { return f.Key == "dial" })
}

// hasNaming reports whether Names fits the plan. Nobody may conclude from its outage that the server is gone.
func (p *plan) hasNaming() bool {
	n := p.Names
	isAlone := p.Gone && len(p.Ops) == 1 && p.Ops[0].Method == "" && p.Cache == nil && !p.HTTP2
	isOther := func(name string) bool { return name != "refuse" }
	isFailure := func(name string) bool { return name == "failure" || name == "refused" }
	isUnclear := slices.ContainsFunc(n.Addresses, isOther) && n.Queries == nil || len(n.Queries) == 2 && slices.ContainsFunc(n.Queries, isFailure)
	return isAlone && isUnclear && !(n.Routed && (n.Queries != nil || p.Probe != "" || !p.isLine()))
}

// address returns the nth address of a server, from 1.
func address(n int) string { return "192.0.2." + strconv.Itoa(n) }

// routes returns the value of --resolve.
func (p *plan) routes() string {
	var all []string
	for i := range p.Names.Addresses {
		all = append(all, address(i+1))
	}
	return home + ":" + strings.Join(all, ",")
}

// isOut reports whether there is an outage. isOff reports whether the server is switched off.
func (w *world) isOut() bool {
	age := time.Since(w.began)
	return w.Names != nil && age >= w.Names.From && age < w.Names.From+w.Names.For
}

func (w *world) isOff() bool {
	return w.Names != nil && w.Names.Off && w.lives[0].state(time.Now()) == gone
}

// find looks up a name and tries its addresses as a [net.Dialer] does. It calls the hooks of ctx with each error,
// and returns the first error, or nil if the server accepts the connection.
func (p *process) find(ctx context.Context, to string) error {
	host, port, _ := net.SplitHostPort(to)
	trace := httptrace.ContextClientTrace(ctx)
	out, off := p.isOut(), p.isOff()
	if p.Names == nil || !out && !off {
		return nil
	}
	p.mu.Lock()
	n, _ := p.count("name")
	p.troubled = time.Now()
	p.saw["outage"], p.saw["server off"] = p.saw["outage"] || out, p.saw["server off"] || off
	p.tell("connect to %s: out %v, off %v", to, out, off)
	if p.dead {
		p.mu.Unlock()
		return os.ErrClosed
	}
	p.mu.Unlock()
	if out && p.Names.Queries != nil {
		err := &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		first := p.Names.Queries[p.dice("name", n).IntN(2)] // the query that ends first decides
		if first == "failure" || first == "refused" {
			err = &net.DNSError{Err: "server misbehaving", Name: host, IsTemporary: true}
		}
		if trace != nil && trace.DNSDone != nil {
			trace.DNSDone(httptrace.DNSDoneInfo{Err: err})
		}
		return &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	var first error
	for i, how := range p.Names.Addresses {
		if at := address(i + 1); net.ParseIP(host) != nil && host != at {
			continue
		}
		if !out {
			how = "refuse"
		}
		if how == "hang" {
			left := 30 * time.Second
			if end, ok := ctx.Deadline(); ok {
				left = time.Until(end)
			}
			time.Sleep(left/time.Duration(len(p.Names.Addresses)-i) - time.Millisecond)
		}
		addr := &net.TCPAddr{IP: net.ParseIP(address(i + 1)), Port: must(strconv.Atoi(port))}
		err := &net.OpError{Op: "dial", Net: "tcp", Addr: addr, Err: os.NewSyscallError("connect", refusals[how])}
		if trace != nil && trace.ConnectDone != nil {
			trace.ConnectDone("tcp", addr.String(), err)
		}
		if first == nil {
			first = err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.troubled = time.Now()
	if now := time.Now(); !out && !p.dead { // nothing listens at any of them
		p.lives[0].seen = append(p.lives[0].seen, sighting{honest: true, at: now, told: now})
	}
	return first
}

// processKey is the key of a process in the context of its run.
type processKey struct{}

// init makes the queries of each run come to the world of that run.
func init() {
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		p, isOne := ctx.Value(processKey{}).(*process)
		if !isOne {
			return nil, os.ErrNotExist
		}
		go p.serveNames(theirs)
		return ours, nil
	}}
	net.DefaultResolver.LookupHost(context.Background(), "none.test") // makes the channel of package net outside all bubbles
}

// serveNames answers the queries of a connection to the resolver.
func (p *process) serveNames(c net.Conn) {
	defer c.Close()
	for {
		size, m := make([]byte, 2), dnsmessage.Message{}
		if _, err := io.ReadFull(c, size); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size))
		if _, err := io.ReadFull(c, query); err != nil || m.Unpack(query) != nil {
			return
		}
		m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
		q := m.Questions[0]
		switch isA := q.Type == dnsmessage.TypeA; {
		case p.isOut() && p.Names.Queries != nil:
			m.RCode = codes[p.Names.Queries[map[bool]int{false: 1}[isA]]]
		case isA:
			header := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}
			m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: [4]byte{192, 0, 2, 1}}}}
		}
		reply := must(m.Pack())
		c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
	}
}

// An operation is the subject of a wait: alone, or as an element of a list. Its state at each moment
// follows from the time of its start, and from its phases.
type operation struct {
	ID     int     `json:",omitzero"`
	Method string  `json:",omitzero"` // of the request that starts it; "" if it runs from the beginning
	Answer string  `json:",omitzero"` // how a server answers that request: see answers
	Style  int     `json:",omitzero"` // how its documents look
	API    string  `json:",omitzero"` // whose documents they are: see apis
	Phases []phase `json:",omitzero"`
}

// A phase begins so long after the start.
type phase struct {
	At    time.Duration `json:",omitzero"`
	State string        `json:",omitzero"`
}

// The states of which no document tells: a server says 404, and a list has no such element.
const (
	absent = "absent"
	gone   = "gone"
)

// life is the history of an operation.
type life struct {
	*operation
	starts  int  // processed
	again   int  // starts that were allowed, after the end of the start before
	told    bool // an answer has told of the end
	over    bool // a run has reported that end: another start is allowed
	loops   int  // redirects of the start to itself, in one run
	started time.Time
	flying  int    // starts that were sent and not answered
	excuse  string // why the wait for it may end in ERROR, "" if nothing says so
	seen    []sighting
	kept    int // of seen, what a later run of a command line knows
}

// running returns the life of an operation of the same ID that runs for ever.
func (w *world) running(l *life) *life {
	o := *l.operation
	o.Phases = []phase{{0, "running"}}
	return &life{operation: &o, started: w.began}
}

// A sighting is an answer about an operation.
type sighting struct {
	doc     string // the true state; "" if the operation was not there
	honest  bool   // and the answer said so, and was delivered whole
	at      time.Time
	told    time.Time // when it was delivered
	message bool      // of a stream
	cached  bool
}

// news returns the sightings without copies of a cache that are not newer than the sighting before.
func (l *life) news() []sighting {
	last := time.Time{}
	return slices.DeleteFunc(slices.Clone(l.seen), func(s sighting) bool {
		isOld := s.cached && !s.at.After(last)
		if !isOld {
			last = s.at
		}
		return isOld
	})
}

// state returns the state of the operation at a moment.
func (l *life) state(at time.Time) string {
	switch {
	case !l.started.IsZero():
	case l.Method == "DELETE":
		return "active"
	default:
		return absent
	}
	now := l.Phases[0].State
	for _, p := range l.Phases {
		if at.Sub(l.started) >= p.At {
			now = p.State
		}
	}
	return now
}

// hasEnded reports whether the operation is done, failed or gone at a moment, so that the same line may start another.
func (l *life) hasEnded(at time.Time) bool {
	return slices.Contains([]string{"done", "failed", gone}, l.state(at))
}

// docAt returns the document about an operation at a moment, "" if there is none.
func (l *life) docAt(at time.Time) string {
	state := l.state(at)
	if state == absent || state == gone {
		return ""
	}
	return l.doc(state, max(0, at.Sub(l.started)))
}

// Styles of a document: no object is inside another, and no member is there for the state alone.
const (
	bare  = 16
	terse = 32
)

var terseStates = map[string]string{
	"queued": `"message":"queued"`, "running": `"result":"running"`, "done": `"done":true,"result":"rID"`, "failed": `"result":"failed"`,
}

// doc returns the document about an operation in a state, of the age given.
func (o *operation) doc(state string, age time.Duration) string {
	conclusion, finished, failure, progress := "null", "null", "null", int(age/time.Second)%90
	switch state {
	case "done":
		conclusion, finished, progress = `"success"`, `"2026-01-01T00:00:00Z"`, 100
	case "failed":
		conclusion, finished, failure = `"failure"`, `"2026-01-01T00:00:00Z"`, `{"code":7}`
	}
	if o.API != "" {
		return fmt.Sprintf(`{"id":%d,%s,"result":"r%d","age":%d}`, o.ID, apis[o.API][state], o.ID, progress)
	}
	fields := []string{
		fmt.Sprintf(`"id":%d`, o.ID), fmt.Sprintf(`"state":%q`, state), fmt.Sprintf(`"result":"r%d"`, o.ID),
		`"conclusion":` + conclusion, `"finished_at":` + finished, `"error":` + failure,
		fmt.Sprintf(`"progress":%d`, progress), `"meta":{"state":"done"}`,
		fmt.Sprintf(`"steps":[{"name":"a","state":"done"},{"name":"b","state":%q}]`, state),
	}
	if o.Style&terse != 0 {
		return strings.ReplaceAll(`{"id":ID,`+terseStates[state]+"}", "ID", fmt.Sprint(o.ID))
	}
	if o.Style&bare != 0 {
		fields = fields[:7]
	}
	if o.Style&1 != 0 { // a field that is null may be absent as well
		fields = slices.DeleteFunc(fields, func(f string) bool { return strings.HasSuffix(f, ":null") })
	}
	if o.Style&2 != 0 {
		slices.Reverse(fields)
	}
	return "{" + strings.Join(fields, []string{",", ",\n "}[o.Style>>2&1]) + "}"
}
