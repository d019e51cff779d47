// Package cli implements the command line of poll. It parses flags, environment variables and operands, runs the
// wait or subcommand that they describe, and returns an exit code.
//
// The files:
//
//	app.go       the table of commands; their dispatch, the demo, the exit
//	help.go      help, manual, completion scripts and version; pages on a terminal
//	help/        the help text of each command
//	completion/  the completion script of each shell
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/commands"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/cli/run"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/internal/ui/term"
)

// A Process is the current process with its arguments, without the program's name.
type Process struct {
	run.Host
	args []string
}

// NewProcess returns a process with the given arguments, environment and standard streams.
func NewProcess(args []string, lookup argv.Lookup, streams *term.Streams) Process {
	p := Process{run.Host{Env: read.NewEnv(lookup, streams)}, args}
	p.Commands = p.subcommands().names()
	return p
}

// subcommands returns all subcommands in the order of the help text.
func (p Process) subcommands() subcommands {
	return subcommands{
		{"demo", p.demoCommand},
		{"eval", func() *argv.Command { return commands.Eval(p.Env) }},
		{"presets", func() *argv.Command { return commands.Presets(p.Env) }},
		{"help", func() *argv.Command { return helpCommand(p.Host, p.subcommands()) }},
		{"man", func() *argv.Command { return manCommand(p.Host, p.subcommands()) }},
		{"completion", func() *argv.Command { return completionCommand(p.Host, p.subcommands()) }},
		{"version", versionCommand},
		{"history", func() *argv.Command { return commands.History(p.Streams) }},
		{"schedule", func() *argv.Command { return commands.Schedule(p.Streams) }},
		{"tune", commands.Tune},
		{"simulate", commands.Simulate},
	}
}

// Run runs the command line and returns its exit code. The caller cancels ctx when a signal to end the process
// arrives, with a [system.SignalError] as the cause.
func Run(ctx context.Context, p Process) run.ExitCode {
	p.Began = time.Now()
	s := read.New()
	sub, err := p.run(ctx, s, func(ctx context.Context, checked *read.Run) error {
		s = checked
		return p.Wait(ctx, s)
	})
	if !argv.IsUsage(err) {
		return p.finish(err)
	}
	p.Refuse("usage", err)
	var unwritten error
	if sub == nil && s.IsOn("json") {
		unwritten = ui.WriteFailure(p.Streams, int(run.ExitUsage), false, err.Error())
	}
	return p.finish(cmp.Or(unwritten, error(run.ExitUsage)))
}

// run parses the arguments. If the first argument names a subcommand, run executes the subcommand and returns it.
// Otherwise run reads the settings into s, calls wait with the checked settings, and returns a nil subcommand.
//
// [argv.Line.Parse] parses the arguments first. urfave/cli receives only the flags that Parse found, each in the
// form --name=value. urfave/cli then looks up the command and its flags, calls typed.Set with each value, and runs
// the action. It never receives operands or environment variables, and never prints. For urfave/cli, a wait is the
// command "wait".
func (p Process) run(ctx context.Context, s *read.Run, wait func(context.Context, *read.Run) error) (sub *argv.Command, err error) {
	l, args := s.Line, p.args
	action := func(*cli.Context) error { return p.readWait(ctx, s, wait) }
	if len(args) > 0 {
		sub = p.subcommands().command(args[0])
	}
	if sub != nil {
		l, args = argv.NewLine(sub), args[1:]
		action = func(*cli.Context) error { return p.runCommand(ctx, l) }
		if sub.Raw != nil {
			if done, err := sub.Raw(ctx, args); done {
				return sub, err
			}
		}
		if sub.NamesFlag && len(args) == 1 && args[0] != "-h" && args[0] != "--help" {
			args = []string{"--", args[0]}
		}
	}
	l.LookupEnv, l.Write = p.Lookup, p.Write
	l.Parse(args)
	command := &cli.Command{Name: cmp.Or(l.Command.Name, "wait"), HideHelp: true, Flags: flagsOf(l), Action: action}
	app := &cli.App{HideHelp: true, HideVersion: true, Writer: p.Streams.Out, ErrWriter: p.Streams.Err, Commands: []*cli.Command{command},
		ExitErrHandler: func(*cli.Context, error) {}} // the default handler would exit
	path := []string{"poll", command.Name}
	for _, word := range l.Typed {
		path = append(path, "--"+word.Flag.Name+"="+word.Text)
	}
	return sub, app.Run(path)
}

