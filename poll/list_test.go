package poll_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// answers returns a probe that returns these responses in turn, and the last response from then on. A prefix
// changes the response: "!" truncates it, ">" makes it a redirect to another page, and "~" makes it ten seconds
// old, as from a cache.
func answers(bodies ...string) poll.Probe {
	i := 0
	return poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
		body := bodies[min(i, len(bodies)-1)]
		i++
		if body == "slow" {
			<-ctx.Done()
			return poll.Observe(ctx, nil, ctx.Err())
		}
		if body == "busy" {
			return poll.Observe(ctx, nil, poll.Throttled(errors.New("busy"), 7*time.Second))
		}
		if body == "forbidden" {
			return poll.Observe(ctx, nil, poll.Permanent(errors.New("forbidden")))
		}
		if body == "refused" {
			return poll.Observe(ctx, nil, errors.New("connection refused"))
		}
		rest, cut := strings.CutPrefix(body, "!")
		rest, moved := strings.CutPrefix(rest, ">")
		rest, cached := strings.CutPrefix(rest, "~")
		pages := strings.Split(rest, "|")
		o := poll.Observe(ctx, []byte(pages[0]), nil)
		for _, page := range pages[1:] {
			o.Pages = append(o.Pages, []byte(page))
		}
		o.Truncated = cut
		var facts meaning.HTTP
		if moved {
			facts.Moved, facts.Redirect = true, "/login"
		}
		if o.Code = new(200); cached {
			facts.Age = 10 * time.Second
		}
		o.Protocol = facts
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

// ofJobs returns a Poller for the elements of these lists.
func ofJobs(t *testing.T, elements poll.Elements, lists ...string) poll.Poller {
	t.Helper()
	for i, list := range lists {
		var pages []string
		rest := strings.TrimLeft(list, "!>~")
		for page := range strings.SplitSeq(rest, "|") {
			if !strings.ContainsAny(page, "[{") && (strings.Contains(page, "=") || page == "") {
				page = jobs(page)
			}
			pages = append(pages, page)
		}
		lists[i] = strings.TrimSuffix(list, rest) + strings.Join(pages, "|")
	}
	each := must(expr.CompileEach(".jobs"))
	elements.Each = each
	p := poll.Poller{
		Probe: answers(lists...), Target: "jobs", Elements: &elements,
		Schedule: backoff.Fixed(time.Second),
	}
	p.Rules = conditions(t, `.state=="done"`, `!.state=="failed"`)
	return p
}

func rule(t *testing.T, s status.Status, condition string) status.Rule {
	t.Helper()
	r := must(status.NewRule(s, condition))
	return r
}

// told runs a group and returns a line for each event, with the second, the target and the verdict.
func told(g poll.Group, targets ...poll.Poller) (lines []string, summary poll.Summary) {
	began := time.Now()
	for ev := range g.Events(context.Background(), slices.Values(targets)) {
		at := ev.At.Sub(began).Round(time.Millisecond)
		switch ev.Kind {
		case poll.EventAttempt:
			lines = append(lines, fmt.Sprintf("%v %d %s: %v %s", at, ev.N, ev.Target, ev.Verdict.Status, ev.Verdict.Reason))
		case poll.EventEnd:
			o := ev.Outcome
			lines = append(lines, fmt.Sprintf("%v %d %s ends after %d: %v: %s", at, ev.N, ev.Target, o.State.Attempts, o.Ending, o.Reason))
		case poll.EventGoal:
			summary = *ev.Summary
		}
	}
	return lines, summary
}

// endings returns the lines about endings.
func endings(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		if strings.Contains(line, " ends after ") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// A rule that reads more than the element is evaluated at each attempt, but an event is emitted only for a
// change.
func TestList_emitsChangesOnly(t *testing.T) {
	for _, test := range []struct {
		lists     []string
		condition string
		expect    int
		summary   string // the ending, the elements, the needed number and the attempts
		want      string
	}{
		{[]string{"a=run b=run", "a=run b=done", "a=done b=done c=run", "a=done b=done c=failed", "b=done c=failed"}, `.state=="done"`, 0, "failed 3 3 6",
			`1s 0 jobs: NOT_READY 2 elements
1s 1 a: NOT_READY .state is "run", want == "done"
1s 2 b: NOT_READY .state is "run", want == "done"
2s 0 jobs: NOT_READY 2 elements
2s 2 b: SUCCESS .state is "done"
2s 2 b ends after 2: succeeded: .state is "done"
3s 0 jobs: NOT_READY 3 elements
3s 1 a: SUCCESS .state is "done"
3s 1 a ends after 3: succeeded: .state is "done"
3s 3 c: NOT_READY .state is "run", want == "done"
4s 0 jobs: NOT_READY 3 elements
4s 3 c: ERROR .state is "failed"
4s 3 c ends after 2: failed: .state is "failed"
9s 0 jobs: NOT_READY 3 elements
14s 0 jobs: NOT_READY 3 elements`}, // the list at 9s lacks an element
		{[]string{"a=run", "a=run", `{"jobs":[{"id":"a","state":"run"}],"over":true}`}, "$json.over == true", 1, "succeeded 1 1 3",
			`1s 0 jobs: NOT_READY 1 element
1s 1 a: NOT_READY $json.over is missing, want == true
2s 0 jobs: NOT_READY 1 element
3s 0 jobs: NOT_READY 1 element
3s 1 a: SUCCESS $json.over is true
3s 1 a ends after 3: succeeded: $json.over is true`},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := ofJobs(t, poll.Elements{Expect: test.expect}, test.lists...)
			p.Rules.Own[0] = rule(t, status.Success, test.condition)
			lines, s := told(poll.Group{Timeout: time.Minute}, p)
			if have := strings.Join(lines, "\n"); have != test.want {
				t.Errorf("have:\n%s\nwant:\n%s", have, test.want)
			}
			if have := fmt.Sprint(s.Ending, " ", s.Targets, " ", s.Need, " ", s.Attempts); have != test.summary {
				t.Errorf("have %s, want %s", have, test.summary)
			}
		})
	}
}

