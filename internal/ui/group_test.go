package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/httpscript"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// together merges the runs of several targets into the events of a group. summary needs
// only its Ending.
func together(summary poll.Summary, runs ...[]poll.Event) []poll.Event {
	var all []poll.Event
	summary.Targets, summary.Need = len(runs), max(summary.Need, 1)
	for i, run := range runs {
		for _, ev := range run {
			ev.N = i + 1
			all = append(all, ev)
		}
		summary.Attempts += run[len(run)-1].State.Attempts
	}
	slices.SortStableFunc(all, func(a, b poll.Event) int { return a.At.Compare(b.At) })
	last := all[len(all)-1]
	summary.Elapsed = last.Elapsed
	goal := poll.Event{Kind: poll.EventGoal, At: last.At, Elapsed: last.Elapsed, Summary: &summary}
	return append(all, goal)
}

// withOrigin adds an EventOrigin after the event with number i.
func withOrigin(events []poll.Event, i int, p poll.ClosedOrigin, closed time.Duration) []poll.Event {
	ev := poll.Event{Kind: poll.EventOrigin, At: events[i].At, Elapsed: events[i].Elapsed, Origin: &p}
	if closed > 0 {
		p.ClosedUntil = ev.At.Add(closed)
	}
	return slices.Insert(slices.Clone(events), i+1, ev)
}

func jobName(n int) string { return fmt.Sprintf("https://api.example.com/jobs/%d", n) }

// jobRun is the run of a target that looks each second and ends as o says.
func jobRun(name string, looks int, reasons []string, o poll.Outcome) []poll.Event {
	run := newRecording(name, 10*time.Second, 0)
	for n := range looks {
		run.wait(time.Second, nil)
		v, answer := notReady(reasons[n%len(reasons)]), httpAnswer(200, `{"state":"queued"}`)
		switch {
		case n == looks-1 && o.Ending == poll.Succeeded:
			v, answer = verdict(status.Success, until, `.state is "done"`), httpAnswer(200, `{"state":"done"}`)
		case n == looks-1 && o.Ending == poll.Failed:
			v = verdict(status.Error, "", `.state is "failed"`)
		case strings.HasPrefix(v.Reason, "HTTP 429"):
			v.Status = status.Throttled
		}
		run.attempt(v, answer)
	}
	if o.Ending == poll.TimedOut {
		run.now = 10 * time.Second
		o.Reason = "timed out after 10s; last: " + run.last.Verdict.Reason
	}
	return run.end(o)
}

var (
	queued   = []string{`.state is "queued", want == "done"`}
	progress = []string{".progress is 4, want == 100", ".progress is 41, want == 100", ".progress is 57, want == 100"}
	refused  = []string{"connection refused", "HTTP 429, Retry-After asks for 2s", "HTTP 503"}

	succeeded = poll.Outcome{Ending: poll.Succeeded}
	failed    = poll.Outcome{Ending: poll.Failed}
	timedOut  = poll.Outcome{Ending: poll.TimedOut}
	cancelled = poll.Outcome{Ending: poll.Cancelled, Reason: "the goal was reached"}
)

// groups are waits for several targets: for every ending, and everything a face has to say.
func groups() map[string][]poll.Event {
	all := together(poll.Summary{Ending: poll.Succeeded, Need: 3},
		jobRun(jobName(41), 2, queued, succeeded), jobRun("tcp://db:5432", 1, refused, succeeded),
		jobRun(strings.Repeat("部署/", 30)+"e\u0301te\u0301/👩‍👩‍👧‍👦/\x1b[31m42", 4, progress, succeeded))
	some := together(poll.Summary{Ending: poll.Failed, Need: 3},
		jobRun(jobName(41), 2, queued, succeeded), jobRun(jobName(42), 3, queued, failed), jobRun(jobName(43), 3, refused, timedOut))
	for _, at := range []int{2, 4, 9} {
		place := poll.ClosedOrigin{Name: "https://api.example.com:443", Reason: "HTTP 429, Retry-After asks for 3s"}
		some = withOrigin(some, at, place, 3*time.Second)
	}
	return map[string][]poll.Event{
		"all":  all,
		"some": some,
		"any": together(poll.Summary{Ending: poll.Succeeded, Need: 1},
			jobRun(jobName(41), 1, queued, cancelled), jobRun(jobName(42), 1, queued, succeeded)),
		"many":       manyJobs(25),
		"misspelled": misspelled(),
	}
}

// manyJobs is a group in which every second target succeeds, and the others time out or fail.
func manyJobs(n int) []poll.Event {
	var runs [][]poll.Event
	for i := range n {
		reasons := [][]string{queued, progress, refused}[i%3]
		o := []poll.Outcome{succeeded, timedOut, succeeded, failed}[i%4]
		runs = append(runs, jobRun(jobName(i), 1+i%5, reasons, o))
	}
	return together(poll.Summary{Ending: poll.Failed, Need: n}, runs...)
}

