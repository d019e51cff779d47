package world

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// A sender sends a stream.
type sender struct {
	*request
	process *process
	streaming
	rep    *reply
	put    func(text string) error // sends some bytes
	gone   <-chan struct{}         // closed when nobody reads any more
	r      *rand.Rand
	fault  string
	left   int // bytes until the fault, -1 for none
	half   int // messages until one whose end is missing by the fault, less than 0 for none
	lastID string
}

var errStreamFault = errors.New("the fault of a stream")

// newSender returns the sender of a reply.
func (p *process) newSender(q *request, rep *reply, put func(string) error, gone <-chan struct{}) *sender {
	s := &sender{request: q, process: p, streaming: *p.Stream, rep: rep, put: put, gone: gone, r: p.dice(q.key+" stream", q.n), left: -1, half: -2, lastID: q.Header.Get("Last-Event-ID")}
	if s.fault = rep.stream; s.fault != "" && s.r.IntN(2) == 0 {
		s.half = s.r.IntN(4)
	} else if s.fault != "" {
		s.left = s.r.IntN(400)
	}
	return s
}

// run sends all until the stream ends, and reports whether it ended in order.
func (s *sender) run() (inOrder bool) {
	err := s.sendAll()
	if s.fault == "stream mute" && err == errStreamFault {
		<-s.gone
	}
	s.process.mu.Lock()
	defer s.process.mu.Unlock()
	s.process.tell("%s: the stream ends: %v", s.key, err)
	return err == nil || err == errStreamFault && s.fault == "stream end"
}

// sendAll sends the states of the operation, also the earlier ones, until the operation is gone.
func (s *sender) sendAll() error {
	if s.Retry > 0 {
		if err := s.send(fmt.Sprintf("retry: %d%s", s.Retry.Milliseconds(), s.end())); err != nil {
			return err
		}
		s.rep.retry = s.Retry
	}
	known, _ := strconv.Atoi(s.lastID) // an ID is the number of a phase, from 1
	next, said, alive := known, time.Time{}, time.Now()
	if now := s.phase(); !s.Replay && !s.IDs || known == 0 && !s.Replay || known > now+1 {
		next = now
	}
	for {
		now, err := s.phase(), error(nil)
		switch {
		case s.life.docAt(time.Now()) == "":
			return nil
		case next <= now:
			err = s.message(next, now)
			next, said, alive = next+1, time.Now(), time.Now()
		case s.Every > 0 && time.Since(said) >= s.Every:
			err = s.message(now, now)
			said, alive = time.Now(), time.Now()
		case s.Beat > 0 && time.Since(alive) >= s.Beat:
			err = s.send(map[string]string{"events": ": beat" + s.end() + s.end()}[s.Kind] + map[bool]string{true: "\n"}[s.Kind != "events"])
			alive = time.Now()
		}
		if err != nil {
			return err
		}
		if next > now {
			if err := s.pause(s.quiet(now, said, alive)); err != nil {
				return err
			}
		}
	}
}

// quiet returns for how long there is nothing to say, and some time on the way.
func (s *sender) quiet(now int, said, alive time.Time) time.Duration {
	until := time.Now().Add(time.Hour)
	if now+1 < len(s.life.Phases) {
		until = s.life.started.Add(s.life.Phases[now+1].At)
	}
	if at := said.Add(s.Every); s.Every > 0 && at.Before(until) {
		until = at
	}
	if at := alive.Add(s.Beat); s.Beat > 0 && at.Before(until) {
		until = at
	}
	return time.Until(until) + time.Duration(s.r.IntN(40))*time.Millisecond
}

func (s *sender) end() string {
	if s.Ends == "" {
		return "\n"
	}
	return s.Ends
}

// phase returns the number of the phase that the operation is in.
func (s *sender) phase() (n int) {
	for i, p := range s.life.Phases {
		if time.Since(s.life.started) >= p.At {
			n = i
		}
	}
	return n
}