// asDone matches the usual end of an element that is done.
var asDone = regexp.MustCompile(`ends after (\d+): succeeded: \.state is "done"`)

func TestListEnds(t *testing.T) {
	minute, shown := poll.Group{Timeout: time.Minute}, poll.State{Attempts: 2}
	still := poll.Group{Timeout: time.Minute, Rand: rand.New(still{})}
	shown.Shown = true
	for _, test := range []struct {
		name     string
		group    poll.Group
		elements poll.Elements
		lists    []string
		until    string // .state == "done" if ""
		change   func(*poll.Poller)
		want     string // the ends
		summary  string // the ending, the targets and the needed number
		over     time.Duration
	}{
		{name: "a list that grows once all have ended", lists: []string{"a=done", "a=done b=run", "a=done b=done", "a=done b=done"},
			want: `1s 1 a done after 1 | 7s 2 b done after 2`, summary: "succeeded 2/2", over: 12 * time.Second},
		{name: "or it is the last before the deadline", lists: []string{"a=done"}, group: poll.Group{Timeout: 3500 * time.Millisecond},
			want: `1s 1 a done after 1`, summary: "succeeded 1/1", over: 3450 * time.Millisecond},
		{name: "but not if a later run goes on", lists: []string{"a=done"}, change: continued, group: poll.Group{Timeout: 3500 * time.Millisecond},
			want: `1s 1 a done after 1 | 3.475s 0 jobs ends after 3: timed out: timed out after 3.5s; last: 1 element`, summary: "timed out 1/1"},
		{name: "which needs one look more", lists: []string{"a=done"}, change: continued, elements: poll.Elements{Past: map[string]poll.State{
			"a": {Ending: poll.Succeeded, Start: time.Unix(0, 0), Elapsed: time.Second},
		}}, group: poll.Group{Timeout: time.Second}, want: `0s 1 a ends after 0: succeeded: the wait had succeeded before`, summary: "succeeded 1/1"},
		{name: "and one that shows it for the first time is not enough", lists: []string{"a=run", "a=run", "a=run", "a=done"}, group: poll.Group{Timeout: 3500 * time.Millisecond},
			want: `3.45s 1 a done after 4`, summary: "succeeded 1/1", over: 3475 * time.Millisecond},
		{name: "a look that confirms does not wait for the schedule", lists: []string{"a=run", "a=done"},
			change: func(p *poll.Poller) { p.Schedule = backoff.Fixed(20 * time.Second) },
			want:   `40s 1 a done after 2`, summary: "succeeded 1/1", over: 45 * time.Second},
		{name: "a failed look confirms nothing", lists: []string{"a=done", "refused", "a=done", "a=done"},
			want: `1s 1 a done after 1`, summary: "succeeded 1/1"},
		{name: "nor does a list that a cache had before", lists: []string{"a=done", "~a=done", "~", "a=done"},
			want: `1s 1 a done after 1`, summary: "succeeded 1/1", over: 8 * time.Second},
		{name: "nor one that lacks an element", lists: []string{"a=done", "", "a=done", "a=done"},
			want: `1s 1 a done after 1`, summary: "succeeded 1/1", over: 16 * time.Second},
		{name: "finished elements may leave", lists: []string{"a=done b=done", "b=done", ""},
			want: `1s 1 a done after 1 | 1s 2 b done after 1`, summary: "succeeded 2/2", over: 16 * time.Second},
		{name: "nor is an element gone from a list that a cache had before", lists: []string{"a=run", "", "~", "~a=done", ""},
			until: "$gone", want: `5s 1 a ends after 5: succeeded: $gone is true`, summary: "succeeded 1/1"},
		{name: "gone", lists: []string{"a=run b=run", "b=run", "!b=run", "refused", "b=run", "b=run", "", ""},
			change: func(p *poll.Poller) { p.Rules = conditions(t, "$gone", `!.state == "failed"`) },
			want:   `5s 1 a ends after 5: succeeded: $gone is true | 8s 2 b ends after 8: succeeded: $gone is true`, summary: "succeeded 2/2"},
		{name: "an element that was never there is not gone", lists: []string{""}, group: poll.Group{Timeout: 3500 * time.Millisecond},
			until: "$gone", want: "3.475s 0 jobs ends after 5: timed out: timed out after 3.5s; last: 0 elements", summary: "timed out 0/1"},
		{name: "an element that has left the list is not done", lists: []string{"a=run b=run", "b=done"}, elements: poll.Elements{Expect: 2},
			change: func(p *poll.Poller) { p.MaxAttempts = 4 },
			want:   `2s 2 b done after 2 | 4s 1 a ends after 4: attempts exhausted: attempts made: 4 of 4; last: the element is no longer in the response`, summary: "attempts exhausted 1/2"},
		{name: "a throttled list delays all its elements", lists: []string{"a=run b=run", "busy", "a=done b=done"}, elements: poll.Elements{Expect: 2}, group: still,
			want: `9s 1 a done after 3 | 9s 2 b done after 3`, summary: "succeeded 2/2"},
		{name: "a throttled element delays the list", lists: []string{"a=busy b=run", "a=done b=done"}, elements: poll.Elements{Expect: 2}, group: poll.Group{Rand: rand.New(half{})},
			change: func(p *poll.Poller) {
				p.Schedule = backoff.Fixed(10 * time.Second)
				p.Rules.Own = append(p.Rules.Own, rule(t, status.Throttled, `.state == "busy"`))
			},
			want: `25s 1 a done after 2 | 25s 2 b done after 2`, summary: "succeeded 2/2"},
		{name: "back again is not gone", lists: []string{"a=run", "", "a=run", "", "a=run", "", ""},
			until: "$gone", want: `7s 1 a ends after 7: succeeded: $gone is true`, summary: "succeeded 1/1"},
		{name: "behind a redirect none is gone, and what is there counts", lists: []string{"a=run b=run", ">a=done", ">a=done", ">", "", "", ""},
			change: func(p *poll.Poller) { p.Rules.Own = append(p.Rules.Own, rule(t, status.Success, "$gone")) },
			want:   `2s 1 a done after 2, after a redirect to /login | 6s 2 b ends after 6: succeeded: $gone is true`, summary: "succeeded 2/2"},
		{name: "nor is the list complete", elements: poll.Elements{Expect: -1}, lists: []string{`>{"jobs":[]}`}, group: poll.Group{Timeout: 9500 * time.Millisecond},
			want: `9.475s 0 jobs ends after 12: timed out: timed out after 9.5s; last: 0 elements; there may be more: the list is from /login`, summary: "timed out 0/0"},
		{name: "an empty list is complete if it may be empty", elements: poll.Elements{Expect: -1}, lists: []string{`{"jobs":null}`},
			summary: "succeeded 0/0", over: 6 * time.Second},
		{name: "unless it is known how many are enough", elements: poll.Elements{Expect: 1}, lists: []string{">a=done"},
			want: `1s 1 a done after 1, after a redirect to /login`, summary: "succeeded 1/1", over: time.Second},
		{name: "nor where a part could not be had", lists: []string{`{"jobs":[{"id":"a","state":"done"}],"errors":[{"message":"shard 2 timed out"}]}`}, group: poll.Group{Timeout: 9500 * time.Millisecond},
			want: `1s 1 a done after 1 | 9.475s 0 jobs ends after 12: timed out: timed out after 9.5s; last: 1 element; there may be more: there is .errors`, summary: "timed out 1/1"},
		{name: "nor with a total that is higher", lists: []string{`{"jobs":[{"id":"a","state":"done"}],"total":2}`, `{"jobs":[{"id":"a","state":"done"}],"total":2}|{"jobs":[{"id":"b","state":"done"}],"total":2}`},
			want: `1s 1 a done after 1 | 2s 2 b done after 1`, summary: "succeeded 2/2", over: 7 * time.Second},
		{name: "nor with a further page of null", lists: []string{`a=done|{"jobs":null}`, "a=done|"},
			want: `2s 1 a done after 1`, summary: "succeeded 1/1", over: 7 * time.Second},
		{name: "an empty list of a failure tells nothing", lists: []string{"a=run", `{"jobs":[],"success":false}`, `{"jobs":null,"status":"error"}`, "", ""},
			until: "$gone", want: `5s 1 a ends after 5: succeeded: $gone is true`, summary: "succeeded 1/1"},
		{name: "an element that no probe is left for has failed", lists: []string{"a=done b=run"}, elements: poll.Elements{Known: []string{"a", "b"}, Narrow: func([]string) poll.Probe { return nil }},
			want: `1s 1 a done after 1 | 2s 0 jobs ends after 2: failed: there is no probe | 2s 2 b ends after 2: failed: there is no probe`, summary: "failed 1/2"},
		{name: "a share of those that there are", group: poll.Group{Percent: 70}, elements: poll.Elements{Expect: 3},
			lists: []string{"a=done b=done", "a=done b=done c=run d=run", "a=done b=done c=done d=run"},
			want:  `1s 1 a done after 1 | 1s 2 b done after 1 | 3s 3 c done after 2 | 3s 4 d ends after 2: cancelled: the goal was reached; last: .state is "run", want == "done"`, summary: "succeeded 3/3", over: 3 * time.Second},
		{name: "once as many are known as are expected", group: poll.Group{Percent: 50}, elements: poll.Elements{Expect: 3},
			lists: []string{"a=done b=done", "a=done b=done c=run d=run"},
			want:  `1s 1 a done after 1 | 1s 2 b done after 1 | 2s 3 c ends after 1: cancelled: the goal was reached; last: .state is "run", want == "done" | 2s 4 d ends after 1: cancelled: the goal was reached; last: .state is "run", want == "done"`, summary: "succeeded 2/2"},
		{name: "one that moves to the next page", elements: poll.Elements{Expect: 3}, lists: []string{"a=done b=done|b=done c=done"},
			want: `1s 1 a done after 1 | 1s 2 b done after 1 | 1s 3 c done after 1`, summary: "succeeded 3/3"},
		{name: "an object is no empty list", lists: []string{"a=run", `{"jobs":{}}`, `{"jobs":{}}`, `{"jobs":null}`, ""},
			until: "$gone", want: `5s 1 a ends after 5: succeeded: $gone is true`, summary: "succeeded 1/1"},
		{name: "as many as expected ended in an earlier run", elements: poll.Elements{Expect: 2, Past: map[string]poll.State{
			"a": {Ending: poll.Succeeded}, "b": {Ending: poll.Succeeded},
		}}, lists: []string{"a=done b=done c=run", "c=done"},
			want: `0s 1 a ends after 0: succeeded: the wait had succeeded before | 0s 2 b ends after 0: succeeded: the wait had succeeded before | 2s 3 c done after 2`, summary: "succeeded 3/3"},
		{name: "gone since an earlier run", elements: poll.Elements{Past: map[string]poll.State{"a": shown}}, lists: []string{""},
			until: "$gone", want: `2s 1 a ends after 4: succeeded: $gone is true`, summary: "succeeded 1/1"},
		{name: "thresholds count unchanged elements", elements: poll.Elements{Expect: 2}, lists: []string{"a=done b=failed"},
			change: func(p *poll.Poller) { p.SuccessThreshold.Times, p.ErrorThreshold.Times = 3, 2 },
			want:   `2s 2 b ends after 2: failed: .state is "failed" | 3s 1 a done after 3`, summary: "failed 1/2"},
		{name: "an ERROR has to last", elements: poll.Elements{Expect: 2}, lists: []string{"a=failed b=failed", "a=failed b=run", "a=failed b=failed", "a=failed b=failed", "a=failed b=done"},
			change: func(p *poll.Poller) { p.ErrorThreshold.For = 2 * time.Second },
			want:   `3s 1 a ends after 3: failed: .state is "failed" | 5s 2 b done after 5`, summary: "failed 1/2"},
		{name: "a failed look breaks a streak", elements: poll.Elements{Expect: 1}, lists: []string{"a=done", "refused", "a=done", "a=done"},
			change: func(p *poll.Poller) { p.SuccessThreshold.Times = 2 },
			want:   `4s 1 a done after 4`, summary: "succeeded 1/1"},
		{name: "as many as have to succeed", group: poll.Group{AtLeast: 2}, lists: []string{"a=done", "a=done", "a=done", "a=done b=done c=run"},
			want: `1s 1 a done after 1 | 4s 2 b done after 1 | 4s 3 c ends after 1: cancelled: the goal was reached; last: .state is "run", want == "done"`, summary: "succeeded 2/2"},
		{name: "a list that is refused ends its elements", lists: []string{"a=run b=run", "forbidden"},
			want: `2s 0 jobs ends after 2: failed: forbidden | 2s 1 a ends after 2: failed: forbidden | 2s 2 b ends after 2: failed: forbidden`, summary: "failed 0/2"},
		{name: "out of reach of known ones", group: poll.Group{FailFast: true, AtLeast: 2}, elements: poll.Elements{Known: []string{"a", "b"}},
			lists: []string{"a=failed b=run"},
			want:  `1s 1 a ends after 1: failed: .state is "failed" | 1s 2 b ends after 1: cancelled: the goal is out of reach; last: .state is "run", want == "done"`, summary: "failed 0/2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := test.group
				if g.Timeout == 0 {
					g.Timeout = minute.Timeout
				}
				p := ofJobs(t, test.elements, test.lists...)
				if test.until != "" {
					p.Rules = conditions(t, test.until)
				}
				if test.change != nil {
					test.change(&p)
				}
				p.Rand = g.Rand
				lines, s := told(g, p)
				got := strings.ReplaceAll(strings.TrimSuffix(endings(lines), "\n"), "\n", " | ")
				if got = asDone.ReplaceAllString(got, "done after $1"); got != test.want {
					t.Errorf("got:\n%s\nwant:\n%s", got, test.want)
				}
				if test.over > 0 && s.Elapsed != test.over {
					t.Errorf("over after %v, want %v", s.Elapsed, test.over)
				}
				if got := fmt.Sprintf("%v %d/%d", s.Ending, s.Endings[poll.Succeeded], s.Need); got != test.summary {
					t.Errorf("summary %s, want %s", got, test.summary)
				}
			})
		})
	}
}

