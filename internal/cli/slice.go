package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/store"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
)

// abandonedAfter is the age of a job log after which a wait in slices counts as abandoned.
const abandonedAfter = time.Hour

// logPath returns the path of the job log. That of a wait in slices is in a directory that exists.
func (s *Spec) logPath(ids []string, all []*target) (path string, err error) {
	if s.Slice == 0 {
		return s.Joblog, nil
	}
	dir, err := store.DefaultDir(s.Getenv, "slices")
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", argv.Usagef("%s: %w", s.Origin("slice"), err)
	}
	return filepath.Join(dir, s.sliceID(ids, all)+".jsonl"), nil
}

// sliceID names the job log of a wait in slices: by the directory, the run of the CI, and the
// targets. If the wait starts something, its name and its request as it was typed stand for the
// targets. A line with another condition or header then finds the log and is refused, so the start
// is not sent twice.
func (s *Spec) sliceID(ids []string, all []*target) string {
	dir, _ := os.Getwd()
	dir, _ = filepath.EvalSymlinks(dir)
	if startsAny(all) {
		ids = []string{s.Name, s.method(), s.Targets}
		for _, p := range s.Data {
			ids = append(ids, p.text)
		}
		for _, word := range s.Operands {
			ids = append(ids, pageOf(word))
		}
	}
	run := ""
	for _, name := range []string{"GITHUB_RUN_ID", "CI_PIPELINE_ID", "BUILDKITE_BUILD_ID", "CIRCLE_WORKFLOW_ID", "BUILD_TAG", "BUILD_BUILDID"} {
		run = cmp.Or(run, s.Getenv(name))
	}
	return store.ID(fmt.Appendf(nil, "%q", append(ids, dir, run, s.Getenv("GITHUB_RUN_ATTEMPT"))))
}

// method returns the method of a request that starts something.
func (s *Spec) method() string { return cmp.Or(strings.ToUpper(s.HTTP.Method), http.MethodPost) }

// refuseAbandoned refuses an abandoned log: by now the same line more likely means another operation.
func (j *jobLog) refuseAbandoned(s *Spec, origin string) error {
	if s.Slice == 0 || j.resumed == 0 || time.Since(j.touched) < abandonedAfter {
		return nil
	}
	return argv.Usagef("%s: nobody has continued this wait for over an hour, and its end is not known: %s", origin, j.past(s)).
		Hint("to finish it: --timeout %s --joblog '%s' --resume, and then rm it", s.Slice, j.path).
		Hint("to begin anew: rm '%s'", j.path)
}

// past says what there is to go on with: "the wait that began at 03:35, 7m12s ago; its POST is not
// sent again".
func (j *jobLog) past(s *Spec) string {
	text := fmt.Sprintf("the wait that began at %s, %s ago", j.began.Local().Format("15:04"), words.Short(max(0, time.Since(j.began))))
	if j.sent {
		text += "; its " + s.method() + " is not sent again"
	}
	return text
}

// sliced returns the end of a slice as the caller is told it. A group in which a target is still open ends as
// that target does. If the server asks for too long a wait, the slice lasts to its end all the same, or its
// caller would call again at once.
func sliced(inTime context.Context, ev poll.Event, isSingle bool) poll.Event {
	all, one := ev.Summary, ev.Outcome
	if all != nil && all.Ending != poll.Succeeded && all.Ending != poll.Interrupted {
		for _, open := range []poll.Ending{poll.HintTooLong, poll.TimedOut} {
			if all.Endings[open] > 0 {
				all.Ending = open
			}
		}
	}
	isOne := isSingle && one != nil && one.Ending == poll.HintTooLong
	if !isOne && (all == nil || all.Ending != poll.HintTooLong) {
		return ev
	}
	<-inTime.Done()
	waited := time.Since(ev.At)
	ev.At, ev.Elapsed = ev.At.Add(waited), ev.Elapsed+waited
	if isOne { // nothing is left before the deadline any more
		one.Elapsed, one.Reason = one.Elapsed+waited, cmp.Or(one.Verdict.Reason, one.Reason)
	} else {
		all.Elapsed += waited
	}
	return ev
}