// misspelled is a group whose condition reads what no answer has.
func misspelled() []poll.Event {
	var runs [][]poll.Event
	for n := range 3 {
		v := status.Verdict{Status: status.NotReady, Reason: `.State is missing, want == "done"`, Hints: []status.Hint{{Kind: status.HintCorrection, Text: "did you mean .state?"}}}
		run := newRecording(jobName(41+n), 3*time.Second, 0)
		run.wait(time.Second, nil).attempt(v, httpAnswer(200, `{"state":"queued"}`))
		run.now = 3 * time.Second
		o := poll.Outcome{Ending: poll.TimedOut, Reason: "timed out after 3s; last: " + v.Reason, Verdict: v, Hints: append(status.Notes("--until was never decidable"), v.Hints...)}
		runs = append(runs, run.end(o))
	}
	return together(poll.Summary{Ending: poll.TimedOut, Need: 3}, runs...)
}

func allOf(n int) string { return fmt.Sprintf("all of %d targets", n) }

func groupSize(events []poll.Event) int { return events[len(events)-1].Summary.Targets }

// A log of many says each failure once up to a limit, and of the others how many there are.
func TestGroupLines_bounded(t *testing.T) {
	events := manyJobs(1000)
	for _, face := range []Face{Lines, None} {
		have := show(events, Config{Face: face, Targets: 1000, Goal: allOf(1000)})
		if n := strings.Count(have, "\n"); n > 40 {
			t.Errorf("%s: %d lines for 1000 targets:\n%s", face, n, have)
		}
		if n := strings.Count(have, "  ERROR  ") + strings.Count(have, "timed out after"); n != mostShown {
			t.Errorf("%s: %d failures are reported, want %d:\n%s", face, n, mostShown, have)
		}
	}
}

// The heartbeat tells how many targets are in which state.
func TestGroupLines_heartbeat(t *testing.T) {
	s, _, err := httpscript.Streams("")
	r := New(Config{Streams: s, Face: Lines, Heartbeat: new(time.Duration(0)), Targets: 25, Goal: allOf(25)})
	events := manyJobs(25)
	for _, ev := range events {
		if ev.Elapsed > 4500*time.Millisecond {
			break
		}
		r.Event(ev)
	}
	before := len(err.String())
	r.log.tick(events[0].At.Add(4500 * time.Millisecond))
	want := "     4.5s  -     -          10 done, 5 failed, 10 waiting; 4 of them: .progress is ..., want == ...\n"
	if have := err.String()[before:]; have != want {
		t.Errorf("have %q, want %q", have, want)
	}
}

// A place that is closed again and again is reported once, and of many places only the first are.
func TestGroupLines_places(t *testing.T) {
	s, _, err := httpscript.Streams("")
	r := New(Config{Streams: s, Face: Lines, Targets: 2, Goal: allOf(2)})
	began := time.Now()
	for second := range 75 {
		at := began.Add(time.Duration(second) * time.Second)
		for n := range 2 * mostShown {
			r.Event(poll.Event{Kind: poll.EventOrigin, At: at, Elapsed: at.Sub(began),
				Origin: &poll.ClosedOrigin{Name: jobName(n), ClosedUntil: at.Add(2 * time.Second), Reason: "HTTP 429"}})
		}
	}
	r.Close()
	have := err.String()
	if n := strings.Count(have, "closed for 2s: HTTP 429"); n != mostShown {
		t.Errorf("%d lines, want %d:\n%s", n, mostShown, have)
	}
}

func TestGroupClosing(t *testing.T) {
	var runs [][]poll.Event
	for i := range 100 {
		reason := fmt.Sprintf("job %d is at %d%%", i, i)
		if i%10 == 0 {
			reason = strings.Repeat(string(rune('a'+i/10)), 3)
		}
		runs = append(runs, jobRun(fmt.Sprintf("job-%d", i), 1, []string{reason}, timedOut))
	}
	have := show(together(poll.Summary{Ending: poll.TimedOut, Need: 100}, runs...), Config{Face: None, Targets: 100, Goal: allOf(100)})
	_, have, _ = strings.Cut(have, "until the end\n")
	golden(t, "group/closing.txt", have)
}

// Failed targets are named first. Cancelled targets are one group, whatever numbers their last responses had.
func TestGroupClosing_cancelled(t *testing.T) {
	have := show(together(poll.Summary{Ending: poll.Failed, Need: 3}, jobRun("a", 1, progress[:1], cancelled), jobRun("b", 1, refused[:1], cancelled),
		jobRun("c", 1, queued, failed)), Config{Face: None, Targets: 4, Goal: allOf(4)})
	if want := "poll: 1 failed, .state is \"failed\": c\npoll: 2 cancelled\npoll: 1 never seen\n"; !strings.Contains(have, want) {
		t.Errorf("have\n%s\nwant %q in it", have, want)
	}
}
