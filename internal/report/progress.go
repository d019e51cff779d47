package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A reading is what an answer says of the progress: the values of [Config.Show] or, where
// there are none, of one of the members that usually tell of it.
type reading struct {
	values []any    // of each expression, for programs: nil where there is none
	texts  []string // that draw no bar
	label  string   // of the bar: 62%, 3/10; "" for no bar
	share  float64  // of the bar, from 0 to 1
}

// A gauge is an expression that is evaluated for people.
type gauge struct {
	value   *expr.Expr
	percent bool // its numbers are percents, as it says
}

func newGauge(x *expr.Expr) gauge {
	name := strings.ToLower(x.String())
	return gauge{x, strings.Contains(name, "percent") || strings.Contains(name, "pct")}
}

// A meter finds what answers say of the progress.
type meter struct {
	asked   []gauge
	members []gauge // to look for if none are asked for
}

func newMeter(show []*expr.Expr) (m meter) {
	for _, x := range show {
		m.asked = append(m.asked, newGauge(x))
	}
	for _, path := range []string{".progress", ".percent", ".percentComplete", ".progress_percentage"} {
		if x, err := expr.CompileValue(path); err == nil && len(show) == 0 { // they all compile
			m.members = append(m.members, newGauge(x))
		}
	}
	return m
}

const (
	maxShown   = 60          // columns of a value
	maxLabel   = 13          // of done/total beside a bar
	mostUsual  = 1 << 20     // bytes of an answer that is searched unasked
	mostGauged = time.Second // for the values of one answer
)

// look finds what an answer says of the progress, nil for nothing.
func (m meter) look(ev poll.Event, s *scale) *reading {
	o := ev.Observation
	if o == nil || o.Stopped() {
		return nil
	}
	gauges := m.asked
	if len(gauges) == 0 {
		if !o.Good() || !mayTell(o) {
			return nil
		}
		gauges = m.members
	}
	most := mostGauged
	if !ev.Deadline.IsZero() {
		most = min(most, max(0, time.Until(ev.Deadline)))
	}
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	env := status.Environment(o)
	env.Context = ctx
	var found reading
	some := false
	for _, g := range gauges {
		v := g.value.Eval(env).Value()
		if len(m.asked) == 0 && v.Kind != expr.KindNumber && (v.Kind != expr.KindString || v.Text() == "") {
			continue // a member of this name may be anything
		}
		found.add(v, g.percent, s)
		if some = some || v.Exists(); some && len(m.asked) == 0 {
			break
		}
	}
	if !some {
		return nil
	}
	return &found
}

// show finds what an event says of the progress, and keeps it as the latest of its target.
// An attempt without a good answer leaves that as it is.
func (r *Reporter) show(ev poll.Event, s *scale, latest **reading) {
	r.reading = nil
	if ev.Kind != poll.EventAttempt || r.cfg.Face == None {
		return
	}
	if r.reading = r.meter.look(ev, s); r.reading != nil || ev.Observation != nil && ev.Observation.Good() {
		*latest = r.reading
	}
}

// showOf does so for one of several targets, nil for none, if anything is to be said of
// each.
func (r *Reporter) showOf(t *target, ev poll.Event) {
	var passing *reading
	switch {
	case t == nil:
		r.reading = nil
	case t.row != nil:
		r.show(ev, &t.scale, &t.row.reading)
	case r.cfg.Verbose, r.cfg.Face == JSON:
		r.show(ev, &t.scale, &passing)
	}
}

// mayTell reports whether an answer may have one of the usual members.
func mayTell(o *status.Observation) bool {
	return len(o.Body) <= mostUsual && bytes.HasPrefix(bytes.TrimLeft(o.Body, " \t\r\n"), []byte("{")) &&
		(bytes.Contains(o.Body, []byte(`"progress`)) || bytes.Contains(o.Body, []byte(`"percent`)))
}

// add takes a value. The first that is a progress is drawn.
func (s *reading) add(v expr.Value, percent bool, scale *scale) {
	if !v.Exists() {
		s.values = append(s.values, nil)
		return
	}
	text := term.Cut(oneLine(v.Text()), maxShown, "...")
	var value any = text
	if v.Kind != expr.KindString && json.Valid([]byte(text)) {
		value = json.RawMessage(text)
	}
	s.values = append(s.values, value)
	if s.label == "" && (v.Kind == expr.KindNumber || v.Kind == expr.KindString) {
		if share, label, ok := scale.read(text, percent, v.Kind == expr.KindNumber); ok {
			s.share, s.label = share, label
			return
		}
	}
	if text != "" {
		s.texts = append(s.texts, text)
	}
}

// A scale remembers which numbers there were, since a number up to 1 may be a share or a
// percent.
type scale uint8

const (
	aboveOne  scale = 1 << iota // so they are percents
	fractions                   // between 0 and 1: shares, unless others are above
)

// share returns the share of 1 that a number means. A 1 is all only after fractions and
// as long as nothing was above it: otherwise it is 1%.
func (s *scale) share(v float64, percent bool) (share float64, ok bool) {
	switch {
	case !(v >= 0 && v <= 100):
		return 0, false
	case v > 1:
		*s |= aboveOne
	case v > 0 && v < 1:
		*s |= fractions
	}
	if percent || *s != fractions {
		return v / 100, true
	}
	return v, true
}

// read reads a progress: a number, 62%, or done/total.
func (s *scale) read(text string, percent, number bool) (share float64, label string, ok bool) {
	if before, after, both := strings.Cut(text, "/"); both {
		before, after = strings.TrimSpace(before), strings.TrimSpace(after)
		done, err := strconv.ParseFloat(before, 64)
		total, wrong := strconv.ParseFloat(after, 64)
		if err != nil || wrong != nil || !(done >= 0 && done <= total && total > 0) || math.IsInf(total, 0) {
			return 0, "", false
		}
		if label = before + "/" + after; len(label) > maxLabel {
			label = percentWords(done / total)
		}
		return done / total, label, true
	}
	text, sign := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !number && !sign { // a plain number as text may count anything
		return 0, "", false
	}
	share, ok = s.share(v, percent || sign)
	return share, percentWords(share), ok
}

// percentWords rounds down, so that only what is done is at 100%.
func percentWords(share float64) string {
	return fmt.Sprintf("%d%%", int(math.Floor(100*share+1e-9)))
}

// words says it in a line: "62%, copying".
func (s *reading) words() string {
	if s == nil {
		return ""
	}
	words := s.texts
	if s.label != "" {
		words = append([]string{s.label}, words...)
	}
	return strings.Join(words, ", ")
}

// others says what is not in the bar.
func (s *reading) others() string {
	if s == nil {
		return ""
	}
	return strings.Join(s.texts, ", ")
}

// step changes where the progress is worth a line: at each tenth, or where other values
// do.
func (s *reading) step() string {
	if s == nil {
		return ""
	}
	if s.label == "" {
		return s.others()
	}
	return fmt.Sprint(int(10*s.share), s.others())
}

// before puts some words before others.
func before(first, then string) string {
	if first == "" || then == "" {
		return first + then
	}
	return first + "; " + then
}

// progressBar returns the bar of what is shown and its label, empty if there is none.
func (r *Reporter) progressBar(s *reading) piece {
	if s == nil || s.label == "" {
		return plain("")
	}
	bar, label := r.bar(s.share, barWidth), fmt.Sprintf(" %-3s", s.label)
	return piece{bar.plain + label, bar.painted + label}
}