// A typed is the urfave/cli value for a flag on the command line. Before urfave/cli sets a typed, [argv.Line.Parse]
// has replaced the flag as the user typed it, such as -q, by the full name and a value.
type typed struct {
	*argv.Flag
	line *argv.Line
}

// flagsOf returns the urfave/cli flags for the flags on the command line. It omits all other flags, because the time
// that urfave/cli needs for each flag is proportional to the number of flags.
func flagsOf(l *argv.Line) (list []cli.Flag) {
	for i := range l.Flags {
		if f := &l.Flags[i]; l.HasTyped(f.Name) {
			list = append(list, &cli.GenericFlag{Name: f.Name, Value: typed{f, l}})
		}
	}
	return list
}

func (t typed) String() string { return "" }

// Set adds a flag's value to the line. It records an error in the line instead of returning it, for two reasons. A
// later --json is still read, so that the error can be reported as JSON. And package flag would repeat a returned
// error together with the value, which may be a secret.
func (t typed) Set(text string) error {
	about := "--" + t.Name + " " + text
	if t.line.Has(t.Name) && !t.Many {
		about = "again " + t.Name
	}
	switch wrong, hint := argv.Advice(about); {
	case wrong != "":
		t.line.Fail(argv.Usagef("--%s %s", t.Name, wrong).Hint("%s", hint))
	case hint != "":
		t.line.Note("%s", hint)
	}
	t.line.Add(t.Flag, text, "--"+t.Name, argv.Typed)
	return nil
}

// runCommand checks the operands and settings of the subcommand l.Command, including its environment variables,
// and runs the subcommand. For --help, it only prints the help.
func (p Process) runCommand(ctx context.Context, l *argv.Line) error {
	c := l.Command
	l.Operands = append(l.Operands, l.Rest...)
	switch {
	case l.Err != nil:
		return l.Err
	case l.IsOn("help"):
		return l.Write(ctx, c.Help(helpText(c.Name)))
	case c.HasVariables:
		l.Environ(read.OfAll)
	}
	if l.Err != nil {
		return l.Err
	}
	if most := len(strings.Fields(c.Operands)); len(l.Operands) > most {
		return read.TooMany(l.Operands, most, strings.TrimSpace("poll "+c.Name+" [flags] "+c.Operands))
	}
	settings, err := l.Resolved(argv.Check{Kinds: read.OfAll, Least: argv.Variable})
	if err != nil {
		return err
	}
	l.Settings = settings
	settings.Apply(c.Into...)
	if c.OwnsSignals {
		return c.Run(ctx, l)
	}
	return run.Await(ctx, func() error { return c.Run(ctx, l) })
}

// readWait reads the operands and environment variables of a wait into s. It checks the settings, including the
// settings of a preset, and calls wait with the checked copy of s. For --help and --version, it only prints the
// help or the version.
func (p Process) readWait(ctx context.Context, s *read.Run, wait func(context.Context, *read.Run) error) error {
	kinds, err := read.Classify(s.Line)
	if s.Err == nil && (s.IsOn("help") || s.IsOn("version")) {
		return p.about(ctx, s)
	}
	err = cmp.Or(s.Err, err)
	s.Environ(kinds)
	if err = cmp.Or(err, s.Err); err != nil {
		return err
	}
	s = s.With(s.Settings, nil) // s.Timeout is now set: the timeout limits the reading of files
	var checked *read.Run
	err = run.InTime(ctx, p.Host, s, func() (err error) {
		checked, err = p.Complete(s, kinds)
		return err
	})
	if err != nil {
		return err
	}
	return wait(ctx, checked)
}

