package cli

import (
	"cmp"
	"context"
	"embed"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"unicode"

	"github.com/pollcli/poll/docs"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/cli/run"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
)

// helpTexts holds the help texts. In a help text, the line "{flags}" stands for the generated list of flags.
//
//go:embed help
var helpTexts embed.FS

func helpText(name string) string {
	text, _ := helpTexts.ReadFile("help/" + name + ".txt")
	return string(text)
}

// A subcommand is a name with the function that builds the command. A command is built only if it is needed.
type subcommand struct {
	name string
	make func() *argv.Command
}

type subcommands []subcommand

// command builds the subcommand called name, or returns nil if no subcommand has that name. It adds the standard
// --help flag to a command that does not define its own.
func (all subcommands) command(name string) *argv.Command {
	for _, s := range all {
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

func (all subcommands) names() (names []string) {
	for _, s := range all {
		names = append(names, s.name)
	}
	return names
}

// commands builds all subcommands, for help and completion.
func (all subcommands) commands() (list []*argv.Command) {
	for _, s := range all {
		list = append(list, all.command(s.name))
	}
	return list
}

// shortHelp returns the help for the most important flags, which are marked as Brief.
func shortHelp() string {
	text := helpText("usage") + "\n"
	for _, f := range read.WaitFlags() {
		if f.Brief {
			text += f.Row()
		}
	}
	return text + helpText("more") + helpText("end")
}

// fullHelp returns the help for all flags, grouped under headings, followed by the list of subcommands.
func (all subcommands) fullHelp() string {
	text := helpText("usage") + helpText("expressions") + read.WaitFlags().Help("") + "\nOther commands:\n"
	for _, c := range all.commands() {
		text += c.Row()
	}
	return text + helpText("topics") + helpText("end")
}

// helpNames returns the valid arguments of the help command, except for flags: "all", the subcommands and the help
// topics.
func (all subcommands) helpNames() []string {
	names := append([]string{"all"}, all.names()...)
	topics, _ := docs.Pages.ReadDir(".")
	for _, page := range topics {
		names = append(names, strings.TrimSuffix(page.Name(), ".md"))
	}
	return names
}

// helpCommand returns the "help" subcommand, which explains a subcommand, a topic or a flag.
func helpCommand(p run.Host, all subcommands) *argv.Command {
	return &argv.Command{
		NamesFlag:   true,
		Operands:    "[all|FLAG|TOPIC|COMMAND]",
		Summary:     "help on poll, all flags, a flag, a topic or a command",
		Offers:      all.helpNames,
		OwnsSignals: true,
		Run: func(ctx context.Context, l *argv.Line) error {
			text, isPage, err := all.helpOn(strings.Join(l.Operands, ""))
			switch {
			case err != nil:
				return err
			case isPage:
				return showPage(ctx, p, text)
			}
			return l.Write(ctx, text)
		},
	}
}

// helpOn returns the help for name, or the short help if name is "". isPage is true if text is a Markdown page of
// the documentation. For an unknown name, helpOn returns a usage error that suggests the most similar name.
func (all subcommands) helpOn(name string) (text string, isPage bool, err error) {
	flags := read.WithManual(read.WaitFlags())
	f, c := flags.Lookup(strings.TrimLeft(name, "-")), all.command(name)
	page, missing := docs.Pages.ReadFile(name + ".md")
	switch {
	case name == "":
		return shortHelp(), false, nil
	case name == "all":
		return all.fullHelp(), false, nil
	case c != nil:
		return c.Help(helpText(c.Name)), false, nil
	case missing == nil:
		return string(page), true, nil
	case f != nil && !f.Hidden:
		return f.Form() + strings.ReplaceAll("\n"+f.Sentences(), "\n", "\n  ") + "\n", false, nil
	}
	meant := words.Nearest(name, slices.Concat(all.helpNames(), flags.Shown()))
	return "", false, argv.Usagef("there is no subcommand, topic or flag %q", name).Advise("topic "+name, "nearest topic "+meant)
}

// manualPage is the manual page, written in man(7) macros. A test generates the file from the flags.
//
//go:embed man/poll.1
var manualPage string

func manCommand(p run.Host, all subcommands) *argv.Command {
	return &argv.Command{
		Summary:     "the manual page",
		OwnsSignals: true,
		Run: func(ctx context.Context, l *argv.Line) error {
			switch {
			case !p.Streams.OutIsTerminal:
				return l.Write(ctx, manualPage)
			case !p.Streams.Dumb && lend(p, exec.Command("man", "-l", "-"), manualPage): // a man without the option -l prints an error and fails
				return nil
			}
			return l.Write(ctx, all.fullHelp())
		},
	}
}

// completionScripts holds the shells' completion scripts. Each script runs poll to get the candidates.
//
//go:embed completion
var completionScripts embed.FS

func shells() []string { return []string{"bash", "zsh", "fish"} }

func completionCommand(p run.Host, all subcommands) *argv.Command {
	return &argv.Command{
		Operands: strings.Join(shells(), "|"),
		Summary:  "a shell script for tab completion",
		Offers:   shells,
		Raw: func(ctx context.Context, words []string) (done bool, err error) {
			if len(words) < 3 || words[0] != "--complete" {
				return false, nil
			}
			return true, p.Write(ctx, argv.Complete(read.New().Line.Command, all.commands(), words[2:]).Text())
		},
		Run: func(ctx context.Context, l *argv.Line) error {
			shell := strings.Join(l.Operands, "")
			script, err := completionScripts.ReadFile("completion/poll." + shell)
			if err != nil {
				return argv.Usagef("completion takes the name of a shell: %s", strings.Join(shells(), ", ")).
					Meant(shell, shells()).Hint(`eval "$(poll completion bash)"`)
			}
			return l.Write(ctx, string(script))
		},
	}
}

// release is the version of a released program, such as "v1.2.3". The linker sets it as configured in
// .goreleaser.yaml. In other builds, it is "".
var release string

// version returns "poll", poll's version and the Go version, separated by blanks. If release is "", poll's version
// is the module version, which contains the build's commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "poll " + cmp.Or(release, "(unknown version)")
	}
	return "poll " + cmp.Or(release, info.Main.Version) + " " + info.GoVersion
}