// Other targets do not move the second attempt at a list forward, whether at the same origin or at another
// origin.
func TestListIsCompleteBesideOthers(t *testing.T) {
	for place, second := range map[string]string{"other": "6.06s", "list": "5.045s"} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			p := ofJobs(t, poll.Elements{})
			p.Probe = placed{place: "list", ProbeFunc: func(ctx context.Context, _ poll.Attempt) status.Observation {
				sleep(ctx, 30*time.Millisecond)
				if time.Since(began) < 5500*time.Millisecond {
					return poll.Observe(ctx, []byte(jobs("a=done")), nil)
				}
				return poll.Observe(ctx, []byte(jobs("a=done b=run")), nil)
			}}
			quiet := placed{place: place, ProbeFunc: func(ctx context.Context, _ poll.Attempt) status.Observation {
				return poll.Observe(ctx, nil, errors.New("not yet"))
			}}
			targets := append(slices.Repeat([]poll.Poller{{Probe: quiet, InitialDelay: time.Hour}}, 300), p)
			g := poll.Group{Timeout: 9 * time.Second, ParallelOrigin: func(string) int { return 1 }}
			lines, _ := told(g, targets...)
			have := strings.Join(lines, "\n")
			if !strings.Contains(have, `b: NOT_READY .state is "run"`) || !strings.Contains(have, "\n"+second+" 0 jobs") {
				t.Errorf("%s: have:\n%s", place, have[:2000])
			}
		})
	}
}