// about prints the short help or the version. It returns a usage error if -h or -V comes with operands, because
// both letters have other meanings in other programs.
func (p Process) about(ctx context.Context, s *read.Run) error {
	switch {
	case len(s.Operands) > 0 && s.IsOn("help"):
		return argv.Usagef("-h is --help, and takes no other arguments").Advise("help " + s.Operands[0])
	case len(s.Operands) > 0:
		return argv.Usagef("-V is --version, and takes no other arguments")
	case s.IsOn("help"):
		return s.Write(ctx, shortHelp())
	}
	return s.Write(ctx, version()+"\n")
}

func (p Process) demoCommand() *argv.Command {
	return &argv.Command{
		Summary:     "watch poll wait for a job of a built-in API",
		OwnsSignals: true,
		Run:         func(ctx context.Context, _ *argv.Line) error { return demo(ctx, p) },
	}
}

const demoCondition = `.state == "done"`

// demo starts an API server on a loopback port, and waits for one of its jobs with the same code as a real wait.
// It ignores environment variables, which are meant for real waits.
func demo(ctx context.Context, process Process) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("start the demo's API: %w", err)
	}
	server := &http.Server{Handler: demoJob(), ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(listener)
	defer server.Close()
	job := "http://" + listener.Addr().String() + "/jobs/42"
	fmt.Fprintf(process.Streams.Err, "$ poll --until '%s' %s\n", demoCondition, job)
	process.args = []string{"--timeout", "15s", "--until", demoCondition, job}
	process.Lookup = func(string) (string, bool) { return "", false }
	_, err = process.run(ctx, read.New(), process.Wait)
	return err
}

// demoJob returns a handler that changes its response with each request. The job is queued in the first two
// responses and running in the next two. The fifth response reports a rate limit. From the sixth response on, the
// job is done.
func demoJob() http.Handler {
	answers := []string{
		`{"id":42,"state":"queued"}`, `{"id":42,"state":"queued"}`,
		`{"id":42,"progress":40,"state":"running"}`, `{"id":42,"progress":80,"state":"running"}`,
		`{"error":"rate limit exceeded"}`,
		`{"id":42,"result":"it was worth the wait","state":"done"}`,
	}
	var looks atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		look := int(looks.Add(1))
		w.Header().Set("Content-Type", "application/json")
		if look == 5 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		}
		fmt.Fprintln(w, answers[min(look, len(answers))-1])
	})
}

// finish returns the exit code for err, and prints err unless it is nil or a [run.ExitCode]. The message for an
// ExitCode has already been printed.
func (p Process) finish(err error) run.ExitCode {
	if _, said := errors.AsType[run.ExitCode](err); err != nil && !said {
		fmt.Fprintf(p.Streams.Err, "poll: %s\n", term.Line(err.Error()))
	}
	return run.CodeOf(err)
}

// Main runs the command line and ends the process. It never returns.
func Main(p Process) {
	// Catch signals before anything else: by default, a Go program exits with code 2 and prints all goroutines on
	// some signals. Keep catching them until the exit: otherwise poll as process 1 could still exit with code 2.
	ctx, hurry, release := system.CatchSignals(context.Background())
	// A fatal error in the Go runtime would exit with code 2, which means "nothing was attempted" in poll. With
	// this setting, SIGABRT ends the process instead.
	debug.SetTraceback("crash")
	log.SetOutput(io.Discard) // discards the log messages of net/http about unsolicited responses
	p.Hurry, p.Release = hurry, release
	p.Guard = run.NewGuard(ctx, hurry, p.Streams.Err)
	p.Streams.Wrote = p.Guard.Touch
	context.AfterFunc(ctx, p.Guard.AtSignal)
	run.Exit(ctx, Run(ctx, p))
}
