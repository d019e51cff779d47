// Package cli is the command line of poll: it turns flags, the environment and
// operands into a run, and the run's outcome into an exit code.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pollcli/poll/internal/report"
	"github.com/pollcli/poll/internal/term"
)

// A World is what the process was given by its surroundings.
type World struct {
	Args    []string // without the program's name
	Lookup  func(name string) (value string, ok bool)
	Streams *term.Streams
	// Hurry is closed when the person waiting has asked a second time for the end.
	Hurry <-chan struct{}

	guard *guard // nil for none
	began time.Time
}

// limit tells the guard what time the run has.
func (w World) limit(l limit) {
	if w.guard != nil {
		w.guard.limits <- l
	}
}

func (w World) getenv(name string) string {
	value, _ := w.Lookup(name)
	return value
}

// A command is the main command, or a subcommand.
type command struct {
	name     string
	operands string // as help shows them
	summary  string // one line, for the list
	about    string // a paragraph, for its own help
	examples []example
	flags    flags
	after    string // what its help ends with
	// arguments says what the next operand may be, behind those before. Nil:
	// nothing that can be listed.
	arguments func(before []string) completion
	run       func(*invocation) error
}

// An example is a command line with a word on what it does.
type example struct{ line, about string }

// An invocation is one use of a command.
type invocation struct {
	World
	ctx    context.Context
	values *values
	split  *split
	self   *command
	// meant is what a program that does not exist may have been meant to be.
	meant string
}

// Run does what the arguments say and returns what to exit with. ctx is
// cancelled, with a cause, when the person waiting wants the end.
func Run(ctx context.Context, w World) ExitCode {
	w.began = time.Now()
	main := mainCommand()
	s, err := splitMain(main.flags, subcommandNames(), w.Args)
	if err == nil && s.subcommand != "" {
		return w.finish(w.runSubcommand(ctx, s))
	}
	if err == nil {
		err = s.addEnvironment(main.flags, w.Lookup)
	}
	if err != nil { // --json may stand in what was not read any more
		return w.refuse(err, s.on("json") || w.mentionsJSON())
	}
	if err := s.resolveConflicts(); err != nil {
		return w.refuse(err, s.on("json"))
	}
	err = w.run(ctx, main, &s)
	if isUsage(err) {
		return w.refuse(err, s.on("json"))
	}
	return w.finish(err)
}

func (w World) runSubcommand(ctx context.Context, s split) error {
	sub := findSubcommand(s.subcommand)
	own, err := splitSub(sub.name, sub.flags, s.rest)
	if err != nil {
		return err
	}
	return w.run(ctx, sub, &own)
}

// run hands the flags to the library and then the invocation to the command.
// The operands go past the library, which would take one for a subcommand. It
// gets to know only the flags that are set: each look at a flag costs it a walk
// over all flags that there are, which was a fifth of the time to start.
func (w World) run(ctx context.Context, c *command, s *split) error {
	if s.on("help") {
		return w.writeOut(ctx, helpText(c))
	}
	if err := s.refuseEmpty(); err != nil {
		return err
	}
	app := &cli.App{
		Name: "poll", Flags: s.used().urfave(),
		Writer: io.Discard, ErrWriter: io.Discard,
		HideHelp: true, HideVersion: true,
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              func(_ *cli.Context, err error, _ bool) error { return usagef("%w", err) },
		Action: func(read *cli.Context) error {
			in := invocation{World: w, ctx: ctx, self: c, split: s, values: &values{Context: read, split: s}}
			return c.run(&in)
		},
	}
	return app.RunContext(ctx, append([]string{"poll"}, s.args()...))
}

// writeOut writes all there is for stdout, unless a signal comes before all of
// it is taken.
func (w World) writeOut(ctx context.Context, text string) error {
	return w.deliver(ctx, func() error { return report.WriteOut(w.Streams, []byte(text)) })
}

// deliver writes the result, see the function of that name, with the guard's
// knowledge.
func (w World) deliver(ctx context.Context, write func() error) error {
	if w.guard != nil {
		w.guard.writing.Store(true)
		defer w.guard.writing.Store(false)
	}
	return deliver(ctx, write)
}

// writeOut writes all that a subcommand has for stdout.
func (in *invocation) writeOut(text string) error { return in.World.writeOut(in.ctx, text) }

// refuse says what is wrong with the command line.
func (w World) refuse(err error, json bool) ExitCode {
	fmt.Fprint(w.Streams.Err, usageText(err))
	if json {
		if err := report.WriteFailure(w.Streams, int(ExitUsage), err.Error()); err != nil {
			return w.finish(err)
		}
	}
	return ExitUsage
}

// finish says what has gone wrong, unless that was said, and returns the exit code.
func (w World) finish(err error) ExitCode {
	if err == nil {
		return ExitSuccess
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if isUsage(err) {
		return w.refuse(err, false)
	}
	fmt.Fprintf(w.Streams.Err, "poll: %s\n", term.Line(err.Error()))
	return exitCode(err)
}

// mentionsJSON reports whether the arguments or the environment ask for --json,
// of a command line that cannot be read to its end.
func (w World) mentionsJSON() bool {
	on, err := switchValue(w.getenv("POLL_JSON"))
	end := slices.Index(w.Args, "--")
	if end < 0 {
		end = len(w.Args)
	}
	return err == nil && on == "true" || slices.Contains(w.Args[:end], "--json")
}

func isUsage(err error) bool {
	_, ok := errors.AsType[*usageError](err)
	return ok
}