// The attempts that show the same elements may be in different runs, even if each run is shorter than the time
// between these attempts.
func TestListInRuns(t *testing.T) {
	for _, test := range []struct {
		want     time.Duration
		attempts int
		lists    []string
	}{
		{5850 * time.Millisecond, 8, []string{"a=done"}},                // the first look is at 850 ms
		{6575 * time.Millisecond, 10, []string{"a=done", "a=done", ""}}, // the third at 1,575 ms
	} {
		synctest.Test(t, func(t *testing.T) {
			began, lead, p := time.Now(), poll.State{}, ofJobs(t, poll.Elements{}, test.lists...)
			continued(&p)
			past := map[string]poll.State{}
			for isOver := false; !isOver && time.Since(began) < time.Minute; {
				p.Elements.Past = maps.Clone(past)
				time.Sleep(100 * time.Millisecond)
				for e := range (&poll.Group{Timeout: 1500 * time.Millisecond}).Events(t.Context(), slices.Values([]poll.Poller{p})) {
					switch isOver = e.Summary != nil && e.Summary.Err() == nil; {
					case e.Summary != nil || e.Origin != nil:
					case e.N > 0:
						past[e.Target] = reread(t, e.State)
					default:
						lead = reread(t, e.State)
						p.Past = &lead
					}
				}
			}
			if have := time.Since(began); have != test.want || lead.Attempts != test.attempts {
				t.Errorf("%q: over after %v and %d looks, want %v and %d", test.lists, have, lead.Attempts, test.want, test.attempts)
			}
		})
	}
}

