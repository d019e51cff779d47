package poll_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// answers returns a probe that gives these answers one after the other, and the last of
// them from then on. "!" before an answer makes it one that was cut off, "=404" one with
// that status code.
func answers(bodies ...string) poll.Probe {
	i := 0
	return poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
		body := bodies[min(i, len(bodies)-1)]
		i++
		if body == "refused" {
			return poll.Observe(ctx, nil, errors.New("connection refused"))
		}
		rest, cut := strings.CutPrefix(body, "!")
		var code int
		if _, err := fmt.Sscanf(rest, "=%d", &code); err == nil {
			o := status.Observation{Kind: status.KindHTTP, Code: &code}
			return o
		}
		pages := strings.Split(rest, "|")
		o := poll.Observe(ctx, []byte(pages[0]), nil)
		for _, page := range pages[1:] {
			o.Pages = append(o.Pages, []byte(page))
		}
		o.Truncated = cut
		return o
	})
}

// jobs returns a list: "a=done b=run" has the elements a and b in these states.
func jobs(states string) string {
	var elements []string
	for job := range strings.FieldsSeq(states) {
		name, state, _ := strings.Cut(job, "=")
		elements = append(elements, fmt.Sprintf(`{"id":%q,"state":%q}`, name, state))
	}
	return `{"jobs":[` + strings.Join(elements, ",") + `]}`
}

// ofJobs waits for the elements of these lists.
func ofJobs(t *testing.T, elements poll.Elements, lists ...string) poll.Poller {
	t.Helper()
	for i, list := range lists {
		var pages []string
		for page := range strings.SplitSeq(list, "|") {
			if !strings.ContainsAny(page, "[{") && (strings.Contains(page, "=") && !strings.HasPrefix(page, "=") || page == "") {
				page = jobs(page)
			}
			pages = append(pages, page)
		}
		lists[i] = strings.Join(pages, "|")
	}
	each, err := expr.CompileEach(".jobs")
	if err != nil {
		t.Fatal(err)
	}
	elements.Each = each
	p := poll.Poller{
		Probe: answers(lists...), Target: "jobs", Elements: &elements,
		Schedule: backoff.Fixed(time.Second),
	}
	p.Rules.Own = []status.Rule{rule(t, status.Success, `.state=="done"`), rule(t, status.Error, `.state=="failed"`)}
	return p
}

func rule(t *testing.T, s status.Status, condition string) status.Rule {
	t.Helper()
	r, err := status.NewRule(s, condition)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// told returns what a group tells: at which second, of whom, and what.
func told(g poll.Group, targets ...poll.Poller) (lines []string, summary poll.Summary) {
	began := time.Now()
	for ev := range g.Events(context.Background(), slices.Values(targets)) {
		at := ev.At.Sub(began).Round(time.Millisecond)
		switch ev.Kind {
		case poll.EventAttempt:
			lines = append(lines, fmt.Sprintf("%v %d %s: %v %s", at, ev.N, ev.Target, ev.Verdict.Status, ev.Verdict.Reason))
		case poll.EventEnd:
			o := ev.Outcome
			lines = append(lines, fmt.Sprintf("%v %d %s ends after %d: %v: %s", at, ev.N, ev.Target, o.Attempts, o.Ending, o.Reason))
		case poll.EventGoal:
			summary = *ev.Summary
		}
	}
	return lines, summary
}

// endings keeps the ends of what was told.
func endings(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		if strings.Contains(line, " ends after ") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func TestListTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ofJobs(t, poll.Elements{}, "a=run b=run", "a=run b=done", "a=done b=done c=run", "a=done b=done c=failed", "b=done c=failed")
		lines, summary := told(poll.Group{Timeout: time.Minute}, p)
		want := `1s 0 jobs: NOT_READY 2 elements
1s 1 a: NOT_READY .state is "run", want == "done"
1s 2 b: NOT_READY .state is "run", want == "done"
2s 0 jobs: NOT_READY 2 elements
2s 2 b: SUCCESS .state is "done"
2s 2 b ends after 2: succeeded: .state is "done"
3s 0 jobs: NOT_READY 3 elements
3s 1 a: SUCCESS .state is "done"
3s 3 c: NOT_READY .state is "run", want == "done"
3s 1 a ends after 3: succeeded: .state is "done"
4s 0 jobs: NOT_READY 3 elements
4s 3 c: ERROR .state is "failed"
4s 3 c ends after 2: failed: .state is "failed"
5s 0 jobs: NOT_READY 3 elements`
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("got:\n%s\nwant:\n%s", got, want)
		}
		if summary.Ending != poll.Failed || summary.Targets != 3 || summary.Need != 3 || summary.Attempts != 5 {
			t.Errorf("%+v", summary)
		}
	})
}
