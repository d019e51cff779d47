package ui

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A Face is a way to show events. Its text is its value of --progress.
type Face string

// The faces.
const (
	Auto  Face = "auto"  // Live on a terminal that can draw it, Lines elsewhere
	Live  Face = "live"  // status lines that are redrawn, below the lines that stay
	Lines Face = "lines" // a log
	JSON  Face = "json"  // an object per event
	None  Face = "none"  // only failures
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

// A Config sets the content and the form of a report.
type Config struct {
	Streams *term.Streams // output goes to Err
	Palette term.Palette  // the zero value has no colors
	Face    Face          // Auto or "": the streams and the environment decide
	Verbose bool          // report every attempt, with the head of its body, and every decision

	// Heartbeat is the longest silence of a log, 0 for no limit. Nil means 30 s,
	// doubled after each heartbeat up to 5 min.
	Heartbeat *time.Duration
	Until     []string            // the conditions as written, and the name of a preset; only shown
	Opening   []string            // further lines below the opening line
	Forecast  Forecast            // how long such a run usually takes, nil if unknown
	Getenv    func(string) string // for CI and GitHub's variables; nil finds none
	// Show are values of each response to show. A number with a name such as progress or percent, and a text
	// such as 62% or 3/10, is a progress: the first progress is shown as a bar. If Show is empty, these
	// members of a successful response count: progress, percent, percentComplete, progress_percentage.
	Show []*expr.Expr

	// Goal names several targets in words: "any of 3 targets". Their events come from a
	// [poll.Group]. Goal is "" for a single wait.
	Goal    string
	Targets int           // the number of targets
	Timeout time.Duration // of all targets together, or of a continued wait; 0 for no limit

	// Again reports whether the command can be run again after a timeout without starting an operation twice.
	// Nil means that it cannot. If Slice is true, the next run continues the wait, and the closing line has
	// "call again".
	Again func() bool
	Slice bool
}

// glyphs are the drawn characters that are not letters.
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

// bar shows a share from 0 to 1.
func (g glyphs) bar(done float64) string {
	n := int(done * barWidth)
	return strings.Repeat(g.full, n) + strings.Repeat(g.empty, barWidth-n)
}

// The limits of drawing.
const (
	redraw       = 100 * time.Millisecond // the shortest time between two drawings
	barWidth     = 10
	defaultRows  = 24 // of a terminal of unknown size
	leastColumns = 24 // of a terminal; with fewer, nothing is drawn
	wide         = 99 // columns; with fewer, names and reasons leave no room for bars
	narrow       = 60 // columns; with fewer, a row has no numbers except the time
)

// A view is the part that all faces share: the settings, the board, and the size of the terminal.
type view struct {
	cfg    Config
	board  *Board
	glyphs glyphs
	notes  []string     // by Say, so far
	child  *term.Lines  // the stderr of a command, nil if it is not shown
	asked  []*expr.Expr // the values to show of each response
}

// succeeded reports whether the last event reports a success.
func (v *view) succeeded(ev poll.Event) bool {
	if ev.Summary != nil {
		return ev.Summary.Ending == poll.Succeeded
	}
	return ev.Outcome.Ending == poll.Succeeded
}

// height returns the rows of the terminal.
func (v *view) height() int { return cmp.Or(v.cfg.Streams.Height(), defaultRows) }

// width returns how many columns a line may have: one fewer than the terminal, since
// some terminals wrap after a character in the last column.
func (v *view) width() int { return cmp.Or(v.cfg.Streams.Width(), 80) - 1 }

// isNarrow reports whether the terminal has no room for all columns of a row.
func (v *view) isNarrow() bool { return v.width() < narrow }

// cut cuts a line to columns.
func (v *view) cut(text string, columns int) string {
	return term.Cut(text, columns, v.glyphs.ellipsis)
}

// fit breaks lines between words on a terminal whose status lines are redrawn.
func (v *view) fit(text string) string {
	if v.cfg.Face != Live {
		return text
	}
	var lines []string
	for line := range strings.Lines(text) {
		indent := "  "
		if strings.HasPrefix(line, "| ") {
			indent = "| "
		}
		lines = append(lines, term.Fold(strings.TrimSuffix(line, "\n"), v.width(), indent)...)
	}
	return strings.Join(append(lines, ""), "\n")
}

// A Forecast estimates from past runs how long a run takes.
type Forecast interface {
	Runs() int                               // how many past runs, at least 1
	Age(elapsed time.Duration) time.Duration // the age of the operation after a wait of elapsed
	Quantile(p float64) time.Duration        // the age that a run does not exceed, with chance p
	Done(age time.Duration) float64          // the chance, 0 to 1, that a run is over by that age
}

// A run is late if its chance to be over is at least late. For the few runs that take longer, a
// forecast is too rough.
const late = 0.98

// left returns how long a run that is not over at this age usually lasts from now on, by the median of
// such runs: "about 3m left". It returns "" without a forecast.
func left(f Forecast, age time.Duration) string {
	if f == nil {
		return ""
	}
	age = age.Truncate(time.Second)
	over := done(f, age)
	if over >= late {
		return "later than usual"
	}
	return "about " + words.Short(max(0, f.Quantile((1+over)/2)-f.Age(age))) + " left"
}

// outlook returns how long such runs take, with the range of four in five: "usually 8m (5m to 11m, 34
// runs)". If the operation started before the wait, outlook adds the time that is left. It returns "" without a forecast.
func outlook(f Forecast) string {
	if f == nil {
		return ""
	}
	text := fmt.Sprintf("usually %s (%s to %s, %s)", words.Short(f.Quantile(0.5)), words.Short(f.Quantile(0.1)), words.Short(f.Quantile(0.9)), words.Count(f.Runs(), "run"))
	if done(f, 0) > 0 {
		text += "; " + left(f, 0)
	}
	return text
}

// done returns the chance that a run is over after a wait of age.
func done(f Forecast, age time.Duration) float64 {
	return min(max(f.Done(f.Age(age)), 0), 1)
}

// mostTold is the largest number of targets, lists, failures, origins or changes of a reason that
// are shown or reported each by itself.
const mostTold = 20

// oneLine returns untrusted text as part of one line, cut to a limit of columns.
func oneLine(s string) string {
	const columns, bytes = 300, 8 << 10 // of the text: columns that are shown, and bytes that are read
	return term.Cut(term.Line(s[:min(len(s), bytes)]), columns, "...")
}

// oneLines returns each of the texts as a line with the prefix.
func oneLines(prefix string, texts ...[]string) []string {
	var list []string
	for _, s := range slices.Concat(texts...) {
		list = append(list, prefix+oneLine(s))
	}
	return list
}

// ownLines returns lines of poll with their prefix, and blocks of text from outside without a change.
func ownLines(lines []string) (text string) {
	for _, line := range lines {
		if !strings.HasPrefix(line, "| ") {
			line = "poll: " + line
		}
		text += line + "\n"
	}
	return text
}

// clauses joins the texts that are not empty.
func clauses(all ...string) string { return joined("; ", all...) }

// joined joins the texts that are not empty by a separator.
func joined(sep string, all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), sep)
}