// continued makes p a wait that a later run continues.
func continued(p *poll.Poller) { p.Starting = func(poll.State) error { return nil } }

// A list whose origin is closed at its deadline ends.
func TestListHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, limiter := ofJobs(t, poll.Elements{}, "a=run", "a=run b=run", "a=done b=done"), &poll.Pacer{}
		p.Probe, p.Timeout = placed{p.Probe.(poll.ProbeFunc), "the place"}, 5*time.Second
		time.AfterFunc(2500*time.Millisecond, func() {
			limiter.Done("the place", poll.Feedback{Sent: time.Now(), Refused: true, Wait: 3500 * time.Millisecond})
		})
		lines, _ := told(poll.Group{Timeout: time.Minute, Limiter: limiter}, p)
		want := `5s 1 a ends after 2: timed out: timed out after 5s; last: .state is "run", want == "done"
5s 2 b ends after 1: timed out: timed out after 5s; last: .state is "run", want == "done"
`
		if got := endings(lines); got != want {
			t.Errorf("got:\n%swant:\n%s", got, want)
		}
	})
}

// The list is requested once the SUCCESS of its elements has held, whatever the schedule.
func TestElementsHaveToHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ofJobs(t, poll.Elements{Expect: 2}, "a=done b=run", "a=done b=done")
		p.Immediate, p.Schedule, p.SuccessThreshold.For = true, backoff.Fixed(8*time.Second), 5*time.Second
		if lines, _ := told(poll.Group{}, p); !strings.HasPrefix(endings(lines), "5s 1 a ends after 2") || !strings.Contains(endings(lines), "\n10s 2 b ends after 3") {
			t.Error(endings(lines))
		}
	})
}

