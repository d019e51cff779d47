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
	"sync"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A shown is the progress in a response. It consists of the values of the expressions in [Config.Show]. Without such
// expressions, it is the value of the first usual member that the response contains.
type shown struct {
	values []any   // for JSON, one for each expression; nil if an expression has no value
	others string  // the values next to the bar, separated by commas
	label  string  // the text after the bar, such as 62% or 3/10; "" without a bar
	share  float64 // the part of the bar that is filled, from 0 to 1
}

// usualMembers returns expressions for the members of a JSON response that usually hold the progress of an
// operation. It compiles the expressions on the first call.
var usualMembers = sync.OnceValue(func() (list []*expr.Expr) {
	for _, path := range []string{".progress", ".percent", ".percentComplete", ".progress_percentage"} {
		x, _ := expr.CompileValue(path) // the expressions always compile
		list = append(list, x)
	}
	return list
})

const (
	maxShown  = 60          // the maximum width of a value, in columns
	maxLabel  = 13          // the maximum width of "done/total" after a bar
	mostUsual = 1 << 20     // the maximum size, in bytes, of a response that is searched for the usual members
	mostTime  = time.Second // the time limit for evaluating the values in one response
)

// progressOf returns the progress in the response o. It returns the zero value if o contains no progress.
func (v *view) progressOf(o *status.Observation) (found shown) {
	asked, hasShow := v.cfg.Show, len(v.cfg.Show) > 0
	if o.Stopped() || !hasShow && !mayShowProgress(o) {
		return shown{}
	}
	if !hasShow {
		asked = usualMembers()
	}
	ctx, cancel := context.WithTimeout(context.Background(), mostTime)
	defer cancel()
	env := status.Environment(o)
	env.Context = ctx
	for _, x := range asked {
		value := x.Eval(env).Value()
		if hasShow || value.Type == "number" || value.Type == "string" && value.Text() != "" { // a usual member may have any type
			found.add(x, value)
		}
		if !hasShow && len(found.values) > 0 {
			break
		}
	}
	if !slices.ContainsFunc(found.values, func(v any) bool { return v != nil }) {
		return shown{}
	}
	return found
}

// mayShowProgress reports whether a successful response may contain one of the usual members. It is a fast test that does
// not parse the response.
func mayShowProgress(o *status.Observation) bool {
	return o.Good() && len(o.Body) <= mostUsual &&
		(bytes.Contains(o.Body, []byte(`"progress`)) || bytes.Contains(o.Body, []byte(`"percent`)))
}

// read returns the progress in the event's response, and stores it in the row. If the response is unsuccessful and
// contains no progress, the row keeps its previous progress. If the progress is not displayed, read returns the zero
// value and does not change the row.
func (v *view) read(row *boardRow, ev poll.Event) shown {
	isList := row != nil && row.n == 0 && !v.board.single()
	isShown := v.board.isFew() || v.cfg.Verbose || v.cfg.Face == JSON
	if ev.Kind != poll.EventAttempt && ev.Kind != poll.EventMessage || v.cfg.Face == None || isList || !isShown {
		return shown{}
	}
	found := v.progressOf(ev.Observation)
	if found.values != nil || ev.Observation.Good() {
		row.progress = found
	}
	return found
}

// add adds v, the value of the expression x. The first value that is a progress becomes the bar.
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

// readProgress interprets text, the value of an expression, as a progress. name is the source of the expression in
// lower case. text may be a percentage such as 62%, or a ratio such as 3/10. A number is a progress only if name
// suggests it. A number up to 1 with a decimal point, such as 0.25 or 1.0, is a share, unless name contains
// "percent". For any other value, readProgress returns the label "".
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
		label = fmt.Sprintf("%d%%", int(math.Floor(100*n/of+1e-9))) // rounded down: 100% means that the operation is complete
	}
	return n / of, label
}

// words returns the progress and the other values as text, such as "62%, copying".
func (s shown) words() string { return joined(", ", s.label, s.others) }

// step returns a string that changes when the progress deserves a new line in the log: when the share passes
// another tenth, or when another value changes.
func (s shown) step() string {
	if s.label == "" {
		return s.others
	}
	return fmt.Sprint(int(10*s.share), s.others)
}

// bar returns the progress bar with its label, or "" if the label is "".
func (s shown) bar(g glyphs) string {
	if s.label == "" {
		return ""
	}
	return fmt.Sprintf("%s %-3s", g.bar(s.share), s.label)
}
