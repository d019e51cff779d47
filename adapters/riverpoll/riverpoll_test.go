package riverpoll

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/riverqueue/river/rivertype"

	"github.com/pollcli/poll/adapters/internal/jobs"
	"github.com/pollcli/poll/poll"
)

// A database replaces River's database, without a server: the row of a job, and the calls.
type database struct {
	row   rivertype.JobRow
	kept  func() // called after the state was kept
	lines []string
}

// write writes the output of the job.
func (d *database) write(out Output) error {
	text, err := out.forPostgres()
	if err != nil {
		return err
	}
	d.row.Metadata, err = json.Marshal(map[string]json.RawMessage{rivertype.MetadataKeyOutput: text})
	return err
}

// work works the job until it ends, or until an error that is for River's retries.
func (d *database) work(ctx context.Context, p poll.Poller) (Output, error) {
	begun := time.Now()
	for {
		var late *Output
		out, err := step(ctx, &d.row, p, func(_ context.Context, out Output, now bool) error {
			if !now {
				late = &out
				return nil
			}
			late = nil
			err := d.write(out)
			d.lines = append(d.lines, fmt.Sprintf("%s kept %s", time.Since(begun), words(out.State)))
			if d.kept != nil {
				d.kept()
			}
			return err
		})
		if late != nil {
			if err := d.write(*late); err != nil {
				return out, err
			}
		}
		var snooze *rivertype.JobSnoozeError
		if !errors.As(err, &snooze) {
			d.lines = append(d.lines, fmt.Sprintf("%s end: %v", time.Since(begun), err))
			return out, err
		}
		d.lines = append(d.lines, fmt.Sprintf("%s snooze %s, %s", time.Since(begun), snooze.Duration, words(out.State)))
		time.Sleep(snooze.Duration)
	}
}

func words(s poll.State) string {
	if s.Starting {
		return "starting"
	}
	return fmt.Sprintf("attempt %d %s", s.Attempts, s.Status)
}

func TestStep(t *testing.T) {
	const post = http.MethodPost
	for name, test := range map[string]struct {
		method  string
		answers []string
		change  func(*poll.Poller)
		want    string
	}{
		"the job is snoozed as the schedule and the service say": {
			"GET", []string{"202", "429 7200", "200"}, nil, `
0s snooze 30s, attempt 0 
30s snooze 30s, attempt 1 NOT_READY
1m0s snooze 2h6m0s, attempt 2 THROTTLED
2h7m0s kept attempt 3 SUCCESS
2h7m0s end: <nil>
`},
		"a start is kept before and after it": {
			post, []string{"202", "202", "200"}, nil, `
0s kept starting
0s kept attempt 1 NOT_READY
0s snooze 30s, attempt 1 NOT_READY
30s snooze 30s, attempt 2 NOT_READY
1m0s kept attempt 3 SUCCESS
1m0s end: <nil>
`},
		"ERROR": {
			"GET", []string{"404"}, func(p *poll.Poller) { p.Immediate = true }, `
0s kept attempt 1 ERROR
0s end: JobCancelError: wait for job: failed: HTTP 404 Not Found
`},
		"ERROR while the operation may run": {
			post, []string{"202", "403"}, nil, `
0s kept starting
0s kept attempt 1 NOT_READY
0s snooze 30s, attempt 1 NOT_READY
30s end: JobCancelError: wait for job: failed: HTTP 403 Forbidden
`},
		"the wait times out": {
			"GET", []string{"202"}, func(p *poll.Poller) { p.Timeout = 40 * time.Second }, `
0s snooze 30s, attempt 0 
30s snooze 9.95s, attempt 1 NOT_READY
39.95s snooze 25ms, attempt 2 NOT_READY
39.975s end: JobCancelError: wait for job: timed out after 40s; last: HTTP 202 Accepted
`},
		"a program that is not here": {
			"", nil, func(p *poll.Poller) { p.Immediate, p.Probe = true, poll.Command{Args: []string{"/nowhere/kubectl"}} }, `
0s end: wait for job: cannot be run: /nowhere/kubectl not found
`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, d := jobs.Service{Answers: test.answers}, database{}
				p := s.Poller(test.method)
				if test.change != nil {
					test.change(&p)
				}
				out, err := d.work(t.Context(), p)
				if diff := cmp.Diff(test.want, "\n"+strings.Join(d.lines, "\n")+"\n"); diff != "" {
					t.Errorf("attempts (-want +have):\n%s", diff)
				}
				if err != nil {
					return
				}
				again, err := d.work(t.Context(), p) // it was killed before River noted the end
				if err != nil || string(out.Result) != `{"state":"done"}` || string(again.Result) != `{"state":"done"}` || s.Requests != len(test.answers) {
					t.Errorf("%+v, then %+v, %v, after %d requests", out, again, err, s.Requests)
				}
			})
		})
	}
}

