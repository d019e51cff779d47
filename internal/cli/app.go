// Package cli is the command line of poll: it turns flags, the environment and
// operands into a run, and the run's outcome into an exit code.
package cli

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/learning"
	"github.com/pollcli/poll/internal/cli/plan"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/internal/ui/term"
)

// A World holds what the process gets from its environment.
type World struct {
	Args    []string // without the program's name
	Lookup  func(name string) (value string, ok bool)
	Environ []string // "NAME=value", of which the names that begin with POLL_ count
	Streams *term.Streams
	// Hurry is closed when the user has asked to end a second time.
	Hurry <-chan struct{}

	guard   *guard // nil for none
	release func() // stops catching signals; nil if none are caught
	began   time.Time
}

func (w World) getenv(name string) string {
	value, _ := w.Lookup(name)
	return value
}

// program is poll with all its commands.
func (w World) program() *argv.Program {
	p := &argv.Program{
		Name:      "poll",
		Variables: "POLL_",
		Main:      waitCommand(w),
		Synonyms:  flagSynonyms(),
		Foreign:   foreignFlags(),
		IsOperand: hasScheme,
		Refuse:    refuseDocument,
		Surplus:   "only URLs and flags may follow a URL, or -- and a program",
		Describe:  describeOperand,
		Lookup:    w.Lookup,
		Write: func(ctx context.Context, text string) error {
			return w.deliver(ctx, func() error { return ui.WriteOut(w.Streams, []byte(text)) })
		},
	}
	p.Subcommands = []argv.Constructor{
		{Name: "demo", New: func() *argv.Command { return demoCommand(w) }},
		{Name: "eval", New: func() *argv.Command { return interruptible(evalCommand(w)) }},
		{Name: "presets", New: presetsCommand},
		{Name: "help", New: func() *argv.Command { return p.HelpCommand("conditions") }},
		{Name: "man", New: func() *argv.Command { return manCommand(w, p) }},
		{Name: "completion", New: func() *argv.Command { return completionCommand(p) }},
		{Name: "version", New: versionCommand},
		{Name: "history", New: func() *argv.Command { return interruptible(learning.HistoryCommand(w.Streams)) }},
		{Name: "schedule", New: func() *argv.Command { return interruptible(plan.ScheduleCommand(w.Streams)) }},
		{Name: "tune", New: plan.TuneCommand},
		{Name: "simulate", New: func() *argv.Command { return plan.SimulateCommand(w.Streams) }},
	}
	p.Topics = topics()
	return p
}

// interruptible makes a signal end a command wherever it is.
func interruptible(c *argv.Command) *argv.Command {
	run := c.Run
	c.Run = func(ctx context.Context, l *argv.Line) error {
		return await(ctx, func() error { return run(ctx, l) })
	}
	return c
}

// Run does what the arguments say and returns the exit code. ctx is cancelled, with
// a cause, when the user wants to end.
func Run(ctx context.Context, w World) ExitCode {
	w.began = time.Now()
	line, err := w.program().Run(ctx, w.Args)
	if !argv.IsUsage(err) {
		return w.finish(err)
	}
	w.refuse("usage", err)
	if line.Subcommand() == "" && line.On("json") {
		if err := ui.WriteFailure(w.Streams, int(ExitUsage), err.Error()); err != nil {
			return w.finish(err)
		}
	}
	return ExitUsage
}

// refuse says why nothing is attempted.
func (w World) refuse(what string, err error) {
	text := usageText(err)
	io.WriteString(w.Streams.Err, text+ui.Annotation(w.getenv, what, strings.TrimSpace(text)))
}

// A file may be endless, so reading is limited: for a body, an answer or a
// command's input; and for headers or logins, one per line.
const (
	maxInput = 256 << 20
	maxLines = 1 << 20
)

// readFile reads a file, or stdin for "-". It refuses more than most bytes, which
// is a whole number of MiB.
func (w World) readFile(name string, most int64) ([]byte, error) {
	r := w.Streams.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		if info, err := file.Stat(); err == nil && info.IsDir() { // Windows calls that an incorrect function
			return nil, &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
		}
		r = file
	}
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if int64(len(text)) > most {
		if name == "-" {
			name = "stdin"
		}
		return nil, argv.Usagef("%s is larger than %d MiB, the most that is read", name, most>>20)
	}
	return text, err
}

// readValue returns the value of a flag, or the content of FILE for @FILE.
func (w World) readValue(l *argv.Line, flag, value string, most int64) (text []byte, isFile bool, err error) {
	name, isFile := strings.CutPrefix(value, "@")
	if !isFile {
		return []byte(value), false, nil
	}
	if err := refuseStdinTwice(l); name == "-" && err != nil {
		return nil, true, err
	}
	if text, err = w.readFile(name, most); err != nil {
		return nil, true, argv.Usagef("%s: %w", l.Origin(flag), err)
	}
	if name == "-" {
		w.Streams.In = bytes.NewReader(text) // for the next target
	}
	return text, true, nil
}

// refuseStdinTwice refuses two settings that read stdin: the second would find nothing.
func refuseStdinTwice(l *argv.Line) error {
	var readers []string
	for _, g := range l.Given {
		if g.Flag.FromFile && g.Value == "@-" || g.Flag.Name == "targets" && g.Value == "-" {
			readers = append(readers, g.Origin+" "+g.Value)
		}
	}
	if len(readers) > 1 {
		return argv.Usagef("%s and %s would both read stdin", readers[0], readers[1]).Hint("put one of them into a file")
	}
	return nil
}
