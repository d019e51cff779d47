package cli

import (
	"cmp"
	"context"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/learning"
	"github.com/pollcli/poll/internal/cli/plan"
	"github.com/pollcli/poll/internal/newfile"
	"github.com/pollcli/poll/internal/report"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// waitCommand returns the command that waits: poll without a subcommand.
func waitCommand(world World) *argv.Command {
	return &argv.Command{
		About: "poll waits for a URL or a command: it asks again and again until a condition\n" +
			"holds, and ends with an exit code that a script can trust.",
		Examples: []argv.Example{
			{Line: `poll --until '.state=="done"' https://api.example.com/jobs/42`},
			{Line: `poll --until '.status.phase=="Running"' -- kubectl get pod web-0 -o json`},
			{Line: `poll --timeout 2m --interval 1s http://localhost:8080/health`},
			{Line: `url=$(poll --preset replicate --print '.output[0]' "$prediction") || exit`},
		},
		Usage: []string{
			"poll [flags] URL                    http, https or tcp; flags may follow it",
			"poll [flags] [--] COMMAND [ARG...]  all after COMMAND belongs to it",
		},
		Flags: waitFlags(),
		After: "Times need a unit (500ms, 30s, 1h30m). Every flag has a variable: POLL_MAX_WAIT.\n" +
			"Exit codes: 0 SUCCESS, 1 ERROR, 2 usage, 3 attempts exhausted, 4 throttled past\n" +
			"the deadline, 124 timeout, 125 poll failed, 126/127 cannot run, 128+n signal n.",
		MaxOperands: argv.Any,
		Conflicts:   waitConflicts(),
		Run: func(ctx context.Context, l *argv.Line) error {
			if l.On("version") {
				return l.Write(ctx, version()+"\n")
			}
			w := newWait(l, world)
			if err := w.prepare(ctx, l); err != nil {
				return err
			}
			_, err := w.run(ctx)
			return err
		},
	}
}

// A wait is what the command line says about a wait, checked.
type wait struct {
	world   World
	kind    status.Kind
	poller  poll.Poller
	config  backoff.Config // of the poller's schedules
	command *poll.Command  // the probe, if it is a command
	report  report.Config
	output  report.Output
	learns  *learning.Recorder // nil without --learn

	resultFile   string // "" for none
	showStderr   bool
	passExitCode bool
	advice       string // about a program that does not exist
	grace        time.Duration
}

// deadline returns when the time for everything is over: in centuries if there is
// no timeout.
func (w *wait) deadline() time.Time {
	return w.poller.Start.Add(cmp.Or(w.poller.Timeout, math.MaxInt64))
}

// withDeadline returns a context that is also done at the deadline.
func (w *wait) withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(ctx, w.deadline(), &timeoutError{w.poller.Timeout})
}

// run runs the poller, reports its events and writes the result to stdout. The
// error determines the exit code.
func (w *wait) run(ctx context.Context) (result report.Result, err error) {
	reporter := report.New(w.report)
	defer reporter.Close()
	if w.showStderr {
		w.command.Stderr = reporter.Stderr()
		w.poller.Probe = *w.command
	}
	for event := range w.poller.Events(ctx) {
		w.learns.Observe(event)
		if event.Kind == poll.EventEnd {
			result, err = w.end(ctx, reporter, event)
			continue
		}
		reporter.Event(event)
	}
	return result, err
}

// end reports how the run ended and writes the result to stdout. That does not wait
// for others who hold the history; the last words do.
func (w *wait) end(ctx context.Context, reporter *report.Reporter, event poll.Event) (result report.Result, err error) {
	outcome := *event.Outcome
	if outcome.Ending == poll.CannotRun && w.advice != "" {
		outcome.Notes = append(outcome.Notes, w.advice)
	}
	// The command is gone: whatever is still stuck needs no grace.
	w.world.limit(limit{w.poller.Timeout, w.deadline(), min(w.grace, poll.DefaultGrace)})
	inTime, cancel := w.withDeadline(ctx)
	defer cancel()
	held := w.learns.Save(inTime, outcome)
	result = w.output.Settle(outcome)
	result.Outcome.Notes = slices.Concat(outcome.Notes, w.learns.Warnings())
	event.Outcome = &result.Outcome
	if held {
		reporter.Clear()
		err = w.conclude(ctx, reporter, result)
		w.learns.SaveLater(ctx, time.Until(w.deadline()))
		result.Outcome.Notes = slices.Concat(outcome.Notes, w.learns.Warnings())
	}
	reporter.Event(event)
	reporter.Close()
	if !held {
		err = w.conclude(ctx, reporter, result)
	}
	return result, err
}

