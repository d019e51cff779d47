package world

import (
	"fmt"
	"strings"
	"time"
)

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
