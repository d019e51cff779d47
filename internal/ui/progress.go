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

// shown is the progress in a response: the values of [Config.Show] or, if that is empty,
// the first of the usual members.
type shown struct {
	values []any   // of each expression, for programs: nil without a value
	others string  // the values that are not shown as a bar
	label  string  // of the bar: 62%, 3/10; "" for no bar
	share  float64 // of the bar, from 0 to 1
}

// usualMembers returns the members that often hold a progress.
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
	maxLabel  = 13          // columns of done/total next to a bar
	mostUsual = 1 << 20     // bytes of a response that is searched for the usual members
	mostTime  = time.Second // for the values of one response
)

// progressOf returns the progress in a response, or the zero value.
func (v *view) progressOf(o *status.Observation) (found shown) {
	isAsked := len(v.cfg.Show) > 0
	if o == nil || o.Stopped() || !isAsked && !mayTell(o) {
		return shown{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), mostTime)
	defer cancel()
	env := status.Environment(o)
	env.Context = ctx
	for _, x := range v.asked {
		value := x.Eval(env).Value()
		if isAsked || value.Type == "number" || value.Type == "string" && value.Text() != "" { // a usual member may be anything
			found.add(x, value)
		}
		if !isAsked && len(found.values) > 0 {
			break
		}
	}
	if !slices.ContainsFunc(found.values, func(v any) bool { return v != nil }) {
		return shown{}
	}
	return found
}

// mayTell reports whether a response may have one of the usual members, without parsing it.
func mayTell(o *status.Observation) bool {
	return o.Good() && len(o.Body) <= mostUsual &&
		(bytes.Contains(o.Body, []byte(`"progress`)) || bytes.Contains(o.Body, []byte(`"percent`)))
}

// read returns the progress in the response of an event, and keeps it in the row. An attempt without a
// successful response does not change the row.
func (v *view) read(row *Row, ev poll.Event) shown {
	isList := row != nil && row.n == 0 && !v.board.single()
	isShown := v.board.few() || v.cfg.Verbose || v.cfg.Face == JSON
	if ev.Kind != poll.EventAttempt && ev.Kind != poll.EventMessage || v.cfg.Face == None || isList || !isShown {
		return shown{}
	}
	found := v.progressOf(ev.Observation)
	if found.values != nil || ev.Observation != nil && ev.Observation.Good() {
		row.progress = found
	}
	return found
}

// add adds the value of an expression. The first progress is shown as a bar.
func (s *shown) add(x *expr.Expr, v expr.Value) {
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
		if s.share, s.label = readProgress(text, strings.ToLower(x.String()), v.Type == "number"); s.label != "" {
			return
		}
	}
	s.others = joined(", ", s.others, text)
}

// readProgress parses the value of a member as a progress: 62%, done/total or, if the name means a
// progress, a number. A number up to 1 with a point is a share, such as 0.25 and 1.0, unless it is
// called a percentage. Any other value may count anything: it has the label "".
func readProgress(text, name string, isNumber bool) (share float64, label string) {
	done, total, isRatio := strings.Cut(text, "/")
	number, sign := strings.CutSuffix(done, "%")
	isPercent := sign || strings.Contains(name, "percent") || strings.Contains(name, "pct")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	of := 100.0
	switch {
	case err != nil, isRatio && sign, !isRatio && !sign && !(isNumber && (isPercent || strings.Contains(name, "progress"))):
		return 0, ""
	case isRatio:
		of, err = strconv.ParseFloat(strings.TrimSpace(total), 64)
	case !isPercent && n <= 1 && strings.Contains(number, "."):
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

// percentWords formats a share. It rounds down, so that 100% means that nothing is left.
func percentWords(share float64) string {
	return fmt.Sprintf("%d%%", int(math.Floor(100*share+1e-9)))
}

// words returns the progress and the other values: "62%, copying".
func (s shown) words() string { return joined(", ", s.label, s.others) }

// step changes when the progress is worth a line: at each tenth, or when other values change.
func (s shown) step() string {
	if s.label == "" {
		return s.others
	}
	return fmt.Sprint(int(10*s.share), s.others)
}

// bar returns the bar and its label, "" for no bar.
func (s shown) bar(g glyphs) string {
	if s.label == "" {
		return ""
	}
	return fmt.Sprintf("%s %-3s", g.bar(s.share), s.label)
}
