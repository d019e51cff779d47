// Package ui tells people and programs what a run does and how it ended: it
// shows the events of package poll on stderr in one of several ways, and writes the
// result to stdout. What is known of the targets is on a [Board], whose rows the events
// keep up to date; the faces are functions of it. A single wait is a board of one row.
//
// The rules for output:
//
//   - stdout carries the result and nothing else; everything else goes to stderr.
//   - A line of poll's own begins with "poll: " or is a row of the columns
//     elapsed, #attempt, STATUS, words. Lower case, no full stop. On a narrow
//     terminal a row has no #attempt, and long lines go on below, with an indent.
//   - Text from outside passes package term's sanitizer: as words inside a row,
//     or as a block whose lines begin with "| ". No query values, header values
//     or arguments are ever shown; an event does not contain them.
//   - A bar shows what the server says of its progress, or how many targets have ended;
//     never how much of the time is over.
//   - A status is shown by its own word (NOT_READY), always with the reason.
//   - Silence is bounded: a log speaks at least once per heartbeat. So is noise: a
//     reason that changes at every attempt is reported at once only so often, and of
//     many targets only the first failures are.
//   - Escape sequences are written only for colours, where colours are on, and
//     by the live face. No terminal mode stays changed, the cursor is never hidden.
//   - The end tells status, attempts, time and reason; for a failure also the
//     answer, and what would have decided.
//   - A failed write to stderr (closed or full) never ends the run.
package ui

import (
	"io"
	"math"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status/expr"
)

// A Face is a way to show events, by its word in --progress.
type Face string

// The faces.
const (
	Auto  Face = "auto"  // Live on a terminal that can, Lines elsewhere
	Live  Face = "live"  // status lines that are redrawn, below what is worth keeping
	Lines Face = "lines" // a log
	JSON  Face = "json"  // an object per event
	None  Face = "none"  // only what went wrong
)

// Faces returns the faces, in their order.
func Faces() []Face { return []Face{Auto, Live, Lines, JSON, None} }

// choose returns the face that Auto stands for.
func (f Face) choose(s *term.Streams, getenv func(string) string) Face {
	switch {
	case f != Auto && f != "":
		return f
	case !s.ErrIsTerminal, s.Dumb, getenv("CI") == "true":
		return Lines
	}
	return Live
}

// A Config sets what a Reporter shows, and how.
type Config struct {
	Streams *term.Streams // output goes to Err
	Palette term.Palette  // the zero value has no colours
	Face    Face          // Auto or empty: chosen by the streams and the environment
	Verbose bool          // report every attempt, with the head of its body, and every decision

	// Heartbeat is the longest silence of a log, 0 for no limit. Nil means 30 s,
	// doubled after each heartbeat up to 5 min.
	Heartbeat *time.Duration
	Until     []string            // the conditions as written, and the name of a preset; only shown
	Opening   []string            // further lines below the opening one
	Forecast  Forecast            // how long such a run usually takes, nil if unknown
	Getenv    func(string) string // for CI and GitHub's variables; nil finds none
	// Show are values of each answer to show. A number from 0 to 100, a share such as 0.25, and a
	// text such as 62% or 3/10 is a progress: the first draws a bar. If there are none,
	// usual members of a good answer are shown: progress, percent, percentComplete and
	// progress_percentage.
	Show []*expr.Expr

	// Goal says in words what is waited for if that is several targets, "any of 3
	// targets", whose events are those of a [poll.Group]. It is empty for a single wait.
	Goal    string
	Targets int           // how many there are
	Timeout time.Duration // of all of them together, 0 for none, or of a wait that goes on with an earlier one

	// Again reports whether the same command may be given once more if its time was too short: it
	// starts nothing twice; nil for never. Slice says that it then goes on, which people are told, too.
	Again func() bool
	Slice bool
}

// A Reporter shows the events of a run, or of the runs of a group, which may be over by then. Its
// methods may be called from several goroutines.
type Reporter struct {
	cfg    Config
	mu     sync.Mutex
	board  *Board
	con    *console
	glyphs glyphs
	log    logFace
	usual  func() []*expr.Expr // the members that usually tell of a progress
	timer  *time.Timer
	child  *term.Lines // nil until Stderr was called
	stdout stdout

	drew  time.Time // when the status lines were
	notes []string  // by Say, so far

	newest poll.Event
	closed bool
}

