//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"syscall"
	"time"

	"github.com/itchyny/gojq"
	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/simulate"
	"github.com/pollcli/poll/internal/cli/plan"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// own returns the user and system time of this process so far, in seconds.
func own() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// inside returns a function that measures the cost of one call, garbage collection
// included, as the mean of n.
func inside(n int, call func() error) func() (float64, error) {
	return func() (float64, error) {
		before := own()
		for range n {
			if err := call(); err != nil {
				return 0, err
			}
		}
		return (own() - before) / float64(n), nil
	}
}

var errNoMatch = errors.New("it does not match")

func expressions() table {
	return table{
		title: "Conditions",
		about: "`.state == \"done\"` is asked about an answer whose last member it is; poll checks the document first. A verdict also has\n" +
			"its reason in words, for which the member is read again: once while the state is another, twice when it matches, at\n" +
			"the end of the wait. Limit for the condition on 10 MB: 1.5 times gjson.Valid and gjson.Get, a fifth of gojq.",
		print: func(out io.Writer, w *workshop) error {
			for _, c := range []struct {
				name string
				size int
				n    int
			}{{"1 KB", 1 << 10, 5000}, {"100 KB", 100 << 10, 100}, {"10 MB", 10 << 20, 2}} {
				entries, err := conditions(c.name, c.size, c.n)
				if err != nil {
					return err
				}
				if err := (contest{"", microseconds, entries}).print(out, w.rounds); err != nil {
					return err
				}
				fmt.Fprintln(out)
			}
			fmt.Fprintln(out, "Three conditions on an answer of 1 KB, limit: 10 µs.")
			fmt.Fprintln(out)
			three, err := threeConditions()
			if err != nil {
				return err
			}
			return three.print(out, w.rounds)
		},
	}
}

func conditions(name string, size, n int) ([]entry, error) {
	body := document(size)
	done, err := expr.Compile(`.state == "done"`)
	if err != nil {
		return nil, err
	}
	now := status.Rule{Status: status.Success, Expr: done, Origin: "--until"}
	never, err := status.NewRule(status.Success, `.state == "finished"`)
	if err != nil {
		return nil, err
	}
	query, err := gojq.Parse(`.state == "done"`)
	if err != nil {
		return nil, err
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, err
	}
	return []entry{
		{name + ": poll, the condition", "go", inside(n, func() error {
			return match(done.Eval(&expr.Env{Doc: expr.NewDoc(body)}).Matched())
		})},
		{name + ": poll, the verdict while it is another", "go", inside(n, func() error {
			return match(classify(status.Rules{Own: []status.Rule{never}}, body) == status.NotReady)
		})},
		{name + ": poll, the verdict when it matches", "go", inside(n, func() error {
			return match(classify(status.Rules{Own: []status.Rule{now}}, body) == status.Success)
		})},
		{name + ": gjson.Valid and gjson.Get", "go", inside(n, func() error {
			return match(gjson.ValidBytes(body) && gjson.GetBytes(body, "state").Str == "done")
		})},
		{name + ": encoding/json and gojq", "go", inside(max(1, n/10), func() error {
			var doc any
			if err := json.Unmarshal(body, &doc); err != nil {
				return err
			}
			value, _ := code.Run(doc).Next()
			return match(value == true)
		})},
	}, nil
}

func match(matched bool) error {
	if !matched {
		return errNoMatch
	}
	return nil
}

func classify(rules status.Rules, body []byte) status.Status {
	code := 200
	return rules.Classify(context.Background(), status.Observation{Kind: status.KindHTTP, Code: &code, Body: body, Size: int64(len(body))}).Status
}

