// Package cli is the command line of poll: it turns flags, the environment and
// operands into a run, and the run's outcome into an exit code.
package cli

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/plan"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/urfave/cli/v2"
)

// A Process holds what the process gets from its environment.
type Process struct {
	Args    []string // without the program's name
	Lookup  func(name string) (value string, ok bool)
	Streams *term.Streams
	// Hurry is closed when the user has asked to end a second time.
	Hurry <-chan struct{}
	// Dial connects to the servers of URLs, in a simulated network. Nil means the network's own way.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	guard   *guard // nil for none
	release func() // stops catching signals; nil if none are caught
	began   time.Time
	presets *presetCache
}

func (p Process) getenv(name string) string {
	value, _ := p.Lookup(name)
	return value
}

// A subcommand is made when it is named.
type subcommand struct {
	name string
	make func() *argv.Command
}

// subcommands returns all, in the order in which help lists them.
func (p Process) subcommands() []subcommand {
	return []subcommand{
		{"demo", p.demoCommand},
		{"eval", p.evalCommand},
		{"presets", p.presetsCommand},
		{"help", p.helpCommand},
		{"man", p.manCommand},
		{"completion", p.completionCommand},
		{"version", versionCommand},
		{"history", func() *argv.Command { return plan.HistoryCommand(p.Streams) }},
		{"schedule", func() *argv.Command { return plan.ScheduleCommand(p.Streams) }},
		{"tune", plan.TuneCommand},
		{"simulate", func() *argv.Command { return plan.SimulateCommand(p.Streams) }},
	}
}

// command makes the subcommand of that name, nil if there is none.
func (p Process) command(name string) *argv.Command {
	for _, s := range p.subcommands() {
		if s.name != name {
			continue
		}
		c := s.make()
		if c.Name = name; c.Flags.Named("help") == nil {
			c.Flags = append(c.Flags, argv.HelpFlag())
		}
		return c
	}
	return nil
}

func (p Process) commandNames() (names []string) {
	for _, s := range p.subcommands() {
		names = append(names, s.name)
	}
	return names
}

// commands makes all subcommands, for help and completion.
func (p Process) commands() (all []*argv.Command) {
	for _, name := range p.commandNames() {
		all = append(all, p.command(name))
	}
	return all
}

// Run does what the arguments say and returns the exit code. ctx is cancelled, with
// a cause, when the user wants to end.
func Run(ctx context.Context, p Process) ExitCode {
	p.began, p.presets = time.Now(), newPresetCache()
	s := newSpec()
	sub, err := p.run(ctx, s, func(ctx context.Context, checked *Spec) error {
		s = checked
		return p.runWait(ctx, s)
	})
	if !argv.IsUsage(err) {
		return p.finish(err)
	}
	p.refuse("usage", err)
	if sub == nil && s.IsOn("json") {
		if err := ui.WriteFailure(p.Streams, int(ExitUsage), false, err.Error()); err != nil {
			return p.finish(err)
		}
	}
	return ExitUsage
}

// run reads the arguments and runs the subcommand that they name, which it returns, or wait
// with all that they say. [argv.Line.Parse] knows the grammar, and urfave gets only what that has
// read, as --name=value. It looks up the command and the flags, and calls typed.Set with each value,
// and then the action. It sees no operand, no variable and no error of them, and prints nothing.
func (p Process) run(ctx context.Context, s *Spec, wait func(context.Context, *Spec) error) (sub *argv.Command, err error) {
	l, path, args := s.Line, []string{"poll"}, p.Args
	if len(args) > 0 {
		sub = p.command(args[0])
	}
	if sub != nil {
		l, path, args = argv.NewLine(sub), append(path, sub.Name), args[1:]
		if sub.Raw != nil {
			if done, err := sub.Raw(ctx, args); done {
				return sub, err
			}
		}
		if sub.NamesFlag && len(args) == 1 && args[0] != "-h" && args[0] != "--help" {
			args = []string{"--", args[0]}
		}
	}
	l.LookupEnv, l.Write = p.Lookup, p.write
	l.Parse(args)
	action := func(*cli.Context) error {
		if sub != nil {
			return p.runCommand(ctx, l)
		}
		return p.readWait(ctx, s, wait)
	}
	app := &cli.App{Name: "poll", HideHelp: true, HideVersion: true, Writer: p.Streams.Out, ErrWriter: p.Streams.Err,
		Flags: flagsOf(l), Action: action, ExitErrHandler: func(*cli.Context, error) {}} // which would end the process
	if sub != nil {
		app.Commands = []*cli.Command{{Name: sub.Name, HideHelp: true, Flags: app.Flags, Action: action}}
		app.Flags = nil
	}
	for _, word := range l.Typed {
		path = append(path, "--"+word.Flag.Name+"="+word.Text)
	}
	return sub, app.Run(path)
}

