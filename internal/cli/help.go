package cli

import (
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"

	"github.com/pollcli/poll/docs"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/words"
)

const usageLines = `poll waits until a URL, a port or a command is done, and ends with an exit code
that a script can trust.

  poll --until '.state=="done"' https://api.example.com/jobs/42
  poll --until '.status.phase=="Running"' -- kubectl get pod web-0 -o json
  poll --timeout 60s tcp://db.example.com:5432 -- npm start

Usage:
  poll [flags] URL [URL...]           http, https or tcp; flags may follow
  poll [flags] [--] COMMAND [ARG...]  what follows COMMAND is its own
  poll [flags] --targets FILE|- [URL | [--] COMMAND...]  {} is an entry
  poll [flags] --each EXPR URL | [--] COMMAND...  for each element of a list
  poll [flags] URL -- PROGRAM...      on SUCCESS poll becomes PROGRAM
`

const usageEnd = `
Times need a unit (500ms, 30s, 1h30m). Every flag has a variable: POLL_MAX_WAIT.
Exit codes: 0 SUCCESS, 1 ERROR, 2 usage, 3 attempts exhausted, 4 throttled past
the deadline, 124 timeout, 125 poll failed, 126/127 cannot run, 128+n signal n.
`

const expressions = `
Expressions (poll help conditions):
  .state  .items[0].name  .meta["a/b"]  .items.#  .a // "default"
  == != < <= > >=  in ["a", "b"]  contains  startswith  endswith  =~ 'regexp'
  and  or  not  (...)  any(.items[]; .ok)  all(...)  count(...) > 2
  .a | length   also type tonumber tostring fromjson ascii_upcase has test ...
  $status $header.Age $body $error; $exit $stdout $stderr; $elapsed $ENV.SHA
  'jq: [.items[].size] | add > 100'   any jq program
`

// shortHelp has the flags that most people need.
func (w World) shortHelp(s *Spec) string {
	text := usageLines + "\n"
	for i := range s.Command.Flags {
		if f := &s.Command.Flags[i]; f.Brief {
			text += f.Row()
		}
	}
	return text + "\nMore: poll help all (all flags and commands), poll help FLAG, poll man;\npoll help " +
		strings.Join(topicNames(), ", ") + ".\n" + usageEnd
}

// fullHelp has all flags, by what they are about, and the other commands.
func (w World) fullHelp() string {
	text := usageLines + expressions + waitFlags().Help("")
	text += "\nOther commands:\n"
	for _, c := range w.commands() {
		text += c.Row()
	}
	text += "\nTopics, as poll help TOPIC:\n"
	for _, t := range topics {
		text += argv.Row(t[0], t[1])
	}
	return text + usageEnd
}

// topics are pages of the documentation.
var topics = [][2]string{
	{"conditions", "the language of --until and its kin, by examples"},
	{"waiting", "how waits grow, and how to choose them"},
	{"many", "waiting for several targets"},
	{"resume", "one wait over several runs"},
	{"fleet", "many processes that share one limit"},
	{"scripts", "exit codes, output, variables"},
}

func topicNames() []string {
	var names []string
	for _, t := range topics {
		names = append(names, t[0])
	}
	return names
}

// helpCommand returns the subcommand that shows the help of the others, of a topic or of
// a flag.
func (w World) helpCommand() *argv.Command {
	return &argv.Command{
		Name:     "help",
		Operands: "[all|FLAG|TOPIC|COMMAND]",
		Summary:  "help on poll, all flags, a flag, a topic or a command",
		About: "poll help shows the help of poll, of all its flags or, with a NAME, that of a flag,\n" +
			"a topic or a subcommand.",
		Examples:    []argv.Example{{Line: "poll help all"}, {Line: "poll help until"}, {Line: "poll help conditions"}},
		Flags:       argv.Flags{argv.HelpFlag()},
		MaxOperands: 1,
		Surplus:     "takes one name",
		Arguments: argv.OfferFirst(func() []argv.Candidate {
			return argv.Candidates(slices.Concat([]string{"all"}, w.commandNames(), topicNames())...)
		}),
		Run: func(ctx context.Context, l *argv.Line) error {
			text, err := w.helpOn(append(l.Operands, "")[0])
			if err != nil {
				return err
			}
			return l.Write(ctx, text)
		},
	}
}