func threeConditions() (contest, error) {
	body := document(1 << 10)
	var rules status.Rules
	for _, r := range []struct {
		status    status.Status
		condition string
	}{
		{status.Throttled, `$status == 429 || .progress == null`},
		{status.Error, `.state in ["failed", "canceled"]`},
		{status.Success, `.state == "done" && .progress >= 1000000`},
	} {
		rule, err := status.NewRule(r.status, r.condition)
		if err != nil {
			return contest{}, err
		}
		rules.Own = append(rules.Own, rule)
	}
	code := 200
	return contest{"", microseconds, []entry{
		{"poll, three conditions", "go", inside(5000, func() error {
			env := &expr.Env{Doc: expr.NewDoc(body), Status: &code, Body: body}
			for i := range rules.Own {
				if rules.Own[i].Expr.Eval(env).Matched() {
					return errNoMatch
				}
			}
			return nil
		})},
		{"poll, the verdict of three conditions", "go", inside(5000, func() error { return match(classify(rules, body) == status.NotReady) })},
		{"gjson.Valid and four times gjson.Get", "go", inside(5000, func() error {
			return match(gjson.ValidBytes(body) && gjson.GetBytes(body, "state").Str == "done" && gjson.GetBytes(body, "state").Exists() &&
				gjson.GetBytes(body, "progress").Exists() && gjson.GetBytes(body, "progress").Exists())
		})},
	}}, nil
}

// document returns a list of about that many bytes, with its state at the end.
func document(size int) []byte {
	var b strings.Builder
	b.WriteString(`{"kind":"List","items":[`)
	for i := 0; b.Len() < size-150; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"pod-%d","status":{"phase":"Running","ready":true},"n":%d,"labels":{"app":"web","tier":"front"},"note":"a few words to fill the line"}`, i, i)
	}
	b.WriteString(`],"progress":42,"state":"done"}`)
	return []byte(b.String())
}

// published is the time that the model's original simulator takes for the same
// sweep, in Python on a machine with two cores.
const published = 63 * time.Second

func sweep() table {
	return table{
		title: "Simulator",
		about: "10 to 190 clients by 10, 5 algorithms, 100 trials of the model occ. The simulator published with the model, in Python and on\n" +
			"one core, took " + published.String() + " on a machine with two. Limit: 40 times faster.",
		print: func(out io.Writer, w *workshop) error {
			var elapsed, used []float64
			for range min(w.rounds, 5) {
				began, before := time.Now(), own()
				if _, err := simulate.Run(context.Background(), simulate.Defaults(simulate.ModelOCC)); err != nil {
					return err
				}
				elapsed, used = append(elapsed, time.Since(began).Seconds()), append(used, own()-before)
			}
			fmt.Fprintln(out, "| | cost | times faster |\n|---|---|---|")
			for _, row := range []struct {
				name  string
				costs []float64
			}{{"elapsed, all cores", elapsed}, {"user and system time", used}} {
				cost := median(row.costs)
				fmt.Fprintf(out, "| poll, %s | %s | **%.0f** |\n", row.name, duration(cost), published.Seconds()/cost)
			}
			return nil
		},
	}
}

func waits() table {
	return table{
		title: "Schedules",
		about: "What it costs to compute one wait of a run of a thousand.",
		print: func(out io.Writer, w *workshop) error {
			fmt.Fprintln(out, "| schedule | cost | waits per second |\n|---|---|---|")
			for _, name := range plan.Strategies() {
				for _, jitter := range []string{plan.JitterNone, plan.JitterFull, plan.JitterDecorrelated} {
					schedule, _ := plan.Waits{Strategy: name, Jitter: jitter, Base: 100 * time.Millisecond}.Schedules()
					var costs []float64
					for range w.rounds {
						costs = append(costs, computing(schedule))
					}
					cost := median(costs)
					fmt.Fprintf(out, "| %s, jitter %s | %.0f ns | %.0f million |\n", name, jitter, cost*1e9, 1e-6/cost)
				}
			}
			return nil
		},
	}
}

// computing returns the seconds taken to compute one of many waits.
func computing(schedule backoff.Schedule) float64 {
	const runs, length = 100, 1000
	random := rand.New(rand.NewPCG(1, 2))
	before := own()
	for range runs {
		n := 0
		for range backoff.Waits(schedule, random) {
			if n++; n == length {
				break
			}
		}
	}
	return (own() - before) / (runs * length)
}
