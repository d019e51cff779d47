package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/words"
)

const (
	otherLines   = 4  // of the terminal, that a table leaves free
	shownReasons = 5  // that most targets have
	shownPlaces  = 3  // that are closed
	shownOldest  = 3  // targets, where not all are shown
	defaultRows  = 24 // of a terminal that does not say
)

// groupLive is the face for several targets on a terminal: a table of them or, if they
// are too many, the state of all in a few lines, redrawn below what is worth keeping.
type groupLive struct {
	r     *Reporter
	above groupLog
	drawn time.Time
	said  int // columns of the longest words so far, so that names do not jump
}

func (v *groupLive) event(ev poll.Event) {
	if ev.Kind == poll.EventGoal {
		v.r.inBackground()
		v.r.con.finish(v.last(ev.At) + v.r.groupClosing(ev.Summary))
		return
	}
	v.above.event(ev)
	if now := time.Now(); now.Sub(v.drawn) >= redraw {
		v.tick(now)
	}
}

// last returns what stays of the table.
func (v *groupLive) last(now time.Time) string {
	if !v.r.shown() || !v.r.cfg.Streams.Foreground() {
		return ""
	}
	return strings.Join(v.table(v.r.group.targets, now), "\n") + "\n"
}

func (v *groupLive) due() time.Time { return v.drawn.Add(redraw) }

// tick redraws what is below the lines that stay.
func (v *groupLive) tick(now time.Time) {
	v.drawn = now
	if v.r.inBackground() {
		return
	}
	lines := v.lines(now)
	v.r.con.draw(lines[:min(len(lines), max(1, v.r.height()-1))]...)
}

// leastColumns is how wide a terminal must be for more than a few digits.
const leastColumns = 24

func (v *groupLive) lines(now time.Time) []string {
	switch g := v.r.group; {
	case v.r.width() < leastColumns:
		text := fmt.Sprintf("%s %d/%d", v.r.glyphs.frame(g.at(now)), g.done(), g.size)
		return []string{term.Cut(text, v.r.width(), "")}
	case v.r.shown():
		return append(v.table(g.targets, now), v.summary(now)...)
	}
	return v.overview(now)
}

// shown reports whether each target has a row in a table on the terminal.
func (r *Reporter) shown() bool {
	return r.cfg.Face == Live && r.group.few() && r.group.size <= r.height()-otherLines
}

// height returns the rows of the terminal.
func (r *Reporter) height() int { return cmp.Or(r.cfg.Streams.Height(), defaultRows) }

// width returns how many columns a line may have: one fewer than the terminal, since
// some terminals wrap after a character in the last column.
func (r *Reporter) width() int { return cmp.Or(r.cfg.Streams.Width(), 80) - 1 }

// A piece is a part of a line that is there in full or not at all.
type piece struct{ plain, painted string }

func plain(s string) piece { return piece{s, s} }

// line joins the pieces that fit into width columns.
func line(width int, gap string, pieces ...piece) string {
	var text string
	for _, p := range pieces {
		sep := gap
		if text == "" {
			sep = ""
		}
		if columns := term.Width(sep + p.plain); p.plain != "" && columns <= width {
			text += sep + p.painted
			width -= columns
		}
	}
	return text
}

// elapsed returns the time that is over, and how much there is.
func (v *groupLive) elapsed(now time.Time) piece {
	text := words.Clock(v.r.group.at(now))
	if d := v.r.cfg.Timeout; d > 0 {
		text += "/" + words.Short(d)
	}
	return plain(text)
}

// counts returns the counts as pieces.
func (v *groupLive) counts() (pieces []piece) {
	for _, c := range v.r.group.counts() {
		n := strconv.Itoa(c.n) + " "
		pieces = append(pieces, piece{n + c.word, n + v.r.cfg.Palette.Paint(c.tone, c.word)})
	}
	return pieces
}

// summary is what is below a table.
func (v *groupLive) summary(now time.Time) []string {
	g := v.r.group
	pieces := slices.Concat([]piece{v.elapsed(now)}, v.counts(), []piece{plain("(" + v.r.cfg.Goal + ")")})
	text := v.r.glyphs.frame(g.at(now)) + " " + line(v.r.width()-2, "  ", pieces...)
	return append(append([]string{text}, v.lists(now)...), v.places(now, 1)...)
}

// overview is what is shown of many targets.
func (v *groupLive) overview(now time.Time) []string {
	g, width := v.r.group, v.r.width()
	bar := v.r.bar(float64(g.over())/float64(max(1, g.size)), min(30, max(barWidth, width/4)))
	done := plain(fmt.Sprintf("%d of %d done", g.done(), g.size))
	lines := []string{
		v.r.glyphs.frame(g.at(now)) + " " + line(width-2, "  ", bar, done, v.elapsed(now), plain(g.pace(now))),
		"  " + line(width-2, "  ", append(v.counts(), plain("("+v.r.cfg.Goal+")"))...),
	}
	most := g.commonest(shownReasons)
	for _, one := range most {
		n := len(strconv.Itoa(most[0].waiting))
		text := fmt.Sprintf("  %*d  %s", n, one.waiting, one.text(v.r.glyphs.ellipsis))
		lines = append(lines, term.Cut(text, width, v.r.glyphs.ellipsis))
	}
	lines = append(append(lines, v.lists(now)...), v.places(now, shownPlaces)...)
	var oldest []*target
	for t := g.oldest; t != nil && len(oldest) < shownOldest; t = t.younger {
		oldest = append(oldest, t)
	}
	if len(oldest) > 0 {
		lines = append(lines, "  waiting longest:")
	}
	return append(lines, v.table(oldest, now)...)
}

// lists returns a line about the lists, or none.
func (v *groupLive) lists(now time.Time) []string {
	text := v.r.listWords(now)
	if text == "" {
		return nil
	}
	return []string{term.Cut("  "+text, v.r.width(), v.r.glyphs.ellipsis)}
}

// places returns a line for each of the first places that are closed.
func (v *groupLive) places(now time.Time, most int) (lines []string) {
	closed := v.r.group.closed(now)
	for i, p := range closed[:min(len(closed), most)] {
		text := "  " + p.words(now)
		if more := len(closed) - most; i == most-1 && more > 0 {
			text += fmt.Sprintf(" (and %d more)", more)
		}
		lines = append(lines, term.Cut(text, v.r.width(), v.r.glyphs.ellipsis))
	}
	return lines
}

// commonest returns the reasons that most targets have that have not ended, the most
// common one first.
func (g *group) commonest(most int) []*reason {
	var all []*reason
	for _, one := range g.reasons.byKey {
		if one.waiting > 0 {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b *reason) int {
		return cmp.Or(cmp.Compare(b.waiting, a.waiting), cmp.Compare(a.key, b.key))
	})
	return all[:min(len(all), most)]
}