// New returns a Reporter. It writes nothing before the first event.
func New(cfg Config) *Reporter {
	if cfg.Getenv == nil {
		cfg.Getenv = func(string) string { return "" }
	}
	cfg.Face = cfg.Face.choose(cfg.Streams, cfg.Getenv)
	r := &Reporter{cfg: cfg, con: &console{w: cfg.Streams.Err}, board: &Board{goal: cfg.Goal, size: cfg.Targets, advice: map[string][]string{}},
		glyphs: glyphsOf(cfg.Streams.Unicode), usual: sync.OnceValue(usualMembers)}
	r.timer = time.AfterFunc(math.MaxInt64, r.tick)
	r.log = logFace{r: r, heartbeat: 30 * time.Second, maxHeartbeat: 5 * time.Minute}
	if cfg.Heartbeat != nil {
		r.log.heartbeat, r.log.maxHeartbeat = *cfg.Heartbeat, *cfg.Heartbeat
	}
	return r
}

// Event shows an event. It must be called with every event of the run or the group, in
// order.
func (r *Reporter) Event(ev poll.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if r.inBackground(); r.child != nil && ev.Kind == poll.EventAttempt {
		r.con.say(r.child.Rest()) // an unfinished line of the command
	}
	row := r.board.Update(ev)
	r.newest = ev
	r.tellGitHub(ev)
	r.show(row, ev)
	r.rearm()
}

// isEnd reports whether an event is the last.
func (r *Reporter) isEnd(ev poll.Event) bool {
	return ev.Kind == poll.EventGoal || ev.Kind == poll.EventEnd && r.board.single()
}

// show shows an event on the face. The row is the target of the event, nil for none.
func (r *Reporter) show(row *Row, ev poll.Event) {
	found := r.read(row, ev)
	switch {
	case r.cfg.Face == JSON:
		r.object(row, ev, found)
	case r.cfg.Face == Live && r.isEnd(ev):
		r.con.finish(r.last(ev.At) + r.fit(ownLines(r.closing(ev))))
	default:
		r.log.event(row, ev, found)
		if now := time.Now(); r.cfg.Face == Live && now.Sub(r.drew) >= redraw {
			r.draw(now)
		}
	}
}

// Say tells a note at once, below the opening line. Programs are told with the end.
func (r *Reporter) Say(note string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, note)
	if r.log.opened && !r.closed && !r.isEnd(r.newest) {
		r.say(note)
	}
}

// say writes notes, unless nothing is to be said, or programs read it.
func (r *Reporter) say(notes ...string) {
	if r.cfg.Face == JSON || r.cfg.Face == None || r.inBackground() {
		return
	}
	r.con.say(r.fit(ownLines(oneLines("note: ", notes))))
}

// Stderr returns a writer that passes on a command's stderr as it comes, sanitized
// line by line, above the status lines. Its errors are always nil.
// The json face, which has stderr to itself, drops it.
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

// A stderr is a command's.
type stderr struct{ r *Reporter }

// Write never fails.
func (s stderr) Write(p []byte) (int, error) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.r.inBackground(); !s.r.closed {
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
	r.inBackground()
	r.con.finish("")
	r.closed = true
}

// inBackground reports whether the terminal belongs to another process group. What
// was drawn on it then is no longer poll's to erase.
func (r *Reporter) inBackground() bool {
	if r.cfg.Face != Live || r.cfg.Streams.Foreground() {
		return false
	}
	r.con.drawn = ""
	return true
}

// rearm sets the timer to when something is to be done though nothing happens.
func (r *Reporter) rearm() {
	switch {
	case r.cfg.Face == Live:
		r.timer.Reset(redraw - time.Since(r.drew))
	case r.cfg.Face == Lines && r.log.heartbeat > 0:
		r.timer.Reset(time.Until(r.log.spoke.Add(r.log.heartbeat)))
	}
}

// tick is called by the timer, perhaps late, after an event has moved the time or
// the Reporter was closed.
func (r *Reporter) tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	switch {
	case r.closed, r.isEnd(r.newest):
		return
	case r.cfg.Face == Live:
		r.draw(now)
	case now.Sub(r.log.spoke) >= r.log.heartbeat:
		r.log.tick(now)
	}
	r.rearm()
}