// pad fills text up with spaces.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-term.Width(text)))
}

// clock formats the age of a run for a column, where digits keep their places: "4.2s", "2m05s",
// "1h02m05s". It rounds down.
func clock(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	}
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	if h == 0 {
		return fmt.Sprintf("%dm%02ds", m, s)
	}
	return fmt.Sprintf("%dh%02dm%02ds", h, m, s)
}

// How much of text from outside is shown: lines, and columns of each line.
const (
	closingHead = 8
	closingTail = 10
	verboseHead = 5
	blockWidth  = 200
)

// responseLines returns the response to the last attempt, with the end of a command's stderr.
func responseLines(o *status.Observation, withStderr bool) (lines []string) {
	code, what := codeOf(o), "the last response"
	if code != "" {
		what += " (" + code + ")"
	}
	switch {
	case len(o.Body) > 0:
		lines = append([]string{what + ", " + sizeOf(o) + ":"}, excerpt(o.Body, closingHead, false)...)
	case code != "" && len(o.Stderr) == 0:
		lines = []string{what + " was empty"}
	}
	if len(o.Stderr) > 0 && withStderr {
		lines = append(append(lines, "the end of its stderr:"), excerpt(o.Stderr, closingTail, true)...)
	}
	return lines
}

// codeOf returns the code of a response in words: HTTP 404, exit 3. It returns "" without a code.
func codeOf(o *status.Observation) string {
	switch {
	case o.Code != nil:
		return fmt.Sprintf("HTTP %d", *o.Code)
	case o.Exit != nil:
		return fmt.Sprintf("exit %d", *o.Exit)
	}
	return ""
}

// sizeOf returns the size of a response in words.
func sizeOf(o *status.Observation) string {
	s := words.Count(int(max(o.Size, int64(len(o.Body)))), "byte")
	if o.Truncated && o.Size > int64(len(o.Body)) {
		s += fmt.Sprintf(", of which %d were kept", len(o.Body))
	}
	return s
}

// excerpt returns a number of lines of text from outside as a block: the first lines or, with
// fromEnd, the last lines.
func excerpt(text []byte, lines int, fromEnd bool) (rows []string) {
	const longest = blockWidth * utf8.UTFMax // the bytes of a line that are read
	const mark = "| ..."
	more := false
	for line := range bytes.Lines(text) {
		if more = len(rows) == lines; more && !fromEnd {
			return append(rows, mark)
		}
		if more {
			rows = rows[1:]
		}
		row := term.Block(string(line[:min(len(line), longest)]))
		rows = append(rows, term.Cut(strings.TrimSuffix(row, "\n"), blockWidth, "..."))
	}
	if more {
		return append([]string{mark}, rows...)
	}
	return rows
}
