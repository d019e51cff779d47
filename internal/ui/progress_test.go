package ui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/internal/httpscript"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

func TestReadProgress(t *testing.T) {
	for _, test := range []struct {
		texts, name, want string
	}{
		{texts: "0.0 0.25 0.29 1.0 1", name: ".progress", want: "0% 25% 29% 100% 1%"},
		{texts: "0.5 1 2.5", name: ".at.progress_now", want: "50% 1% 2%"},
		{texts: "0.5 1", name: ".percentdone", want: "0% 1%"},
		{texts: "0.5 12", name: ".depth", want: "- -"},
		{texts: "-1 101 NaN Inf 1e3 x", name: ".progress", want: "- - - - - -"},
		{texts: "3/10 10/10 0/0 11/10 -1/10 1/Inf a/b 1/", want: "3/10 10/10 - - - - - -"},
		{texts: "123456789/987654321", want: "12%"},
		{texts: "62% 0.5% 101%", want: "62% 0% -"},
	} {
		var have []string
		for text := range strings.FieldsSeq(test.texts) {
			share, label := readProgress(text, test.name, true)
			if label == "" {
				label = "-"
			}
			if !(share >= 0 && share <= 1) {
				t.Errorf("%s: a share of %v", text, share)
			}
			have = append(have, label)
		}
		if strings.Join(have, " ") != test.want {
			t.Errorf("%s: have %s, want %s", test.texts, have, test.want)
		}
	}
	if _, label := readProgress("7", ".progress", false); label != "" {
		t.Error("a text that is a plain number draws a bar")
	}
}

func values(t *testing.T, sources ...string) (all []*expr.Expr) {
	t.Helper()
	for _, source := range sources {
		x := must(expr.CompileValue(source))
		all = append(all, x)
	}
	return all
}

func TestProgressOf(t *testing.T) {
	bad := httpAnswer(503, `{"progress":5}`)
	for name, test := range map[string]struct {
		show []string
		o    *status.Observation
		want string
	}{
		"a member":                 {o: httpAnswer(200, `{"progress":5}`), want: `5% [5]`},
		"the first that tells":     {o: httpAnswer(200, `{"percentComplete":1,"progress":{"at":5}}`), want: `1% [1]`},
		"a text":                   {o: httpAnswer(200, `{"progress":"copying\u001b[31m\n"}`), want: `copying\x1b[31m ["copying\\x1b[31m"]`},
		"done of total":            {o: httpAnswer(200, `{"progress":" 3 / 10 "}`), want: `3/10 ["3 / 10"]`},
		"a number as text":         {o: httpAnswer(200, `{"progress":"7"}`), want: `7 ["7"]`},
		"no object":                {o: httpAnswer(200, `"progress"`)},
		"not JSON":                 {o: httpAnswer(200, `{"progress":5`)},
		"not good":                 {o: bad},
		"not good, but asked":      {show: []string{".progress"}, o: bad, want: `5% [5]`},
		"asked":                    {show: []string{".stage", ".done", ".none", ".n"}, o: httpAnswer(200, `{"stage":"a","done":0.5,"n":7}`), want: `a, 0.5, 7 ["a",0.5,null,7]`},
		"asked for more than that": {show: []string{".a"}, o: httpAnswer(200, `{"a":[true,{"b":null}]}`), want: `[true,{"b":null}] [[true,{"b":null}]]`},
		"too long":                 {show: []string{".a"}, o: httpAnswer(200, `{"a":"`+strings.Repeat("x", 100)+`"}`), want: strings.Repeat("x", 57) + `... ["` + strings.Repeat("x", 57) + `..."]`},
	} {
		s, _, _ := httpscript.Streams("")
		found := New(Config{Streams: s, Show: values(t, test.show...)}).progressOf(test.o)
		have := found.words()
		if found.values != nil {
			text := must(json.Marshal(found.values))
			have += " " + string(text)
		}
		if have != test.want {
			t.Errorf("%s: have %s, want %s", name, have, test.want)
		}
	}
}

// Programs receive the progress of each of many targets.
func TestShow_many(t *testing.T) {
	ev := newRecording(jobURL, 0, 0).attempt(notReady("x"), httpAnswer(200, `{"progress":50}`)).last
	ev.N = 1
	if have := show([]poll.Event{ev}, Config{Face: JSON, Targets: 2 * mostShown, Goal: "all"}); !strings.Contains(have, `"progress":0.5`) {
		t.Errorf("have %s", have)
	}
}