func (s *sender) pause(d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-s.gone:
		return io.ErrClosedPipe
	}
}

// message sends the document of a phase, which may be over, after one about something else.
func (s *sender) message(phase, now int) error {
	at := time.Now()
	if phase < now {
		at = s.life.started.Add(s.life.Phases[phase].At)
	}
	doc := s.life.docAt(at)
	if s.Named && s.r.IntN(3) == 0 {
		if err := s.send("event: log" + s.end() + "data: " + s.oneLine(s.allIsWell()) + s.end() + s.end()); err != nil {
			return err
		}
		s.noteMessage(sighting{doc: doc, at: time.Now(), message: true}, "")
	}
	if doc == "" { // it was not there
		return nil
	}
	text, whole, id := s.framed(s.enclosed(doc), phase)
	if s.half--; s.half == -1 { // whole messages came before
		return cmp.Or(s.send(text[:whole-1]), errStreamFault)
	}
	if err := s.send(text[:whole]); err != nil {
		return err
	}
	s.noteMessage(sighting{doc: doc, honest: true, at: time.Now(), message: true}, id)
	return s.send(text[whole:])
}

// oneLine returns a document without line feeds.
func (s *sender) oneLine(doc string) string {
	var b bytes.Buffer
	json.Compact(&b, []byte(doc))
	return b.String()
}

// framed returns a document as a message, after how many bytes that is whole, and its ID.
func (s *sender) framed(doc string, phase int) (text string, whole int, id string) {
	switch s.Kind {
	case "events":
		if s.IDs {
			id = strconv.Itoa(phase + 1)
			text = "id: " + id + s.end()
		}
		if s.Named {
			text += "event: state" + s.end()
		}
		for line := range strings.SplitSeq(doc, "\n") {
			text += "data: " + line + s.end()
		}
		return text + s.end(), len(text) + 1, id // a carriage return ends a line, whatever follows
	case "records":
		text = "\x1e" + s.oneLine(doc)
	default:
		text = s.oneLine(doc)
	}
	if s.process.Probe == byCommand {
		return text + "\n", len(text) + 1, ""
	}
	return text + "\n", len(text), ""
}

// noteMessage notes a message that was delivered as a whole.
func (s *sender) noteMessage(seen sighting, id string) {
	s.process.mu.Lock()
	defer s.process.mu.Unlock()
	if s.process.dead {
		return
	}
	seen.told = seen.at
	if s.life.seen = append(s.life.seen, seen); id != "" {
		s.process.lastIDs[s.key] = id
	}
	s.process.tell("%s: message %.50q, honest %v", s.key, seen.doc, seen.honest)
}

// send sends some bytes, in parts, until a fault comes.
func (s *sender) send(text string) error {
	for len(text) > 0 {
		select {
		case <-s.gone:
			return io.ErrClosedPipe
		default:
		}
		if s.left == 0 {
			return errStreamFault
		}
		n := min(1+s.r.IntN(60), len(text))
		if s.left > 0 {
			n = min(n, s.left)
			s.left -= n
		}
		if err := s.put(text[:n]); err != nil {
			return err
		}
		if text = text[n:]; s.Slow && text != "" && s.r.IntN(8) == 0 {
			if err := s.pause(drawn(s.r, time.Millisecond, 300*time.Millisecond)); err != nil {
				return err
			}
		}
	}
	return nil
}

// The facts that the world notes while requests come and go.

// eavesdrop looks for secrets in a request to an origin that they are not for.
func (w *world) eavesdrop(q *request, sent string) {
	if q.starts {
		q.life.flying++
	}
	if q.isTrusted() && strings.Contains(fmt.Sprint(q.Header), stray) {
		w.blame("quiet", "a cookie of another origin was sent to %s", q.host)
	}
	if q.isTrusted() || strings.HasPrefix(q.host, hung) {
		return
	}
	w.saw["another origin asked"], w.saw["led home by another"] = true, w.saw["led home by another"] || q.host == home
	if secret := secretIn(fmt.Sprint(q.URL, q.Header, sent)); secret != "" {
		w.blame("quiet", "%s was sent to %s", secret, q.host)
	}
}

