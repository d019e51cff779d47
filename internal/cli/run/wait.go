package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/learn"
	"github.com/pollcli/poll/internal/resume"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/targets"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/fleet"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A wait holds the checked settings of a run and the objects that were created from these settings.
type wait struct {
	spec    *read.Run
	process Host

	targets []*read.Target

	group  *poll.Group             // nil for a single target
	learns map[int]*learn.Recorder // the field Learns of [read.Reader]
	log    *resume.Log             // nil without --joblog and --slice
	share  *fleet.Fleet            // nil without --share
	advice string                  // a hint on a program that cannot run, or ""

	report   ui.Config
	output   ui.Output
	reporter *ui.Reporter
}

// deadline returns the latest time for the end of the whole run. Without a timeout, that time is centuries in the
// future.
func (w *wait) deadline() time.Time {
	return w.process.Began.Add(cmp.Or(w.spec.Timeout, math.MaxInt64))
}

// withDeadline returns a context that is canceled at the deadline, with a [timeoutError] as the cause.
func (w *wait) withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(ctx, w.deadline(), &timeoutError{w.spec.Timeout})
}

// note adds texts to the notes that poll prints before the wait, except empty strings.
func (w *wait) note(texts ...string) {
	isEmpty := func(text string) bool { return text == "" }
	w.report.Opening = append(w.report.Opening, slices.DeleteFunc(texts, isEmpty)...)
}

// readOutput reads the settings for the progress report and for stdout. kinds contains the kinds of the targets.
func (w *wait) readOutput(ctx context.Context, kinds []status.Kind) error {
	s := w.spec
	w.report, w.output = s.UI, s.Output
	w.report.Streams, w.report.Palette, w.report.Getenv = w.process.Streams, w.process.Streams.Palette(s.Color), s.LookupEnv.Get
	w.report.Until = s.Texts("until")
	if s.Gone {
		w.report.Until = append(w.report.Until, "gone")
	}
	if s.Preset != "" {
		w.report.Until = append(w.report.Until, "preset "+s.Preset)
	}
	if learns := w.learns[0]; learns != nil && learns.Model != nil {
		w.report.Forecast = learns.Model
	} else if learns != nil {
		w.note("no past run of " + learns.Name + " is known yet")
	}
	if err := w.readShow(kinds); err != nil {
		return err
	}
	return w.readPrint(ctx, kinds)
}

// readShow compiles the expressions of --show, whose values poll shows for each response. With several targets, an
// expression must apply to at least one of their kinds.
func (w *wait) readShow(kinds []status.Kind) (err error) {
	s := w.spec
	w.report.Show, err = s.Values("show", s.Texts("show"), func(e *expr.Expr) (err error) {
		for _, kind := range kinds {
			if err = read.Applies(e, kind, s.Each != ""); err == nil {
				break
			}
		}
		return cmp.Or(read.MayShow(e), err)
	})
	return err
}

// readPrint compiles the expressions of --print, whose values poll prints as the result. An expression must apply
// to the kinds of all targets.
func (w *wait) readPrint(ctx context.Context, kinds []status.Kind) error {
	s := w.spec
	texts := s.Texts("print")
	for i, text := range texts {
		if text == targets.Item && s.Targets != "" {
			texts[i] = "$name"
		}
	}
	values, err := s.Values("print", texts, func(e *expr.Expr) (err error) {
		for _, kind := range kinds {
			err = cmp.Or(err, read.Applies(e, kind, s.Each != ""))
		}
		return err
	})
	for _, e := range values {
		w.output.Print = append(w.output.Print, func(o *status.Observation) (expr.Value, error) {
			inTime, cancel := w.withDeadline(ctx)
			defer cancel()
			return printed(inTime, e, o)
		})
	}
	return err
}

// printed returns the value of the expression e for the observation o. It returns an error if the value is missing
// or unknown, unless e is a jq program that deliberately returns no value.
func printed(ctx context.Context, e *expr.Expr, o *status.Observation) (expr.Value, error) {
	env := status.Environment(o)
	env.Context = ctx
	result := e.Eval(env)
	if cause := context.Cause(ctx); result.Abandoned() && cause != nil {
		ending := poll.Interrupted
		if _, over := errors.AsType[*timeoutError](cause); over {
			ending = poll.TimedOut
		}
		return expr.Value{}, &ui.GivenUp{Ending: ending, Cause: fmt.Errorf("--print %s: %w", e, cause)}
	}
	value := result.Value()
	isEmpty := strings.HasPrefix(e.String(), "jq:") && value.Reason == "the program returns no value" // as with jq's "empty", which is deliberate
	if !value.Exists() && !isEmpty {
		near, others := result.Explain().Hints()
		words := slices.Concat([]string{value.Reason}, near, others)
		return expr.Value{}, fmt.Errorf("--print %s: %s", e, strings.Join(words, "; hint: "))
	}
	return value, nil
}

