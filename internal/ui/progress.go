package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A reading is what an answer says of the progress: the values of [Config.Show] or, where
// there are none, of one of the members that usually tell of it.
type reading struct {
	values []any   // of each expression, for programs: nil where there is none
	others string  // those that draw no bar
	label  string  // of the bar: 62%, 3/10; "" for no bar
	share  float64 // of the bar, from 0 to 1
}

// usualMembers are compiled when they are first needed.
func usualMembers() (list []*expr.Expr) {
	for _, path := range []string{".progress", ".percent", ".percentComplete", ".progress_percentage"} {
		if x, err := expr.CompileValue(path); err == nil { // they all compile
			list = append(list, x)
		}
	}
	return list
}

const (
	maxShown  = 60          // columns of a value
	maxLabel  = 13          // of done/total beside a bar
	mostUsual = 1 << 20     // bytes of an answer that is searched unasked
	mostTime  = time.Second // for the values of one answer
)

// look finds what an answer says of the progress, the zero reading for nothing.
func (r *Reporter) look(o *status.Observation) (found reading) {
	show, isAsked := r.cfg.Show, len(r.cfg.Show) > 0
	switch {
	case o == nil, o.Stopped(), !isAsked && !mayTell(o):
		return reading{}
	case !isAsked:
		show = r.usual()
	}
	ctx, cancel := context.WithTimeout(context.Background(), mostTime)
	defer cancel()
	env := status.Environment(o)
	env.Context = ctx
	for _, x := range show {
		v := x.Eval(env).Value()
		if isAsked {
			found.add(x, v)
		} else if v.Type == "number" || v.Type == "string" && v.Text() != "" { // a member of this name may be anything
			found.add(x, v)
			break
		}
	}
	if !slices.ContainsFunc(found.values, func(v any) bool { return v != nil }) {
		return reading{}
	}
	return found
}

// mayTell reports whether an answer may have one of the usual members, without reading it as JSON.
func mayTell(o *status.Observation) bool {
	return o.Good() && len(o.Body) <= mostUsual &&
		(bytes.Contains(o.Body, []byte(`"progress`)) || bytes.Contains(o.Body, []byte(`"percent`)))
}

// read finds what an event says of the progress of its row, and keeps it. An attempt without a
// good answer leaves that as it is.
func (r *Reporter) read(row *Row, ev poll.Event) reading {
	isList := row != nil && row.n == 0 && !r.board.single()
	isShown := r.board.few() || r.cfg.Verbose || r.cfg.Face == JSON
	if ev.Kind != poll.EventAttempt && ev.Kind != poll.EventMessage || r.cfg.Face == None || isList || !isShown {
		return reading{}
	}
	found := r.look(ev.Observation)
	if found.values != nil || ev.Observation != nil && ev.Observation.Good() {
		row.progress = found
	}
	return found
}

// add takes the value of an expression. The first that is a progress is drawn.
func (s *reading) add(x *expr.Expr, v expr.Value) {
	if !v.Exists() {
		s.values = append(s.values, nil)
		return
	}
	text := term.Cut(oneLine(v.Text()), maxShown, "...")
	var value any = text
	if v.Type != "string" && json.Valid([]byte(text)) {
		value = json.RawMessage(text)
	}
	s.values = append(s.values, value)
	if s.label == "" && (v.Type == "number" || v.Type == "string") {
		name := strings.ToLower(x.String())
		isPercent := strings.Contains(name, "percent") || strings.Contains(name, "pct")
		if s.share, s.label = readProgress(text, isPercent, v.Type == "number"); s.label != "" {
			return
		}
	}
	s.others = joined(", ", s.others, text)
}

// readProgress reads a progress, with a label of "" for none: a number, 62%, or done/total. A
// number up to 1 with a point is a share, such as 0.25 and 1.0, unless it is called a percentage.
func readProgress(text string, isPercent, isNumber bool) (share float64, label string) {
	done, total, isRatio := strings.Cut(text, "/")
	number, sign := strings.CutSuffix(done, "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	of := 100.0
	switch {
	case err != nil, isRatio && sign, !isRatio && !isNumber && !sign: // a plain number as text may count anything
		return 0, ""
	case isRatio:
		of, err = strconv.ParseFloat(strings.TrimSpace(total), 64)
	case !isPercent && !sign && n <= 1 && strings.Contains(number, "."):
		of = 1
	}
	if err != nil || !(n >= 0 && n <= of && of > 0) || math.IsInf(of, 0) {
		return 0, ""
	}
	if label = strings.TrimSpace(done) + "/" + strings.TrimSpace(total); !isRatio || len(label) > maxLabel {
		label = percentWords(n / of)
	}
	return n / of, label
}

// percentWords rounds down, so that only what is done is at 100%.
func percentWords(share float64) string {
	return fmt.Sprintf("%d%%", int(math.Floor(100*share+1e-9)))
}

// words says it in a line: "62%, copying".
func (s reading) words() string { return joined(", ", s.label, s.others) }

// step changes where the progress is worth a line: at each tenth, or where other values do.
func (s reading) step() string {
	if s.label == "" {
		return s.others
	}
	return fmt.Sprint(int(10*s.share), s.others)
}

// bar returns the bar of what is shown and its label, empty if there is none.
func (s reading) bar(g glyphs) string {
	if s.label == "" {
		return ""
	}
	return fmt.Sprintf("%s %-3s", g.bar(s.share), s.label)
}