// secretIn returns a secret that stands in a text, "" for none.
func secretIn(text string) string {
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			return secret
		}
	}
	return ""
}

// A hint is the wait that a server has asked for: when the response came, and when the wait is over.
type hint struct{ told, until time.Time }

// isLimited reports whether a limiter closes a host for all targets.
func (p *plan) isLimited() bool {
	return p.Rate > 0 || p.Share || p.isLine() && (len(p.Ops) > 1 || p.List != nil)
}

// limited returns the key of the hints for a request: its host, or its own key without a limiter.
func (q *request) limited() string {
	if q.isLimited() {
		return q.host
	}
	return q.key
}

// patience checks that a server is left alone for as long as it has asked for that.
func (p *process) patience(q *request) {
	if q.isOther { // another run with another job log
		return
	}
	if q.came.Equal(p.resets[q.key]) { // the same attempt
		return
	}
	until := p.retries[q.key]
	if h := p.hints[q.limited()]; h.until.After(until) && q.came.After(h.told.Add(time.Millisecond)) {
		until = h.until
	}
	if time.Now().Before(until.Add(-time.Millisecond)) && !p.Line.Twice {
		p.blame("polite", "%s came %s before the wait was over that the answer before it asked for", q.URL, time.Until(until))
	}
}

// left returns how long it is to the deadline.
func (p *process) left() time.Duration {
	begun := p.world.began
	if p.isLine() {
		begun = p.began
	}
	return time.Until(begun.Add(p.Timeout))
}

// after notes what a request has come to.
func (p *process) after(q *request, rep *reply, delivered bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return
	}
	if q.fault != nil {
		p.troubled = time.Now()
	}
	if rep.reset {
		p.resets[q.key] = time.Now()
	}
	if delete(p.retries, q.key); rep.retry > 0 && 2*rep.retry+time.Minute < p.left() { // or the last look may come before
		p.retries[q.key] = time.Now().Add(rep.retry)
	}
	if !p.isLimited() {
		delete(p.hints, q.key)
	}
	if delivered && rep.hint > 0 {
		until := time.Now().Add(rep.hint)
		p.longest[q.key], p.saw["hint"] = until, true
		if h := p.hints[q.limited()]; until.After(h.until) {
			p.hints[q.limited()] = hint{time.Now(), until}
		}
		p.saw["a host that leads to another is closed"] = p.saw["a host that leads to another is closed"] || p.Alias
	}
	if strings.HasPrefix(q.key, "list") {
		p.listDelivered(q.key, rep, delivered)
	}
	isJudged := delivered || rep.cut > 0 || rep.garbage // a reply that was lost before its first byte may be requested again at once
	switch {
	case q.life == nil, rep.streams: // whose messages are noted as they are delivered
	case q.starts && delivered && rep.code != 303: // which is followed before anything is kept
		q.life.flying--
	case !q.starts && !rep.isRedirect() && isJudged:
		isLate := time.Since(q.life.started) >= settling || p.saw["clock jumps"]
		if rep.doc == "" && q.life.Method != "" && isLate && !p.NotYet && !p.Gone {
			q.life.excuse = "it was started long ago, and is not there"
		}
		s := sighting{doc: rep.doc, honest: rep.honest && delivered, at: rep.at, told: time.Now(), cached: rep.cached}
		q.life.seen = append(q.life.seen, s)
		isLie := q.fault != nil && q.fault.Kind == "lie" // a lie may tell of an end, too
		q.life.told = q.life.told || isLie || p.isSuccess(s) || s.honest && q.life.hasEnded(s.at)
		if q.life.Answer == "303" {
			q.life.flying = 0
		}
	}
}