func (w World) helpOn(name string) (string, error) {
	flags := withManual(waitFlags())
	switch name {
	case "":
		return w.shortHelp(newSpec()), nil
	case "all":
		return w.fullHelp(), nil
	}
	if c := w.find(name); c != nil {
		return c.Help(), nil
	}
	if page, err := docs.Pages.ReadFile(name + ".md"); err == nil {
		return string(page), nil
	}
	if f := flags.Lookup(strings.TrimLeft(name, "-")); f != nil && !f.Hidden {
		return fmt.Sprintf("%s\n  %s\n  Variable: %s.\n", f.Form(), strings.ReplaceAll(f.Sentences(), "\n", "\n  "), f.Variable()), nil
	}
	names := append(append(w.commandNames(), topicNames()...), flags.Shown()...)
	err := argv.Usagef("there is no subcommand, topic or flag %q", name)
	if hint := argv.Advice("topic " + name); hint != "" {
		return "", err.Hint("%s", hint)
	}
	if meant := words.Nearest(name, names); meant != "" {
		return "", err.Hint("did you mean poll help %s?", meant)
	}
	return "", err.Hint("poll help all lists them")
}

// manualPage is the manual page in the macros of man(7), which a test generates.
//
//go:embed man/poll.1
var manualPage string

func (w World) manCommand() *argv.Command {
	return &argv.Command{
		Name:    "man",
		Summary: "the manual page",
		About: "poll man shows the manual page, on a terminal by man(1). Elsewhere it writes the\n" +
			"source for that. The page says how a wait works, and more about each flag than\nthe help.",
		Examples: []argv.Example{
			{Line: "poll man"},
			{Line: "poll man >~/.local/share/man/man1/poll.1"},
		},
		Flags: argv.Flags{argv.HelpFlag()},
		Run: func(ctx context.Context, l *argv.Line) error {
			switch {
			case !w.Streams.OutIsTerminal:
				return l.Write(ctx, manualPage)
			case !w.Streams.Dumb && w.showManual():
				return nil
			}
			return l.Write(ctx, w.fullHelp())
		},
	}
}

// showManual shows the manual page on the terminal, by man(1) and its pager, and reports
// whether it could. What is typed then belongs to them: Ctrl-C does not end poll.
func (w World) showManual() bool {
	man, err := exec.LookPath("man")
	if err != nil {
		return false
	}
	dropped := make(chan os.Signal, 1) // never read
	if w.release != nil {
		w.release()
	}
	signal.Notify(dropped, os.Interrupt)
	defer signal.Stop(dropped)
	c := exec.Command(man, "-l", "-")
	c.Stdin = strings.NewReader(manualPage)
	c.Stdout, c.Stderr = os.Stdout, io.Discard // a man that does not know -l says so
	return c.Run() == nil
}

// completionScripts make the shells ask poll for candidates.
//
//go:embed completion
var completionScripts embed.FS

func shells() []string { return []string{"bash", "zsh", "fish"} }

func (w World) completionCommand() *argv.Command {
	return &argv.Command{
		Name:     "completion",
		Operands: strings.Join(shells(), "|"),
		Summary:  "a shell script for tab completion",
		About: "poll completion writes a script that makes the Tab key complete flags, presets,\n" +
			"subcommands, files, and the command to run.",
		Examples: []argv.Example{
			{Line: `eval "$(poll completion bash)"`, About: "in ~/.bashrc"},
			{Line: "source <(poll completion zsh)", About: "in ~/.zshrc, after compinit"},
			{Line: "poll completion fish >~/.config/fish/completions/poll.fish"},
		},
		Flags: argv.Flags{
			{Name: "complete", Hidden: true, Usage: "say what the last operand may become: the scripts ask this"},
			argv.HelpFlag(),
		},
		Arguments:   argv.OfferFirst(func() []argv.Candidate { return argv.Candidates(shells()...) }),
		MaxOperands: argv.Any,
		Run: func(ctx context.Context, l *argv.Line) error {
			text, err := w.completionText(l)
			if err != nil {
				return err
			}
			return l.Write(ctx, text)
		},
	}
}

// completionText returns the script for a shell, or the answer to its question.
func (w World) completionText(l *argv.Line) (string, error) {
	switch {
	case l.On("complete"):
		if len(l.Operands) == 0 {
			l.Operands = []string{""}
		}
		return argv.Complete(newSpec().Command, w.commands(), l.Operands).Text(), nil
	case len(l.Operands) != 1:
		return "", argv.Usagef("completion takes the name of a shell: %s", strings.Join(shells(), ", ")).
			Hint(`eval "$(poll completion bash)"`)
	}
	shell := l.Operands[0]
	script, err := completionScripts.ReadFile("completion/poll." + shell)
	if err != nil {
		return "", argv.Usagef("there is no completion for %q, only for %s", shell, strings.Join(shells(), ", ")).
			Meant(shell, shells())
	}
	return string(script), nil
}
