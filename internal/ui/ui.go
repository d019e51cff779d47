// Package ui reports the course and the end of a run: it shows the events of package poll on stderr in one of
// several ways (faces), and writes the result to stdout. The state of all targets is on a [Board], whose rows follow
// the events. The faces are functions of the board. A single wait is a board of one row.
//
// The rules for output:
//
//   - stdout has the result and nothing else. Everything else goes to stderr.
//   - A line of poll starts with "poll: ", or is a row with the columns elapsed, #attempt, STATUS and reason. It is
//     lower case, without a full stop. On a narrow terminal a row has no #attempt, and long lines are
//     folded, with an indent.
//   - Text from outside passes the sanitizer of package term: as a part of a row, or as a block whose lines start
//     with "| ". Query values, header values and arguments are never shown: an event does not contain them.
//   - A bar shows the progress that a server reports, or how many targets have ended. It never shows how much of the
//     time is over.
//   - In a log a status is shown by its own word (NOT_READY), always with the reason. A status line has the reason only.
//   - Silence is bounded: a log has a line at least once per heartbeat. Noise is bounded, too: changes of a
//     reason are reported at once only so often, and of many targets only the first failures are reported.
//   - Escape sequences are written only for colors, if colors are on, and by the live face. No terminal mode
//     stays changed, and the cursor is never hidden.
//   - The last line has the status, the attempts, the time and the reason. A failure has the response and the hints in the
//     lines before.
//   - A failed write to stderr (closed or full) never ends the run.
package ui

import (
	"io"
	"math"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// A Reporter shows the events of a wait, or of a group. Its methods may be called from several goroutines.
type Reporter struct {
	view
	mu      sync.Mutex
	con     *console
	log     logFace
	timer   *time.Timer
	drew    time.Time // when the status lines were drawn
	newest  poll.Event
	closed  bool
	results results
}

// results are the results of several targets.
type results struct {
	mu     sync.Mutex // held while a line is written, and locked before the mutex of the Reporter
	begun  bool       // a line was written
	rows   []TargetResult
	winner *TargetResult // the first target that succeeded, if that is enough
}

// New returns a Reporter. It writes nothing before the first event.
func New(cfg Config) *Reporter {
	if cfg.Getenv == nil {
		cfg.Getenv = func(string) string { return "" }
	}
	if cfg.Face = cfg.Face.choose(cfg.Streams, cfg.Getenv); cfg.Face == JSON {
		cfg.Palette = term.Palette{}
	}
	r := &Reporter{con: &console{w: cfg.Streams.Err}, view: view{cfg: cfg, glyphs: glyphsOf(cfg.Streams.Unicode), asked: cfg.Show,
		board: &Board{goal: cfg.Goal, size: cfg.Targets, hints: map[string][]string{}}}}
	if len(cfg.Show) == 0 {
		r.asked = usualMembers()
	}
	if cfg.Face == Live {
		r.con.foreground = cfg.Streams.Foreground
	}
	r.timer = time.AfterFunc(math.MaxInt64, r.tick)
	r.log = logFace{view: &r.view, con: r.con, heartbeat: 30 * time.Second, maxHeartbeat: 5 * time.Minute, reported: map[string][]string{}}
	if cfg.Heartbeat != nil {
		r.log.heartbeat, r.log.maxHeartbeat = *cfg.Heartbeat, *cfg.Heartbeat
	}
	return r
}

// Event shows an event. It must be called with every event of the wait or the group, in
// order.
func (r *Reporter) Event(ev poll.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if r.con.inBackground(); r.child != nil && ev.Kind == poll.EventAttempt {
		r.con.say(r.child.Rest()) // an unfinished line of the command
	}
	row := r.board.Update(ev)
	r.newest = ev
	if r.cfg.Face != JSON && r.board.isEnd(ev) && !r.succeeded(ev) {
		r.con.say(r.annotation(ev))
	}
	r.show(row, ev)
	r.rearm()
}

// show shows an event on the face. The row is the target of the event, or nil.
func (r *Reporter) show(row *Row, ev poll.Event) {
	found := r.read(row, ev)
	switch {
	case r.cfg.Face == JSON:
		r.con.say(r.object(row, ev, found))
	case r.cfg.Face == Live && r.board.isEnd(ev):
		r.con.finish(r.last(ev.At) + r.fit(ownLines(r.lastWords(ev).lines())))
	default:
		r.log.event(row, ev, found)
		if now := time.Now(); r.cfg.Face == Live && now.Sub(r.drew) >= redraw {
			r.draw(now)
		}
	}
}

// draw redraws the status lines. It checks the terminal's size and whether poll is in the
// foreground each time, so it needs no notice of a resize, or of a stop and continue.
func (r *Reporter) draw(now time.Time) {
	r.drew = now
	if !r.con.inBackground() {
		lines := r.live(now)
		r.con.draw(lines[:min(len(lines), max(1, r.height()-1))])
	}
}

// Say reports a note at once, below the opening line. The JSON face has the note in its last event.
func (r *Reporter) Say(note string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, note)
	if r.log.opened && !r.closed && !r.board.isEnd(r.newest) {
		r.log.note(note)
	}
}

// AfterEnd reports a note after the end, and repeats the closing line, so that it stays the last line.
func (r *Reporter) AfterEnd(note string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := []string{"note: " + term.Line(note)}
	if r.board.isEnd(r.newest) && (r.cfg.Face != None || !r.succeeded(r.newest)) { // an end may come before the first event
		lines = append(lines, r.lastWords(r.newest).line)
	}
	if r.cfg.Face != JSON {
		r.con.say(r.fit(ownLines(lines)))
	}
}

// Stderr returns a writer that shows a command's stderr as it comes, sanitized line by line, above the
// status lines. Its errors are always nil. The JSON face drops the text, since stderr has only objects then.
func (r *Reporter) Stderr() io.Writer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cfg.Face == JSON {
		return io.Discard
	}
	if r.child == nil {
		r.child = &term.Lines{}
	}
	return stderr{r}
}

// A stderr is the stderr of a command.
type stderr struct{ r *Reporter }

// Write never fails.
func (s stderr) Write(p []byte) (int, error) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.r.con.inBackground(); !s.r.closed {
		s.r.con.say(s.r.child.Add(p))
	}
	return len(p), nil
}

// Close ends the report: after it nothing is written. It may be called again.
func (r *Reporter) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.child != nil {
		r.con.say(r.child.Rest())
	}
	r.con.inBackground()
	r.con.finish("")
	r.closed = true
}

// rearm sets the timer for the next drawing or heartbeat.
func (r *Reporter) rearm() {
	switch {
	case r.cfg.Face == Live:
		r.timer.Reset(redraw - time.Since(r.drew))
	case r.cfg.Face == Lines && r.log.heartbeat > 0:
		r.timer.Reset(time.Until(r.log.spoke.Add(r.log.heartbeat)))
	}
}

// tick runs when the timer fires. The call may be late: after an event has moved the time, or after Close.
func (r *Reporter) tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	switch {
	case r.closed, r.board.isEnd(r.newest):
		return
	case r.cfg.Face == Live:
		r.draw(now)
	case now.Sub(r.log.spoke) >= r.log.heartbeat:
		r.log.tick(now)
	}
	r.rearm()
}