func versionCommand() *argv.Command {
	return &argv.Command{
		Summary: "the version, as --version shows it",
		Run:     func(ctx context.Context, l *argv.Line) error { return l.Write(ctx, version()+"\n") },
	}
}

// showPage prints a Markdown page. If stdout is a terminal, it wraps the page to the terminal's width, and shows
// it with the pager ($PAGER, by default less) if possible. If stdout is not a terminal, it prints the page
// unchanged.
func showPage(ctx context.Context, p run.Host, text string) error {
	if !p.Streams.OutIsTerminal {
		return p.Write(ctx, text)
	}
	if width := p.Streams.OutWidth(); width > 0 {
		text = folded(text, min(width, pageWidth)-1)
	}
	pager := "less"
	if given, isGiven := p.Lookup("PAGER"); isGiven {
		pager = given
	}
	if !p.Streams.Dumb && pager != "" {
		c := exec.Command("sh", "-c", pager)
		// With FRX, less prints a page that fits the screen without paging. The user's own LESS comes later and wins.
		c.Env = append([]string{"LESS=FRX"}, os.Environ()...)
		c.Stderr = io.Discard
		if lend(p, c, text) {
			return nil
		}
	}
	return p.Write(ctx, text)
}

// lend runs c, with text as its stdin and with poll's stdout. It reports whether c exited with code 0. While c runs,
// Ctrl-C does not end poll.
func lend(p run.Host, c *exec.Cmd, text string) bool {
	dropped := make(chan os.Signal, 1) // discards Ctrl-C
	if p.Release != nil {
		p.Release()
	}
	signal.Notify(dropped, os.Interrupt)
	defer signal.Stop(dropped)
	c.Stdin, c.Stdout = strings.NewReader(text), os.Stdout
	return c.Run() == nil
}

// pageWidth is the maximum width of a page in columns. Longer lines are hard to read.
const pageWidth = 110

// folded returns a Markdown page with its paragraphs and list items wrapped to the given number of columns. It does
// not change the line breaks in code and tables. It indents the second and later lines of a list item to align with
// the first.
func folded(page string, columns int) string {
	var text []string
	paragraph, isCode := "", false
	end := func() {
		marker := len(paragraph) - len(strings.TrimLeft(paragraph, "- 0123456789."))
		if paragraph != "" {
			text = append(text, term.Fold(paragraph, columns, strings.Repeat(" ", marker))...)
		}
		paragraph = ""
	}
	for line := range strings.Lines(page) {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		isFence := strings.HasPrefix(strings.TrimSpace(line), "```")
		isKept := isCode || line == "" || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ")
		if isFence || isKept || strings.HasPrefix(line, "#") || strings.HasPrefix(strings.TrimSpace(line), "- ") {
			end()
		}
		switch {
		case isFence:
			isCode = !isCode
		case isKept:
			text = append(text, line)
		case paragraph == "":
			paragraph = line
		default:
			paragraph += " " + strings.TrimSpace(line)
		}
	}
	end()
	return strings.Join(text, "\n") + "\n"
}