// copying is a job that tells of its progress.
func copying() []poll.Event {
	r := newRecording(jobURL, 10*time.Minute, 0)
	for i := range 30 {
		answer := httpAnswer(200, fmt.Sprintf(`{"state":"running","stage":"copying","progress":%.2f}`, float64(i+1)/30))
		if i == 10 {
			answer = noAnswer("connection reset")
		}
		r.wait(time.Second, nil).attempt(notReady(`.state is "running"`), answer)
	}
	return r.wait(time.Second, nil).attempt(verdict(status.Success, until, `.state is "done"`), httpAnswer(200, `{"state":"done"}`)).
		end(poll.Outcome{Ending: poll.Succeeded})
}

func TestProgress_golden(t *testing.T) {
	golden(t, "progress/live.txt", film(t, 90, 4*time.Second, copying(), Config{}))
}

// A table has a column for progress where there is any, and the bar of many targets has
// nothing to do with it. A target that is done has no bar of an earlier response.
func TestGroupLive_progress(t *testing.T) {
	answers := []string{`{"progress":12}`, `{"progress":"3/10"}`, `{}`, `{"progress":"waiting for a node"}`, `{"progress":40}`}
	synctest.Test(t, func(t *testing.T) {
		m := newTerminal(t, 110, 40)
		r := New(Config{Streams: m.streams(), Targets: 5, Goal: allOf(5)})
		for n, answer := range answers {
			r.Event(poll.Event{Kind: poll.EventAttempt, N: n + 1, Target: fmt.Sprint("job-", n), State: poll.State{Attempts: 1}, At: time.Now(),
				Observation: httpAnswer(200, answer), Verdict: notReady(`.state is "running", want == "done"`)})
		}
		r.Event(poll.Event{Kind: poll.EventEnd, N: 5, Target: "job-4", At: time.Now(),
			Outcome: &poll.Outcome{Ending: poll.Succeeded, Status: status.Success, Reason: `.state is "done"`}})
		time.Sleep(redraw)
		synctest.Wait()
		golden(t, "progress/group-5-110.txt", m.text())
		r.Close()
	})
}

// An evenly is a forecast of runs that end at any time between 0 and the
// longest, all the same. The operation is older than the wait by its age.
type evenly struct{ longest, age time.Duration }

func (e evenly) Runs() int                               { return 34 }
func (e evenly) Age(elapsed time.Duration) time.Duration { return e.age + elapsed }
func (e evenly) Quantile(p float64) time.Duration        { return time.Duration(p * float64(e.longest)) }
func (e evenly) Done(age time.Duration) float64          { return float64(age) / float64(e.longest) }

// slowJob is not ready after 10 minutes, and ends after 15.
func slowJob() []poll.Event {
	pending := httpAnswer(200, `{}`)
	return newRecording(jobURL, time.Hour, 0).
		wait(10*time.Minute, nil).attempt(notReady("queued"), pending).
		wait(5*time.Minute, nil).attempt(verdict(status.Success, "", "done"), pending).
		end(poll.Outcome{Ending: poll.Succeeded})
}

func TestForecast_lines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, err := httpscript.Streams("")
		r := New(Config{Streams: s, Face: Lines, Forecast: evenly{longest: 16 * time.Minute},
			Heartbeat: new(4 * time.Minute), Opening: []string{"more words"}})
		replay(r, slowJob(), nil)
		r.Close()
		golden(t, "forecast/lines.txt", err.String())
	})
}

func TestForecast_age(t *testing.T) {
	have := show(slowJob(), Config{Face: Lines, Forecast: evenly{16 * time.Minute, 4 * time.Minute}})
	if want := "poll: usually 8m (1m36s to 14m24s, 34 runs); about 6m left\n"; !strings.Contains(have, want) {
		t.Errorf("have\n%s\nwant a line\n%s", have, want)
	}
	at := func(age time.Duration) string { return left(evenly{longest: 16 * time.Second}, age) }
	if at(1500*time.Millisecond) != at(time.Second) || at(2*time.Second) == at(time.Second) {
		t.Error("what is left changes, but once a second")
	}
}

// must returns value, and panics if err is not nil: the preparation of a test has failed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
