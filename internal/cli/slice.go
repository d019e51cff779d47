package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/store"
	"github.com/pollcli/poll/poll"
)

// logPath returns the path of the job log. That of a wait in slices is in a directory that exists. One
// that was left for long is not gone on with: by then the same command more likely means another
// operation.
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
	path = filepath.Join(dir, s.sliceID(ids, all)+".jsonl")
	if left, err := os.Stat(path); err == nil && time.Since(left.ModTime()) > 12*time.Hour {
		return "", argv.Usagef("%s is of the same command, and was left for over 12h", path).
			Hint("without it the command begins anew; --timeout %s --joblog %s --resume goes on with it", s.Slice, path)
	}
	return path, nil
}

// sliceID names the job log of a wait in slices. One that starts something is named by what is
// sent where, as it was typed: whatever else is another, its start is then refused, and not sent
// again.
func (s *Spec) sliceID(ids []string, all []*target) string {
	if !slices.ContainsFunc(all, func(t *target) bool { return starts(t.poller.Probe) }) {
		return store.ID(fmt.Appendf(nil, "%q", ids))
	}
	parts := []string{cmp.Or(strings.ToUpper(s.Request), http.MethodPost), s.Targets}
	for _, p := range s.Data {
		parts = append(parts, p.text)
	}
	for _, word := range s.Operands {
		parts = append(parts, withoutUser(word))
	}
	return identity("start", "", "", parts, nil)
}

// sliced makes of the end of a run in slices one that its caller can go by. Of several targets
// none is the end of all before they have all ended. A run that the server makes end early, by
// asking for too long a wait, lasts as long as the others: its caller would call again at once.
func (w *wait) sliced(inTime context.Context, ev poll.Event) poll.Event {
	how := poll.Ending("")
	switch {
	case ev.Summary != nil:
		how = ev.Summary.Ending
		for _, open := range []poll.Ending{poll.HintTooLong, poll.TimedOut} {
			if how != poll.Succeeded && how != poll.Interrupted && ev.Summary.Endings[open] > 0 {
				how = open
			}
		}
		ev.Summary.Ending = how
	case ev.Outcome != nil && w.group == nil:
		how = ev.Outcome.Ending
	}
	if how == poll.HintTooLong {
		<-inTime.Done()
		ev.At = time.Now()
	}
	return ev
}