// conclude writes the result and returns the error that determines the exit code.
func (w *wait) conclude(ctx context.Context, reporter *report.Reporter, result report.Result) error {
	code := outcomeCode(result.Outcome)
	if w.passExitCode {
		code = passedCode(code, result.Outcome)
	}
	err := w.world.deliver(ctx, func() error {
		if w.resultFile != "" {
			if err := newfile.Write(w.resultFile, result.Answer()); err != nil {
				return &report.ResultError{Err: err}
			}
		}
		return reporter.WriteResult(result, int(code))
	})
	if err != nil {
		return err
	}
	if code != ExitSuccess {
		return &exitError{code}
	}
	return nil
}

// passedCode returns the exit code of the command when the wait failed, if that
// code means failure, too. A signal to poll takes precedence.
func passedCode(code ExitCode, o poll.Outcome) ExitCode {
	if code == ExitSuccess || o.Ending == poll.Interrupted || o.Observation == nil {
		return code
	}
	if exit := o.Observation.Exit; exit != nil && *exit != 0 {
		return ExitCode(*exit)
	}
	return code
}

// version returns the module's version, or the commit that poll was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "poll (unknown version)"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"]
	if commit != "" {
		commit = " (" + commit[:min(12, len(commit))]
		if settings["vcs.modified"] == "true" {
			commit += ", modified"
		}
		commit += ")"
	}
	return "poll " + info.Main.Version + commit + " " + info.GoVersion
}

// The headings of the main command's help.
const (
	groupConditions = "Conditions (each may be repeated: any one that is true is enough)"
	groupWaiting    = "Waiting"
	groupLearning   = "Learning (from past runs of the same operation)"
	groupLimits     = "Limits"
	groupHTTP       = "HTTP (as curl's)"
	groupCommand    = "Command"
	groupOutput     = "Output"
)