// If workers are killed once or twice, at any points, no wait is lost and no start request is sent twice.
func TestWorkersThatAreKilled(t *testing.T) {
	const most = 12 // more points than there are in a wait
	unknown := 0
	for pair := range most * most {
		synctest.Test(t, func(t *testing.T) {
			points := 0
			point := func() {
				if points++; points == 1+pair/most || points == 1+pair%most {
					panic("killed")
				}
			}
			s, d := jobs.Service{Answers: []string{"202", "202", "200"}, Asked: point}, database{kept: point}
			p := s.Poller(http.MethodPost)
			var out Output
			var err error
			for killed := true; killed; {
				func() {
					defer func() { killed = recover() != nil }()
					out, err = d.work(t.Context(), p)
				}()
			}
			switch {
			case s.Starts > 1:
				t.Errorf("killed at points %d and %d: %d starts", 1+pair/most, 1+pair%most, s.Starts)
			case err == nil && string(out.Result) == `{"state":"done"}`:
			case err != nil && strings.Contains(err.Error(), "may have started"):
				unknown++
			default:
				t.Errorf("killed at points %d and %d: %v", 1+pair/most, 1+pair%most, err)
			}
			if points >= most {
				t.Errorf("%d points", points)
			}
		})
	}
	// Only between the states before and after the request: at points 1 and 2.
	if want := 2*2*most - 4; unknown != want {
		t.Errorf("it was %d times unknown whether the operation had started, want %d", unknown, want)
	}
}

// If the state cannot be stored, no start request is sent, and River retries the job.
func TestAStartThatIsNotKept(t *testing.T) {
	errAway, s := errors.New("the database is away"), jobs.Service{Answers: []string{"202"}}
	_, err := step(t.Context(), &rivertype.JobRow{}, s.Poller("POST"), func(context.Context, Output, bool) error { return errAway })
	var final *rivertype.JobCancelError
	if !errors.Is(err, errAway) || errors.As(err, &final) || s.Starts > 0 {
		t.Errorf("%v after %d starts", err, s.Starts)
	}
}

// The error of an attempt that River interrupted wraps the cause of the interruption, which River recognizes. The state is
// stored.
func TestAnAttemptThatIsInterrupted(t *testing.T) {
	errStop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := jobs.Service{Answers: []string{"202"}, Asked: func() { cancel(errStop) }}
	p := s.Poller("GET")
	p.Immediate = true
	var kept Output
	_, err := step(ctx, &rivertype.JobRow{}, p, func(ctx context.Context, out Output, _ bool) error {
		kept = out
		return ctx.Err()
	})
	var final *rivertype.JobCancelError
	if !errors.Is(err, errStop) || errors.As(err, &final) || kept.State.Attempts != 1 || kept.State.Ended() {
		t.Errorf("%v, %+v", err, kept)
	}
}

// If the job has an output that does not belong to a wait, Step starts no wait.
func TestAnotherOutput(t *testing.T) {
	for _, output := range []string{`{"rows":3}`, `"done"`, `{"state":{"v":9}}`} {
		s := jobs.Service{Answers: []string{"202"}}
		row := rivertype.JobRow{Metadata: []byte(`{"output":` + output + `}`)}
		_, err := step(t.Context(), &row, s.Poller("POST"), func(context.Context, Output, bool) error { return nil })
		if err == nil || s.Requests > 0 {
			t.Errorf("%s: %v after %d requests", output, err, s.Requests)
		}
	}
}

// A result that Postgres rejects as JSON is stored as a string.
func TestWait_storesAResultThatPostgresRejects(t *testing.T) {
	s := jobs.Service{Answers: []string{"200"}}
	p := s.Poller("GET")
	p.Immediate = true
	errJSON := errors.New("unsupported Unicode escape sequence")
	out, err := step(t.Context(), &rivertype.JobRow{}, p, func(_ context.Context, out Output, _ bool) error {
		if out.Result[0] == '{' {
			return errJSON
		}
		return nil
	})
	if want := `"{\"state\":\"done\"}"`; err != nil || string(out.Result) != want {
		t.Errorf("%s, %v, want %s", out.Result, err, want)
	}
}
