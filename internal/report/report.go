// Package report tells people and programs what a run does and how it ended: it
// shows the events of package poll on stderr in one of several ways, and writes the
// result to stdout.
//
// The rules for output:
//
//   - stdout carries the result and nothing else; everything else goes to stderr.
//   - A line of poll's own begins with "poll: " or is a row of the columns
//     elapsed, #attempt, STATUS, words, above several status lines on a narrow
//     terminal only STATUS, words. Lower case, no full stop.
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
package report

import (
	"io"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status/expr"
)

// A Face is a way to show events, by its word in --progress.
type Face string

// The faces.
const (
	Auto  Face = "auto"  // Live on a terminal that can, Lines elsewhere
	Live  Face = "live"  // a status line that is redrawn, below what is worth keeping
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
	// Show are values of each answer to show. A number from 0 to 100 or from 0 to 1, and a
	// text such as 62% or 3/10, is a progress: the first draws a bar. If there are none,
	// usual members of a good answer are shown: progress, percent, percentComplete and
	// progress_percentage.
	Show []*expr.Expr
	// Shared says that attempts may be shared with other processes, so that programs are told
	// how many were.
	Shared bool

	// Goal says in words what is waited for if that is several targets, "any of 3
	// targets", whose events are those of a [poll.Group]. It is empty for a single wait.
	Goal    string
	Targets int           // how many there are
	Timeout time.Duration // of all of them together, 0 for none, or of a wait that goes on with an earlier one
}

// A Reporter shows the events of a run, or of the runs of a group. Its methods may be
// called from several goroutines.
type Reporter struct {
	cfg       Config
	mu        sync.Mutex
	con       *console
	glyphs    glyphs
	face      face
	run       *run   // nil before the first event, and of several targets
	group     *group // nil for a single wait
	begun     bool   // an event was shown
	ended     bool   // the last one was
	median    string // of past runs, "" if there are none
	remaining remaining
	meter     meter
	reading   *reading // by the attempt that is being reported, nil for nothing
	results   results
	github    github
	child     *term.LineWriter // nil until Stderr was called
	timer     *time.Timer
	release   func()   // of the signal that suspends
	notes     []string // for the last words on several targets
	said      []string // by Say, so far
	cleared   bool     // by Clear, since the last event
	closed    bool
}

// glyphs are the characters drawn besides letters.
type glyphs struct {
	spinner     []rune
	full, empty string // of a bar
	good, bad   string // before a target that has ended
	ellipsis    string // for cut text
}