// openLog opens the job log, and sets the targets to the states that the log holds from an earlier run. It returns
// nil if the run keeps no job log.
func openLog(s *read.Run, all []*read.Target) (*resume.Log, error) {
	if !s.IsLogged() {
		return nil, nil
	}
	o := resume.Options{Origin: s.Origin("joblog"), File: s.Joblog, Resume: s.Resume, Slice: s.Slice,
		List: s.Operands, Method: cmp.Or(strings.ToUpper(s.HTTP.Method), http.MethodPost)}
	if s.Slice > 0 {
		o.Origin = s.Origin("slice")
		if err := readSlice(s, &o); err != nil {
			return nil, argv.Usagef("%s: %w", o.Origin, err)
		}
	}
	var targets []resume.Target
	for _, t := range all {
		targets = append(targets, resume.Target{Poller: &t.Poller, Name: t.Name, Settings: t.Identity, IsStream: t.IsStream})
	}
	return resume.Open(o, targets)
}

// readSlice creates the directory for the job logs of --slice. It also sets the fields of o that determine the job
// log's name: the command line, the working directory and the CI run. The same command line in the same place
// continues the same wait.
func readSlice(s *read.Run, o *resume.Options) (err error) {
	if o.Dir, err = system.StateDir(s.LookupEnv.Get, "slices"); err == nil {
		err = os.MkdirAll(o.Dir, 0o700)
	}
	o.Line = []string{s.Name, o.Method, s.Targets}
	for _, flag := range []string{"data", "data-raw", "data-binary"} {
		o.Line = append(o.Line, s.Texts(flag)...)
	}
	for _, word := range s.Operands {
		o.Line = append(o.Line, resume.Page(word))
	}
	dir, _ := os.Getwd()
	dir, _ = filepath.EvalSymlinks(dir)
	run := ""
	for _, name := range []string{"GITHUB_RUN_ID", "CI_PIPELINE_ID", "BUILDKITE_BUILD_ID", "CIRCLE_WORKFLOW_ID", "BUILD_TAG", "BUILD_BUILDID"} {
		run = cmp.Or(run, s.LookupEnv.Get(name))
	}
	o.Place = []string{dir, run, s.LookupEnv.Get("GITHUB_RUN_ATTEMPT")}
	return err
}

// shareSecret names the environment variable that holds the secret of processes with the same shared limit. A flag
// would not be secret, because other users can read a process's arguments.
const shareSecret = "POLL_SHARE_SECRET"

// openShare opens the rate limit that --share names, which many processes share. It returns nil without --share.
// Poll cannot know which limit a command uses, so a command also needs --share-key, the name of the limit. Without
// --share-key, openShare ignores a --share from an environment variable, and returns a usage error for a --share
// from the command line.
func openShare(s *read.Run, all []*read.Target, note func(string)) (*fleet.Fleet, error) {
	isCommand := func(t *read.Target) bool { return t.Kind == status.KindCommand }
	switch isUnknown := s.Fleet.Name == "" && slices.ContainsFunc(all, isCommand); {
	case s.Share == "" || isUnknown && s.Rank("share") == argv.Variable:
		return nil, nil
	case isUnknown:
		return nil, argv.Usagef("%s: poll cannot know which limit a command uses", s.Origin("share")).
			Hint("give the limit a name: commands with the same --share-key NAME share one limit, such as --share-key aws-cfn")
	}
	o := s.Fleet
	o.Key, o.Secret, o.Note = credentialsOf(all), []byte(s.LookupEnv.Get(shareSecret)), note
	shared, err := fleet.Open(s.Share, o)
	if err != nil {
		return nil, argv.Usagef("%s: %w", s.Origin("share"), cmp.Or(errors.Unwrap(err), err)).
			Hint("rediss://HOST or redis://HOST, or a directory of your own for the processes of one machine")
	}
	return shared, nil
}

// credentialsOf returns a function from an origin to all secrets that poll may send to that origin, combined into
// one string. Callers must hash the string before they store or send it.
func credentialsOf(all []*read.Target) func(origin string) string {
	sent := map[string][]string{} // by origin; the key "" has the secrets that redirects may carry to any origin
	for _, t := range all {
		request, ok := t.Poller.Probe.(*poll.HTTP)
		if !ok {
			continue
		}
		secret, place := request.Credentials(), request.Plan().Origin
		if t.Socket != "" {
			machine, _ := os.Hostname() // containers with the same path differ in their host names
			secret += fmt.Sprintf(" at %q of %q", t.Socket, machine)
		}
		if request.LocationTrusted {
			place = "" // redirects may carry the secrets to any origin
		}
		if secret != "" {
			sent[place] = append(sent[place], secret)
		}
	}
	return func(origin string) string {
		secrets := slices.Sorted(slices.Values(slices.Concat(sent[""], sent[origin])))
		return fmt.Sprintf("%q", slices.Compact(secrets))
	}
}
