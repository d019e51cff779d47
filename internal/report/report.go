// Package report tells people and programs what a run does and how it ended:
// it turns the events of package poll into one of several faces on stderr, and
// the outcome into what stands on stdout.
//
// The rules of what is said:
//
//   - stdout carries the result and nothing else; everything said is on stderr.
//   - A line of poll's own begins with "poll: " or is a row of the columns
//     elapsed, #attempt, STATUS, words. Lower case, no full stop.
//   - Text from outside passes package term's sanitizer: as words inside a row,
//     or as a block whose lines begin with "| ". No query values, header values
//     or arguments are ever said; an event does not hold them.
//   - A status is said in its own word (NOT_READY), always with the reason.
//   - Silence is bounded: the lines face speaks at least once per heartbeat,
//     also while one long attempt or wait is under way.
//   - Talk is bounded too: words that change at every attempt are said at once
//     only so often, then at the heartbeat.
//   - Escape sequences are written only for colours, where colours are on, and
//     by the live face. No terminal mode is changed, the cursor is never hidden.
//   - The end says status, attempts, time and reason; of a failure also what
//     the answer was, and what would have decided.
//   - What cannot be said (stderr is closed or full) never ends the run.
package report

import (
	"io"
	"slices"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
)

// A Config says how a Reporter talks.
type Config struct {
	Streams *term.Streams // Err is written to
	Palette term.Palette  // the zero value is without colours
	Face    Face          // Auto chooses by the streams and the environment

	// Verbose says every attempt, with the head of its body, and every
	// decision: waits, hints, notes, remarks.
	Verbose bool
	// Heartbeat bounds the silence of the lines face. The zero value leaves it
	// unbounded.
	Heartbeat Heartbeat
	// Until holds the conditions that are waited for as the user wrote them, or
	// the name of a preset. It is only shown.
	Until []string
	// Opening holds further lines that stand below what is waited for.
	Opening []string
	// Forecast says how long such a run usually takes. Nil: it is not known.
	Forecast Forecast
	// Getenv is asked for CI and the variables of GitHub Actions. Nil stands
	// for an empty environment.
	Getenv func(string) string
}

// A Heartbeat is the longest silence of the lines face: First, doubled each
// time it had to be broken, until it is Max.
type Heartbeat struct{ First, Max time.Duration }

// DefaultHeartbeat returns 30 s, growing to 5 min.
func DefaultHeartbeat() Heartbeat {
	return Heartbeat{First: 30 * time.Second, Max: 5 * time.Minute}
}

// A Reporter shows the events of one or more runs. Its methods may be called
// from several goroutines.
type Reporter struct {
	cfg     Config
	usually string // the forecast in words, "" for none
	mu      sync.Mutex
	con     *console
	face    face
	runs    []*run
	child   *term.LineWriter // nil until Stderr was called
	timer   *time.Timer
	cleared bool // since the last event
	closed  bool
}

// A face turns events into words. The Reporter calls it with its lock held.
type face interface {
	// event is called with every event, after the run was brought up to date.
	event(*run, poll.Event)
	// due returns when beat wants to be called, zero for never.
	due() time.Time
	// beat is called when the time has come, or later.
	beat(now time.Time)
}

// New returns a Reporter. It says nothing before the first event.
func New(cfg Config) *Reporter {
	if cfg.Getenv == nil {
		cfg.Getenv = func(string) string { return "" }
	}
	cfg.Face = cfg.Face.choose(cfg.Streams, cfg.Getenv)
	r := &Reporter{cfg: cfg, usually: usually(cfg.Forecast), con: &console{w: cfg.Streams.Err}}
	r.face = r.newFace()
	return r
}

// Event shows what happened. The consumer of a run calls it with every event
// of that run, in order.
func (r *Reporter) Event(ev poll.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if r.child != nil && ev.Kind == poll.EventAttempt {
		_ = r.child.Flush() // the line the command left without an end
	}
	r.cleared = false
	u := r.run(ev.Run)
	u.target = ev.Target
	u.note(ev)
	r.face.event(u, ev)
	if ev.Kind == poll.EventEnd {
		r.annotate(ev.Outcome)
	}
	r.rearm()
}

// Stderr returns a writer that passes a command's stderr on as it comes, made
// harmless line by line, without tearing what the face draws. Its errors are
// always nil. The json face, which is alone on stderr, drops it.
func (r *Reporter) Stderr() io.Writer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cfg.Face == JSON {
		return io.Discard
	}
	if r.child == nil {
		r.child = term.NewLineWriter(r.con)
	}
	return writerFunc(func(p []byte) (int, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.closed {
			_, _ = r.child.Write(p)
		}
		return len(p), nil
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Close ends the talk: after it nothing is written. It may be called again.
func (r *Reporter) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if r.child != nil {
		_ = r.child.Flush()
	}
	r.yield()
	r.con.erase()
	r.closed = true
	if r.timer != nil {
		r.timer.Stop()
	}
}

// Clear takes away what is drawn, so that something else can be written there.
// Nothing is said until the next event.
func (r *Reporter) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.yield()
	r.con.erase()
	r.cleared = true
}

// run returns what is known of a run, a new one at its first event.
func (r *Reporter) run(id poll.RunID) *run {
	i := slices.IndexFunc(r.runs, func(u *run) bool { return u.id == id })
	if i < 0 {
		i = len(r.runs)
		r.runs = append(r.runs, &run{id: id})
	}
	return r.runs[i]
}

// rearm sets the timer to when the face wants to be called.
func (r *Reporter) rearm() {
	due := r.face.due()
	switch {
	case due.IsZero():
		if r.timer != nil {
			r.timer.Stop()
		}
	case r.timer == nil:
		r.timer = time.AfterFunc(time.Until(due), r.tick)
	default:
		r.timer.Reset(time.Until(due))
	}
}

// tick is called by the timer. It may come late, after an event has moved the
// time or the Reporter was closed.
func (r *Reporter) tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.cleared {
		return
	}
	now := time.Now()
	if due := r.face.due(); !due.IsZero() && !now.Before(due) {
		r.face.beat(now)
	}
	r.rearm()
}

func (r *Reporter) newFace() face {
	switch r.cfg.Face {
	case None:
		return &silent{r}
	case JSON:
		return &objects{r}
	case Live:
		return &live{r: r, above: lines{r: r}}
	}
	return &lines{r: r, changes: maxChanges}
}

// ellipsis marks what was cut.
func (r *Reporter) ellipsis() string {
	if r.cfg.Streams.Unicode {
		return "…"
	}
	return "..."
}