// waitFlags returns the options of a wait, in the order of the help.
func waitFlags() argv.Flags {
	return slices.Concat(argv.Flags{
		{Name: "until", Value: "EXPR", Many: true, Distinctive: true, Group: groupConditions, Usage: "SUCCESS when true, e.g. '.state==\"done\"'"},
		{Name: "error-if", Value: "EXPR", Many: true, Distinctive: true, Group: groupConditions, Usage: "ERROR when true: stop"},
		{Name: "throttled-if", Value: "EXPR", Many: true, Distinctive: true, Group: groupConditions, Usage: "THROTTLED when true: slow down"},
		{Name: "not-ready-if", Value: "EXPR", Many: true, Distinctive: true, Group: groupConditions, Usage: "NOT_READY when true, e.g. '$status==404'"},
		{Name: "strict", Distinctive: true, Group: groupConditions, Usage: "a good answer that no condition matches is ERROR"},
		{Name: "preset", Value: "NAME", Offers: offeredPresets, Distinctive: true, Group: groupConditions, Usage: "built-in conditions for an API: poll presets"},
		{Name: "success-threshold", Value: "N", Default: "1", Distinctive: true, Group: groupConditions, Usage: "consecutive SUCCESS verdicts needed"},
		{Name: "error-threshold", Value: "N", Default: "1", Distinctive: true, Group: groupConditions, Usage: "consecutive ERROR verdicts needed"},

		{Name: "timeout", Value: "D", Default: "10m", Group: groupLimits, Usage: "for everything; 0 = none"},
		{Name: "attempt-timeout", Value: "D", Distinctive: true, Group: groupLimits, Default: "30s; none for a command", Usage: "for one attempt"},
		{Name: "max-attempts", Value: "N", Distinctive: true, Group: groupLimits, Default: "0 = no limit", Usage: "attempts in all"},
		{Name: "max-body", Value: "SIZE", Group: groupLimits, Default: "64MiB", Usage: "keep at most this much of an answer"},
	}, plan.Flags(groupWaiting), learning.Flags(groupLearning), argv.Flags{
		{Name: "request", Aliases: []string{"X"}, Value: "METHOD", Offers: offeredMethods, Group: groupHTTP, Usage: "the method; GET, or POST with -d"},
		{Name: "data", Aliases: []string{"d"}, Value: "DATA", Many: true, FromFile: true, MayBeEmpty: true, Group: groupHTTP, Usage: "the request body; @FILE reads it, @- from stdin"},
		{Name: "header", Aliases: []string{"H"}, Value: "LINE", Many: true, FromFile: true, Group: groupHTTP, Usage: "a request header; @FILE reads several"},
		{Name: "user", Aliases: []string{"u"}, Value: "USER:PASS", Group: groupHTTP, Usage: "basic authentication"},
		{Name: "user-agent", Aliases: []string{"A"}, Value: "NAME", MayBeEmpty: true, Group: groupHTTP, Usage: "the User-Agent header"},
		{Name: "netrc", Aliases: []string{"n"}, Group: groupHTTP, Usage: "take the password from ~/.netrc"},
		{Name: "insecure", Aliases: []string{"k"}, Group: groupHTTP, Usage: "accept any certificate"},
		{Name: "cacert", Value: "FILE", Group: groupHTTP, Usage: "trust these certificate authorities"},
		{Name: "cert", Aliases: []string{"E"}, Value: "FILE", Group: groupHTTP, Usage: "client certificate (PEM)"},
		{Name: "key", Value: "FILE", Group: groupHTTP, Usage: "its key, if not in the same file"},
		{Name: "unix-socket", Value: "PATH", Group: groupHTTP, Usage: "connect to this socket"},
		{Name: "max-redirs", Value: "N", Group: groupHTTP, Default: "50", Usage: "redirects in one attempt; -1 = 1000, the most"},
		{Name: "location-trusted", Group: groupHTTP, Usage: "send credentials and body to other origins, too"},
		{Name: "follow", Value: "WHERE", Offers: offeredFollows, Distinctive: true, Group: groupHTTP, Default: "auto", Usage: "what to poll after the start: none, EXPR"},
		{Name: "no-conditional", Distinctive: true, Group: groupHTTP, Usage: "never send If-None-Match / If-Modified-Since"},
		{Name: "silent", Aliases: []string{"s"}, Hidden: true},
		{Name: "show-error", Aliases: []string{"S"}, Hidden: true},
		{Name: "fail", Aliases: []string{"f"}, Hidden: true},
		{Name: "location", Aliases: []string{"L"}, Hidden: true},
		{Name: "compressed", Hidden: true},

		{Name: "stdin", Group: groupCommand, Usage: "read stdin once, give it to every attempt"},
		{Name: "foreground", Group: groupCommand, Usage: "let the command use the terminal"},
		{Name: "grace", Value: "D", Group: groupCommand, Default: "2s", Usage: "time between TERM and KILL of an attempt"},
		{Name: "show-stderr", Distinctive: true, Group: groupCommand, Usage: "pass the command's stderr through as it comes"},
		{Name: "pass-exit-code", Distinctive: true, Group: groupCommand, Usage: "when the wait fails, exit with the command's code"},

		{Name: "print", Value: "EXPR", Group: groupOutput, Usage: "print this value, not the whole answer"},
		{Name: "json", Group: groupOutput, Usage: "print one JSON object that describes the outcome"},
		{Name: "result-file", Value: "FILE", Hidden: true}, // for the action: --json does not keep bytes as they are
		{Name: "progress", Value: "P", Group: groupOutput, Default: "auto", Usage: "live, lines, json or none", Words: argv.Texts(report.Faces())},
		{Name: "quiet", Aliases: []string{"q"}, Group: groupOutput, Usage: "only errors: --progress none"},
		{Name: "verbose", Aliases: []string{"v"}, Group: groupOutput, Usage: "every attempt with its answer and decisions"},
		{Name: "heartbeat", Value: "D", Distinctive: true, Group: groupOutput, Default: "30s, growing to 5m", Usage: "report at least this often"},
		{Name: "color", Value: "WHEN", Group: groupOutput, Default: "auto", Usage: "always or never", Words: argv.Texts(term.ColorModes())},
		{Name: "help", Aliases: []string{"h"}, Group: groupOutput, Usage: "this text"},
		{Name: "version", Group: groupOutput, Usage: "the version"},
	})
}

func waitConflicts() []argv.Conflict {
	return slices.Concat(plan.Conflicts(), argv.Conflicting("quiet", "verbose", "show-stderr"), []argv.Conflict{
		{Flag: "quiet", Other: "progress", Unless: "none"},
		{Flag: "show-stderr", Other: "progress", Only: "json"},
	})
}

// flagSynonyms maps the names that other tools use to flags of poll.
func flagSynonyms() map[string]string {
	return map[string]string{
		"attempts": "max-attempts", "retry": "max-attempts", "retries": "max-attempts",
		"max-retries": "max-attempts", "times": "max-attempts", "tries": "max-attempts",
		"max-time": "timeout", "retry-max-time": "timeout", "m": "timeout", "t": "timeout",
		"delay": "interval", "retry-delay": "interval", "sleep": "interval", "every": "interval",
		"wait": "interval", "retry-interval": "interval",
		"backoff": "strategy", "max-delay": "max-wait", "max-interval": "max-wait",
		"connect-timeout": "attempt-timeout", "fail-if": "error-if", "success-if": "until",
		"for": "until", "while": "not-ready-if", "quiet-stderr": "quiet", "silence": "quiet",
		"method": "request", "headers": "header", "body": "data",
	}
}

func offeredMethods() []argv.Candidate {
	return argv.Candidates("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
}

func offeredFollows() []argv.Candidate {
	return []argv.Candidate{{Word: "auto", About: "where the answer says"}, {Word: "none", About: "repeat the same request"}}
}