func glyphsOf(unicode bool) glyphs {
	if unicode {
		return glyphs{spinner: []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"), full: "━", empty: "─", good: "✓", bad: "✗", ellipsis: "…"}
	}
	return glyphs{spinner: []rune(`|/-\`), full: "=", empty: "-", good: "+", bad: "x", ellipsis: "..."}
}

// frame returns the spinner, which depends only on the time.
func (g glyphs) frame(elapsed time.Duration) string {
	return string(g.spinner[int(elapsed/redraw)%len(g.spinner)])
}

// A face turns events into words. The Reporter calls it with its lock held.
type face interface {
	event(poll.Event)   // called after what is known is updated
	due() time.Time     // when to call tick before the end, zero for never
	tick(now time.Time) // called when due, or later
}

// New returns a Reporter. It writes nothing before the first event.
func New(cfg Config) *Reporter {
	if cfg.Getenv == nil {
		cfg.Getenv = func(string) string { return "" }
	}
	cfg.Face = cfg.Face.choose(cfg.Streams, cfg.Getenv)
	r := &Reporter{cfg: cfg, con: &console{w: cfg.Streams.Err},
		glyphs: glyphsOf(cfg.Streams.Unicode)}
	r.meter = newMeter(cfg.Show)
	if cfg.Forecast != nil {
		r.median = rough(cfg.Forecast.Quantile(0.5)) // which takes time to compute
	}
	if cfg.Goal != "" {
		r.group = newGroup(cfg.Targets)
	}
	r.timer = time.AfterFunc(time.Hour, r.tick)
	r.timer.Stop()
	r.release = func() {}
	if cfg.Face == Live {
		r.release = cfg.Streams.OnSuspend(r.suspend)
	}
	rows := log{r: r, heartbeat: 30 * time.Second, maxHeartbeat: 5 * time.Minute}
	if cfg.Face == None {
		rows.heartbeat, rows.maxHeartbeat = 0, 0
	} else if cfg.Heartbeat != nil {
		rows.heartbeat, rows.maxHeartbeat = *cfg.Heartbeat, *cfg.Heartbeat
	}
	r.face = r.newFace(rows)
	return r
}

// newFace returns the face, given the log that it has or is.
func (r *Reporter) newFace(rows log) face {
	switch {
	case r.cfg.Face == JSON:
		return &jsonLines{r}
	case r.group != nil && r.cfg.Face == Live:
		r.con.hold = true // there may be many lines a second
		return &groupLive{r: r, above: groupLog{log: rows}}
	case r.group != nil:
		return &groupLog{log: rows}
	case r.cfg.Face == Live:
		return &live{r: r, above: rows}
	}
	return &rows
}

// Event shows an event. It must be called with every event of the run or the group, in
// order.
func (r *Reporter) Event(ev poll.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if r.child != nil && ev.Kind == poll.EventAttempt {
		_ = r.child.Flush() // an unfinished line of the command
	}
	r.cleared = false
	last := poll.EventEnd
	if r.group != nil {
		last = poll.EventGoal
		r.showOf(r.group.update(ev), ev)
	} else {
		if r.run == nil {
			r.run = new(run)
		}
		r.run.update(ev)
		r.show(ev, &r.run.scale, &r.run.reading)
	}
	r.ended = ev.Kind == last
	r.face.event(ev)
	if !r.begun {
		r.begun = true
		r.say(r.said...)
	}
	r.tellGitHub(ev)
	r.rearm()
}

// Note adds to the last words on several targets.
func (r *Reporter) Note(notes ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, notes...)
}

// Say tells something at once, below the opening line. Programs are told with the end.
func (r *Reporter) Say(note string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, note)
	if r.begun && !r.closed && !r.cleared && !r.ended {
		r.say(note)
	}
}

// say writes notes, unless nothing is to be said, or programs read it.
func (r *Reporter) say(notes ...string) {
	if r.cfg.Face == JSON || r.cfg.Face == None || r.cfg.Face == Live && r.inBackground() {
		return
	}
	for _, line := range oneLines("poll: note: ", notes) {
		r.con.say(line + "\n")
	}
}

// Stderr returns a writer that passes on a command's stderr as it comes, sanitized
// line by line, without disturbing what the face draws. Its errors are always nil.
// The json face, which has stderr to itself, drops it.
func (r *Reporter) Stderr() io.Writer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cfg.Face == JSON {
		return io.Discard
	}
	if r.child == nil {
		r.child = term.NewLineWriter(textWriter(r.con.say))
	}
	return textWriter(func(text string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.closed {
			_, _ = r.child.Write([]byte(text))
		}
	})
}

// A textWriter is a writer that never fails.
type textWriter func(text string)

func (f textWriter) Write(p []byte) (int, error) {
	f(string(p))
	return len(p), nil
}

// Close ends the report: after it nothing is written. It may be called again.
func (r *Reporter) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.child != nil {
		_ = r.child.Flush()
	}
	r.inBackground()
	r.con.erase()
	if !r.closed {
		r.release()
	}
	r.closed = true
	r.timer.Stop()
}

// suspend leaves the terminal to the shell, and calls stop meanwhile.
func (r *Reporter) suspend(stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.inBackground() {
		r.con.erase()
	}
	stop()
}

// Clear erases what is drawn, so that something else can be written there. Nothing
// is drawn until the next event.
func (r *Reporter) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inBackground()
	r.con.erase()
	r.cleared = true
}

// inBackground reports whether the terminal belongs to another process group. What
// was drawn on it then is no longer poll's to erase.
func (r *Reporter) inBackground() bool {
	if r.cfg.Streams.Foreground() {
		return false
	}
	r.con.drawn = ""
	return true
}

// rearm sets the timer to when the face is due.
func (r *Reporter) rearm() {
	r.timer.Stop()
	if due := r.face.due(); !due.IsZero() && !r.ended {
		r.timer.Reset(time.Until(due))
	}
}

// tick is called by the timer, perhaps late, after an event has moved the time or
// the Reporter was closed.
func (r *Reporter) tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.cleared || r.ended {
		return
	}
	now := time.Now()
	if due := r.face.due(); !due.IsZero() && !now.Before(due) {
		r.face.tick(now)
	}
	r.rearm()
}
