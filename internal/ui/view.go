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
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A Face is a way to show the events of a wait, as a value of --progress.
type Face string

// The faces, with their values of --progress.
const (
	Auto  Face = "auto"  // Live on a terminal that can redraw lines, otherwise Lines
	Live  Face = "live"  // status lines that are redrawn at the bottom of the terminal, below a log
	Lines Face = "lines" // a log
	JSON  Face = "json"  // a JSON object for each event
	None  Face = "none"  // failures only
)

// Faces returns all faces.
func Faces() []Face { return []Face{Auto, Live, Lines, JSON, None} }

// choose returns f. If f is Auto or "", it returns the face that suits the streams and the environment.
func (f Face) choose(s *term.Streams, getenv func(string) string) Face {
	switch {
	case f != Auto && f != "":
		return f
	case !s.ErrIsTerminal, s.Dumb, getenv("CI") == "true":
		return Lines
	}
	return Live
}

// A Config configures a [Reporter].
type Config struct {
	Streams *term.Streams // the Reporter writes progress to Err
	Palette term.Palette  // the zero value has no colors
	Face    Face          // Auto and "" choose a face that suits the streams and the environment
	Verbose bool          // report every attempt, with the start of its response and the rule that matched

	// Heartbeat is the longest time without a line in the log. 0 means no limit. Nil means 30 s, doubled after
	// each heartbeat up to 5 min.
	Heartbeat *time.Duration
	Until     []string            // the conditions as the user has written them, and the preset's name, for the opening line
	Opening   []string            // lines to print after the opening line
	Forecast  Forecast            // how long such a run usually takes; nil if unknown
	Getenv    func(string) string // reads environment variables such as CI; nil means an empty environment
	// Show are expressions for values to show from each response. A number is a progress if its expression
	// contains a name such as progress or percent. A string such as 62% or 3/10 is a progress, too. The first
	// progress is shown as a bar. If Show is empty, the members progress, percent, percentComplete and
	// progress_percentage of a successful response are used.
	Show []*expr.Expr

	// Goal describes the goal for several targets, such as "any of 3 targets". Their events come from a
	// [poll.Group]. Goal is "" for a single wait.
	Goal    string
	Targets int           // the number of targets
	Timeout time.Duration // the time limit for all targets together, or for a continued wait; 0 means no limit

	// Again reports whether the user may run the command again after a timeout, without starting an operation
	// twice. A nil Again means false. If Slice is true, the next run continues the wait, and the closing line ends
	// with "call again".
	Again func() bool
	Slice bool
}

// The glyphs are the characters for drawing, apart from letters.
type glyphs struct {
	spinner     []rune
	full, empty string // the filled and the empty part of a bar
	good, bad   string // mark a target that has ended
	ellipsis    string // marks text that was cut
}

