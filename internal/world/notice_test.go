package world

import (
	"fmt"
	"strings"
	"time"
)

// What is noticed while requests come and go.

// eavesdrop looks for secrets in a request to an origin that they are not for.
func (w *world) eavesdrop(q *request, sent string) {
	if q.starts {
		q.life.flying++
	}
	if q.isTrusted() && strings.Contains(fmt.Sprint(q.Header), stray) {
		w.blame("quiet", "a cookie of another origin was sent to %s", q.host)
	}
	if q.isTrusted() {
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

// patience checks that a server is left alone for as long as it has asked for that.
func (p *process) patience(q *request) {
	until := p.hints[q.key]
	if retry := p.retries[q.key]; retry.After(until) {
		until = retry
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
	if delete(p.retries, q.key); rep.retry > 0 && 2*rep.retry+time.Minute < p.left() { // or the last look may come before
		p.retries[q.key] = time.Now().Add(rep.retry)
	}
	if delete(p.hints, q.key); delivered && rep.hint > 0 {
		p.hints[q.key] = time.Now().Add(rep.hint)
		p.longest[q.key], p.saw["hint"] = p.hints[q.key], true
	}
	if strings.HasPrefix(q.key, "list") {
		p.listDelivered(q.key, rep, delivered)
	}
	isJudged := delivered || rep.cut > 0 || rep.garbage // what was lost before its first byte may be asked for again at once
	switch {
	case q.life == nil, rep.streams: // whose messages are noted as they are delivered
	case q.starts && delivered && rep.code != 303: // which is followed before anything is kept
		q.life.flying--
	case !q.starts && !rep.isRedirect() && isJudged:
		isLate := time.Since(q.life.started) >= settling || p.saw["clock jumps"]
		if rep.doc == "" && q.life.Method != "" && isLate && !p.NotYet && !p.Gone {
			q.life.excuse = "it was started long ago, and is not there"
		}
		q.life.seen = append(q.life.seen, sighting{doc: rep.doc, honest: rep.honest && delivered, at: rep.at})
		if q.life.Answer == "303" {
			q.life.flying = 0
		}
	}
}