// Elements that are done at different times restart the schedule once, and not once for each element.
func TestList_restartsTheScheduleOnceForManyElements(t *testing.T) {
	looks := func(change func(p *poll.Poller)) (n int) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			p := ofJobs(t, poll.Elements{Expect: 100})
			p.Probe = poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
				n++
				var states strings.Builder
				for i := range 100 {
					state := map[bool]string{true: "done", false: "run"}[time.Since(began) > time.Duration(i)*time.Second]
					fmt.Fprintf(&states, "job-%d=%s ", i, state)
				}
				return poll.Observe(ctx, []byte(jobs(states.String())), nil)
			})
			p.Schedule = nil
			change(&p)
			if _, err := (&poll.Group{}).Run(t.Context(), slices.Values([]poll.Poller{p})); err != nil {
				t.Error(err)
			}
		})
		return n
	}
	most := 2 * looks(func(*poll.Poller) {})
	if n := looks(func(p *poll.Poller) { p.SuccessThreshold.For = 30 * time.Second }); n > most {
		t.Errorf("SUCCESS that has to hold takes %d looks, more than %d", n, most)
	}
	if n := looks(func(p *poll.Poller) { p.SuccessThreshold.Times = 5 }); n > most {
		t.Errorf("SUCCESS five times takes %d looks, more than %d", n, most)
	}
}