func glyphsOf(unicode bool) glyphs {
	if unicode {
		return glyphs{spinner: []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"), full: "━", empty: "─", good: "✓", bad: "✗", ellipsis: "…"}
	}
	return glyphs{spinner: []rune(`|/-\`), full: "=", empty: "-", good: "+", bad: "x", ellipsis: "..."}
}

// frame returns the spinner's character, which depends only on the elapsed time.
func (g glyphs) frame(elapsed time.Duration) string {
	return string(g.spinner[int(elapsed/redraw)%len(g.spinner)])
}

// bar returns a bar that shows a share from 0 to 1.
func (g glyphs) bar(done float64) string {
	n := int(done * barWidth)
	return strings.Repeat(g.full, n) + strings.Repeat(g.empty, barWidth-n)
}

// Limits for drawing.
const (
	redraw       = 100 * time.Millisecond // the minimum time between two drawings
	barWidth     = 10
	defaultRows  = 24 // the height of a terminal whose size is unknown
	leastColumns = 24 // columns; poll does not draw on a narrower terminal
	wide         = 99 // columns; on a narrower terminal, names and reasons leave no room for bars
	narrow       = 60 // columns; on a narrower terminal, the elapsed time is the only number in a row
)

// A view holds the data that all faces need: the configuration, the board and the size of the terminal.
type view struct {
	cfg    Config
	board  *board
	glyphs glyphs
	notes  []string    // the notes that Note has received so far
	child  *term.Lines // the stderr of a command; nil if it is not shown
}

// height returns the number of rows of the terminal.
func (v *view) height() int { return cmp.Or(v.cfg.Streams.Height(), defaultRows) }

// width returns the maximum length of a line in columns. It is one less than the terminal's width, because some
// terminals wrap a line after a character in the last column.
func (v *view) width() int { return cmp.Or(v.cfg.Streams.Width(), 80) - 1 }

// isNarrow reports whether the terminal is too narrow for all columns of a row.
func (v *view) isNarrow() bool { return v.width() < narrow }

// cut shortens text to the given number of columns.
func (v *view) cut(text string, columns int) string {
	return term.Cut(text, columns, v.glyphs.ellipsis)
}

// fit breaks long lines between words if the face is Live. Other faces do not depend on the terminal's width.
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

// A Forecast estimates how long a run takes from the durations of past runs.
type Forecast interface {
	Runs() int                               // the number of past runs, at least 1
	Age(elapsed time.Duration) time.Duration // the operation's age when the wait has lasted for elapsed
	Quantile(p float64) time.Duration        // the age within which a run ends with the probability p
	Done(age time.Duration) float64          // the probability that a run is over at the given age
}

// late is a limit for the probability that a run is over. If the forecast reaches late while the run still lasts, at
// most 2% of the runs take longer. Too few past runs then remain for a useful estimate of the time left.
const late = 0.98

// left returns how much longer a run will probably take, such as "about 3m left". age is how long poll has known
// that the operation is running. The estimate is the median of the runs that take longer than age, according to
// f. If at most 2% of the runs take longer, left returns "later than usual". It returns "" if f is nil.
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

// outlook returns how long such runs take. It shows the median, the range that contains 80% of the runs, and their
// number: "usually 8m (5m to 11m, 34 runs)". If the operation started before the wait, it also shows how much
// longer the run will probably take. It returns "" without a forecast.
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

// done returns the probability that a run is over. age is how long poll has known that the operation is running.
func done(f Forecast, age time.Duration) float64 {
	return min(max(f.Done(f.Age(age)), 0), 1)
}

// mostShown limits how many targets, lists, failures, origins or changes of a reason are shown separately.
const mostShown = 20

// oneLine returns untrusted text in a form that is safe to show as part of a line, cut to a maximum width.
func oneLine(s string) string {
	const columns, bytes = 300, 8 << 10 // the maximum width of the result in columns, and the number of bytes of s that are read
	return term.Cut(term.Line(s[:min(len(s), bytes)]), columns, "...")
}

// oneLines returns each string in texts as a safe line that starts with prefix.
func oneLines(prefix string, texts ...[]string) []string {
	var list []string
	for _, s := range slices.Concat(texts...) {
		list = append(list, prefix+oneLine(s))
	}
	return list
}

// ownLines joins lines. It adds the prefix "poll: " to each line, except to the lines of quoted text, which start
// with "| ".
func ownLines(lines []string) (text string) {
	for _, line := range lines {
		if !strings.HasPrefix(line, "| ") {
			line = "poll: " + line
		}
		text += line + "\n"
	}
	return text
}

// clauses joins the strings that are not empty with "; ".
func clauses(all ...string) string { return joined("; ", all...) }

// joined joins the strings that are not empty with the separator sep.
func joined(sep string, all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), sep)
}

// pad appends spaces to text until it has the given number of columns.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-term.Width(text)))
}

// clock formats the age of a run, rounded down, such as "4.2s", "2m05s" or "1h02m05s". Minutes and seconds always
// have two digits after a larger unit, so that a column of ages is easy to read.
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

// Limits for quoted text from outside: the number of lines, and the width of each line in columns.
const (
	closingHead = 8
	closingTail = 10
	verboseHead = 5
	blockWidth  = 200
)

// responseLines returns the lines that show the last response. If withStderr is true, they include the end of a
// command's stderr.
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

// codeOf returns the HTTP status or the exit code in a form such as "HTTP 404" or "exit 3". It returns "" if the
// response has no code.
func codeOf(o *status.Observation) string {
	switch {
	case o.Code != nil:
		return fmt.Sprintf("HTTP %d", *o.Code)
	case o.Exit != nil:
		return fmt.Sprintf("exit %d", *o.Exit)
	}
	return ""
}

// sizeOf describes the size of a response, and how much of it was kept.
func sizeOf(o *status.Observation) string {
	s := words.Count(int(max(o.Size, int64(len(o.Body)))), "byte")
	if o.Truncated && o.Size > int64(len(o.Body)) {
		s += fmt.Sprintf(", of which %d were kept", len(o.Body))
	}
	return s
}

// excerpt quotes up to the given number of lines of text from outside. It returns the first lines or, if fromEnd is
// true, the last lines. If lines are omitted, an additional line marks the gap.
func excerpt(text []byte, lines int, fromEnd bool) (rows []string) {
	const longest = blockWidth * utf8.UTFMax // how many bytes of a line are read
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
