// Package world simulates whole waits: servers that fail, lie and forget, what really is, and
// callers that are killed and go on. Time is that of a synctest bubble, connections are pipes, and
// all chance comes from a seed, so a seed shows the same story again. What was true at each moment is
// known, so that what a wait says is compared with the truth and not with an answer.
package world

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

var errKilled = errors.New("killed")

// A world is the state of one simulation. mu guards all of it.
type world struct {
	plan   *plan
	began  time.Time
	mu     sync.Mutex
	lives  map[int]*life
	faults map[string]map[int]fault
	asked  map[string]int // requests, by key
	hints  map[string]time.Time
	pages  map[string][]*listPage // of the look that is under way, by key
	wholes []whole

	processes []*process
	onKill    func()
	cuts      int
	signalled bool              // the run under way
	files     map[string][]byte // when a process was killed
	printed   int               // on stdout by then
	troubled  time.Time         // when the last fault was over

	saw    map[string]bool // features
	broken []breach
	story  []string
}

// A breach says which invariant does not hold, and how.
type breach struct{ invariant, what string }

func newWorld(p *plan) *world {
	w := &world{
		plan: p, began: time.Now(), lives: make(map[int]*life), faults: make(map[string]map[int]fault),
		asked: make(map[string]int), hints: make(map[string]time.Time), pages: make(map[string][]*listPage), saw: make(map[string]bool),
	}
	for i := range p.Ops {
		l := &life{operation: &p.Ops[i]}
		if l.Method == "" {
			l.started = w.began
		}
		w.lives[l.ID] = l
	}
	for _, f := range p.Faults {
		if w.faults[f.Key] == nil {
			w.faults[f.Key] = make(map[int]fault)
		}
		w.faults[f.Key][f.N] = f
	}
	return w
}

// inOrder returns the operations in the order of the plan.
func (w *world) inOrder() (all []*life) {
	for _, o := range w.plan.Ops {
		all = append(all, w.lives[o.ID])
	}
	return all
}

// tell adds a line to the story.
func (w *world) tell(format string, a ...any) {
	w.story = append(w.story, fmt.Sprintf("%9.4fs ", time.Since(w.began).Seconds())+fmt.Sprintf(format, a...))
}

// blame notes a breach.
func (w *world) blame(invariant, format string, a ...any) {
	w.broken = append(w.broken, breach{invariant, fmt.Sprintf(format, a...)})
}

// eavesdrop looks for secrets in a request to an origin that they are not for.
func (w *world) eavesdrop(q *request, sent string) {
	if q.host == home {
		return
	}
	w.saw["another origin asked"] = true
	all := fmt.Sprint(q.URL, q.Header, sent)
	for _, secret := range []string{token, body, cookie} {
		if strings.Contains(all, secret) {
			w.blame("quiet", "%s was sent to %s", secret, q.host)
		}
	}
}

// patience checks that a hint is kept to.
func (w *world) patience(p *process, q *request) {
	until, asked := w.hints[q.key]
	if asked && time.Now().Before(until.Add(-time.Millisecond)) && p == w.processes[len(w.processes)-1] {
		w.blame("polite", "%s came %s before the wait was over that the answer before it asked for", q.URL, time.Until(until))
	}
}

// after notes what a request has come to.
func (w *world) after(q *request, rep *reply, p *process, delivered bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, bad := w.faults[q.key][q.n]; bad {
		w.troubled = time.Now()
	}
	if p.dead {
		return
	}
	if delivered && q.starts && rep.code != 303 { // which is followed before anything is kept
		q.life.flying--
	}
	if delete(w.hints, q.key); delivered && rep.hint > 0 {
		w.hints[q.key] = time.Now().Add(rep.hint)
		w.saw["hint"] = true
	}
	if strings.HasPrefix(q.key, "list") {
		w.listDelivered(q.key, rep, delivered)
	}
	isRedirect := rep.code >= 300 && rep.code < 400 && rep.code != 304
	isJudged := delivered || rep.cut > 0 || rep.garbage // what was lost before its first byte may be asked for again at once
	if q.life != nil && !q.starts && !isRedirect && isJudged {
		if q.life.Answer == "303" {
			q.life.flying = 0
		}
		q.life.seen = append(q.life.seen, sighting{time.Now(), rep.doc, rep.honest && delivered, rep.code})
	}
}