// Pages may be numbered from 0, and the Link of a response names a further page, too.
func TestWholeLists(t *testing.T) {
	for name, test := range map[string]struct {
		link string
		list string
		want poll.Ending
	}{
		"numbers from 0":    {"", `{"page":0,"total_pages":2,"jobs":[]}|{"page":1,"total_pages":2,"jobs":[{"id":"a","state":"done"}]}`, poll.Succeeded},
		"a page is missing": {"", `{"page":0,"total_pages":2,"jobs":[{"id":"a","state":"done"}]}`, poll.TimedOut},
		"Link":              {`</2>; rel="next"`, jobs("a=done"), poll.TimedOut},
		"Link to the start": {`</1>; rel="prev"`, jobs("a=done"), poll.Succeeded},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := ofJobs(t, poll.Elements{Whole: true}, "a=done")
				p.Probe, p.Timeout = poll.Wrap(answers(test.list), func(ctx context.Context, a poll.Attempt, next func(context.Context, poll.Attempt) status.Observation) status.Observation {
					o := next(ctx, a)
					o.Kind, o.Header = status.KindHTTP, http.Header{"Link": {test.link}}
					return o
				}), time.Minute
				g := poll.Group{}
				for e := range g.Events(t.Context(), slices.Values([]poll.Poller{p})) {
					if e.Kind == poll.EventGoal && e.Summary.Ending != test.want {
						t.Errorf("%s, want %s", e.Summary.Ending, test.want)
					}
				}
			})
		})
	}
}