// write writes a result to stdout.
func (p Process) write(ctx context.Context, text string) error {
	return p.deliver(ctx, func() error { return ui.WriteOut(p.Streams, []byte(text)) })
}

// A typed is the value of a flag of the table that was typed, for urfave. [argv.Line.Parse] has
// written all names and values out.
type typed struct {
	*argv.Flag
	line *argv.Line
}

// flagsOf returns those of the flags that were typed: urfave goes through all flags for each.
func flagsOf(l *argv.Line) (list []cli.Flag) {
	for i := range l.Flags {
		if f := &l.Flags[i]; l.HasTyped(f.Name) {
			list = append(list, &cli.GenericFlag{Name: f.Name, Value: typed{f, l}})
		}
	}
	return list
}

func (t typed) String() string { return "" }

// Set keeps an error for the end, so that --json behind it is seen; package flag would put the
// value, which may be a secret, into its words.
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

// runCommand runs a subcommand.
func (p Process) runCommand(ctx context.Context, l *argv.Line) error {
	c := l.Command
	l.Operands = append(l.Operands, l.Rest...)
	switch {
	case l.Err != nil:
		return l.Err
	case l.IsOn("help"):
		return l.Write(ctx, c.Help(helpText(c.Name)))
	case c.HasVariables:
		l.Environ(ofAll)
	}
	if l.Err != nil {
		return l.Err
	}
	if most := len(strings.Fields(c.Operands)); len(l.Operands) > most {
		return tooMany(l.Operands, most, strings.TrimSpace("poll "+c.Name+" [flags] "+c.Operands))
	}
	settings, err := l.Resolved(argv.Check{Kinds: ofAll, Least: argv.Variable})
	if err != nil {
		return err
	}
	if l.Settings = settings; c.Into != nil {
		settings.Apply(c.Into)
	}
	if c.OwnsSignals {
		return c.Run(ctx, l)
	}
	return await(ctx, func() error { return c.Run(ctx, l) })
}

// refuse says why nothing is attempted.
func (p Process) refuse(what string, err error) {
	text := usageText(err)
	io.WriteString(p.Streams.Err, text+ui.Annotation(p.getenv, what, strings.TrimSpace(text)))
}

// A file may be endless, so reading is limited: for a body, an answer or a
// command's input; and for headers or logins, one per line.
const (
	maxInput = 256 << 20
	maxLines = 1 << 20
)

// readFile reads a file, or stdin for "-". It refuses more than most bytes, which
// is a whole number of MiB.
func (p Process) readFile(name string, most int64) ([]byte, error) {
	r := p.Streams.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		r = file
	}
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if int64(len(text)) > most {
		if name == "-" {
			name = "stdin"
		}
		return nil, argv.Usagef("%s is larger than %d MiB, the most that poll reads", name, most>>20)
	}
	return text, err
}

// readValue returns a value, or the content of FILE for @FILE.
func (p Process) readValue(l *argv.Line, origin, value string, most int64) (text []byte, isFile bool, err error) {
	name, isFile := strings.CutPrefix(value, "@")
	if !isFile {
		return []byte(value), false, nil
	}
	if err := refuseStdinTwice(l); name == "-" && err != nil {
		return nil, true, err
	}
	if text, err = p.readFile(name, most); err != nil {
		return nil, true, argv.Usagef("%s: %w", origin, err)
	}
	if name == "-" {
		p.Streams.In = bytes.NewReader(text) // for the next target
	}
	return text, true, nil
}

// refuseStdinTwice refuses two settings that read stdin: the second would find nothing.
func refuseStdinTwice(l *argv.Line) error {
	var readers []string
	for _, s := range l.Settings {
		if s.Flag.FromFile && s.Text == "@-" || s.Flag.Name == "targets" && s.Text == "-" {
			readers = append(readers, s.Origin+" "+s.Text)
		}
	}
	if len(readers) > 1 {
		return argv.Usagef("%s and %s would both read stdin", readers[0], readers[1]).Hint("put one of them into a file")
	}
	return nil
}
