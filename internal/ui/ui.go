// Package ui reports the progress and the end of a run. It shows the events of package poll on stderr, and writes
// the result to stdout. The user can choose between several ways to show the events, which are called faces. The
// state of all targets is stored in a [board], which the events update. Each face shows the board in its own way.
// For a single target, the board has one row.
//
// The rules for output:
//
//   - stdout contains the result and nothing else. Everything else goes to stderr.
//   - A line that poll writes starts with "poll: ", or is a row with the columns elapsed, #attempt, STATUS and reason. It starts with a
//     lower-case letter and has no full stop. On a narrow terminal a row has no #attempt, and long lines are wrapped and indented.
//   - Package term sanitizes untrusted text. Such text is shown as a part of a row, or as a block of lines that start with "| ". Query
//     values, header values and arguments are never shown, because events do not contain them.
//   - A bar shows the progress that a server reports, or how many targets have ended. It never shows how much of the time has passed.
//   - A log shows a status by its name, such as NOT_READY, and always with the reason. A status line shows only the reason.
//   - Silence is limited: a log contains at least one line per heartbeat. The number of lines is limited, too. Only the first changes of
//     a reason are reported immediately, and for many targets only the first failures.
//   - Escape sequences are only written for colors, if colors are on, and by the live face. No terminal mode remains changed, and the
//     cursor is never hidden.
//   - The last line contains the status, the number of attempts, the time and the reason. After a failure, the response and the hints
//     precede it.
//   - If stderr is closed or full, the failed write never ends the run.
//
// The files:
//
//	ui.go        Reporter: events to faces, the timer for drawings, the stderr of a command
//	view.go      the faces and their choice; glyphs, widths, forecasts, excerpts of a response
//	board.go     the state of all targets, grouped by reason; the timeline
//	row.go       the state of one target: ending, reason, color, next attempt
//	draw.go      the live face: status lines, the table with its columns, the console
//	log.go       the log: its lines and columns, their limits, the heartbeat
//	progress.go  the progress in a response, and its bar
//	end.go       the last lines of a run, and annotations for GitHub Actions
//	advice.go    the notes and hints after the end
//	json.go      events and results as JSON
//	result.go    the result on stdout
package ui

import (
	"io"
	"math"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// A Reporter shows the events of a wait for one target or for a group of targets. Its methods may be called
// concurrently.
type Reporter struct {
	view
	mu      sync.Mutex
	con     *console
	log     logFace
	timer   *time.Timer
	drew    time.Time // when the status lines were last drawn
	newest  poll.Event
	closed  bool
	results results
}

// The results are the results of several targets.
type results struct {
	mu     sync.Mutex // locked before Reporter.mu, and held while a line is written
	rows   []targetJSON
	winner *targetJSON // the first target that succeeded, if one is enough; otherwise nil
}

// New returns a Reporter with the configuration cfg. It writes nothing before the first event.
func New(cfg Config) *Reporter {
	if cfg.Getenv == nil {
		cfg.Getenv = func(string) string { return "" }
	}
	if cfg.Face = cfg.Face.choose(cfg.Streams, cfg.Getenv); cfg.Face == JSON {
		cfg.Palette = term.Palette{}
	}
	r := &Reporter{con: &console{w: cfg.Streams.Err}, view: view{cfg: cfg, glyphs: glyphsOf(cfg.Streams.Unicode),
		board: &board{goal: cfg.Goal, size: cfg.Targets, hints: map[string][]string{}}}}
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

// Event shows an event. It must be called with every event of the wait or the group, in order.
func (r *Reporter) Event(ev poll.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if r.con.inBackground(); r.child != nil && ev.Kind == poll.EventAttempt {
		r.con.print(r.child.Rest()) // the command's last line, which has no newline
	}
	row := r.board.update(ev)
	r.newest = ev
	if r.cfg.Face != JSON && r.board.isEnd(ev) && !r.succeeded(ev) {
		r.con.print(r.annotation(ev))
	}
	r.show(row, ev)
	r.rearm()
}

// show shows an event in the way that the face determines. row belongs to the event's target, or is nil.
func (r *Reporter) show(row *boardRow, ev poll.Event) {
	found := r.read(row, ev)
	switch {
	case r.cfg.Face == JSON:
		r.con.print(r.object(row, ev, found))
	case r.cfg.Face == Live && r.board.isEnd(ev):
		r.con.finish(r.last(ev.At) + r.fit(ownLines(r.closing(ev).lines())))
	default:
		r.log.event(row, ev, found)
		if now := time.Now(); r.cfg.Face == Live && now.Sub(r.drew) >= redraw {
			r.draw(now)
		}
	}
}

// draw replaces the status lines by current status lines. Each time, it checks the size of the terminal and
// whether poll is in the foreground. Therefore poll need not handle signals for a resize, or for being stopped and
// continued.
func (r *Reporter) draw(now time.Time) {
	r.drew = now
	if !r.con.inBackground() {
		lines := r.live(now)
		r.con.draw(lines[:min(len(lines), max(1, r.height()-1))])
	}
}

// Note reports a note immediately, or together with the opening line before the first event. The face JSON adds the
// note to its last event instead.
func (r *Reporter) Note(note string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, note)
	if r.log.opened && !r.closed && !r.board.isEnd(r.newest) {
		r.log.note(note)
	}
}

// AfterEnd reports a note after the end of the run. It then repeats the closing line, so that this line remains
// the last.
func (r *Reporter) AfterEnd(note string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := []string{"note: " + term.Line(note)}
	if r.board.isEnd(r.newest) && (r.cfg.Face != None || !r.succeeded(r.newest)) { // the run may have ended before the first event
		lines = append(lines, r.closing(r.newest).line)
	}
	if r.cfg.Face != JSON {
		r.con.print(r.fit(ownLines(lines)))
	}
}

// Stderr returns a writer that shows a command's stderr as it arrives. It sanitizes the text and shows it line by
// line above the status lines. Writes never return an error. With the face JSON, the text is discarded, because
// stderr then contains only JSON objects.
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

// A stderr receives the stderr of a command.
type stderr struct{ r *Reporter }

// Write shows p, a part of the command's stderr. It never returns an error.
func (s stderr) Write(p []byte) (int, error) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.r.con.inBackground(); !s.r.closed {
		s.r.con.print(s.r.child.Add(p))
	}
	return len(p), nil
}

// Close ends the report, so that no method writes events any more. It may be called several times.
func (r *Reporter) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.child != nil {
		r.con.print(r.child.Rest())
	}
	r.con.inBackground()
	r.con.finish("")
	r.closed = true
}

// rearm sets the timer to the time of the next drawing or heartbeat.
func (r *Reporter) rearm() {
	switch {
	case r.cfg.Face == Live:
		r.timer.Reset(redraw - time.Since(r.drew))
	case r.cfg.Face == Lines && r.log.heartbeat > 0:
		r.timer.Reset(time.Until(r.log.lastWrite.Add(r.log.heartbeat)))
	}
}

// tick redraws the status lines or writes a heartbeat. The timer calls tick, perhaps too late: an event may already
// have set the timer to a later time, or the Reporter may be closed.
func (r *Reporter) tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	switch {
	case r.closed, r.board.isEnd(r.newest):
		return
	case r.cfg.Face == Live:
		r.draw(now)
	case now.Sub(r.log.lastWrite) >= r.log.heartbeat:
		r.log.tick(now)
	}
	r.rearm()
}
