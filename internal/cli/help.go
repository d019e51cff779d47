package cli

import (
	"cmp"
	"context"
	"embed"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/pollcli/poll/docs"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/words"
)

// helpTexts holds the texts of the help around the generated tables. {flags} stands for a table.
//
//go:embed help
var helpTexts embed.FS

func helpText(name string) string {
	text, _ := helpTexts.ReadFile("help/" + name + ".txt")
	return string(text)
}

// shortHelp returns the help with the flags that are marked Brief.
func shortHelp() string {
	text := helpText("usage") + "\n"
	for _, f := range read.WaitFlags() {
		if f.Brief {
			text += f.Row()
		}
	}
	return text + helpText("more") + helpText("end")
}

// fullHelp returns the help with all flags, grouped by subject, and with the other commands.
func (p app) fullHelp() string {
	text := helpText("usage") + helpText("expressions") + read.WaitFlags().Help("") + "\nOther commands:\n"
	for _, c := range p.commands() {
		text += c.Row()
	}
	return text + helpText("topics") + helpText("end")
}

// helpNames returns the arguments of the help command, except flags: "all", the subcommands and the topics.
func (p app) helpNames() []string {
	names := append([]string{"all"}, p.commandNames()...)
	topics, _ := docs.Pages.ReadDir(".")
	for _, page := range topics {
		names = append(names, strings.TrimSuffix(page.Name(), ".md"))
	}
	return names
}

// helpCommand returns the subcommand "help". Its operand names a subcommand, a topic or a flag.
func (p app) helpCommand() *argv.Command {
	return &argv.Command{
		NamesFlag:   true,
		Operands:    "[all|FLAG|TOPIC|COMMAND]",
		Summary:     "help on poll, all flags, a flag, a topic or a command",
		Offers:      func() []argv.Candidate { return argv.Candidates(p.helpNames()...) },
		OwnsSignals: true,
		Run: func(ctx context.Context, l *argv.Line) error {
			text, isPage, err := p.helpOn(strings.Join(l.Operands, ""))
			switch {
			case err != nil:
				return err
			case isPage:
				return p.showPage(ctx, text)
			}
			return l.Write(ctx, text)
		},
	}
}

// helpOn returns the help for name, or the short help if name is "". isPage reports whether text is a Markdown
// page of the documentation. An unknown name is a usage error that suggests the nearest name.
func (p app) helpOn(name string) (text string, isPage bool, err error) {
	flags := read.WithManual(read.WaitFlags())
	f, c := flags.Lookup(strings.TrimLeft(name, "-")), p.command(name)
	page, missing := docs.Pages.ReadFile(name + ".md")
	switch {
	case name == "":
		return shortHelp(), false, nil
	case name == "all":
		return p.fullHelp(), false, nil
	case c != nil:
		return c.Help(helpText(c.Name)), false, nil
	case missing == nil:
		return string(page), true, nil
	case f != nil && !f.Hidden:
		return f.Form() + strings.ReplaceAll("\n"+f.Sentences(), "\n", "\n  ") + "\n", false, nil
	}
	meant := words.Nearest(name, slices.Concat(p.helpNames(), flags.Shown()))
	return "", false, argv.Usagef("there is no subcommand, topic or flag %q", name).Advise("topic "+name, "nearest topic "+meant)
}

// manualPage is the manual page in man(7) macros. A test generates the file.
//
//go:embed man/poll.1
var manualPage string

func (p app) manCommand() *argv.Command {
	return &argv.Command{
		Summary:     "the manual page",
		OwnsSignals: true,
		Run: func(ctx context.Context, l *argv.Line) error {
			switch {
			case !p.Streams.OutIsTerminal:
				return l.Write(ctx, manualPage)
			case !p.Streams.Dumb && p.showManual():
				return nil
			}
			return l.Write(ctx, p.fullHelp())
		},
	}
}

// showManual shows the manual page with man(1) and reports whether man succeeded. Ctrl-C then goes to man and
// its pager, and does not end poll.
func (p app) showManual() bool {
	man, err := exec.LookPath("man")
	if err != nil {
		return false
	}
	c := exec.Command(man, "-l", "-") // a man without -l fails with a message
	return p.lend(c, manualPage)
}

// completionScripts holds the completion scripts. Each script calls poll for the candidates.
//
//go:embed completion
var completionScripts embed.FS

func shells() []string { return []string{"bash", "zsh", "fish"} }

func (p app) completionCommand() *argv.Command {
	return &argv.Command{
		Operands: strings.Join(shells(), "|"),
		Summary:  "a shell script for tab completion",
		Offers:   func() []argv.Candidate { return argv.Candidates(shells()...) },
		Raw: func(ctx context.Context, words []string) (done bool, err error) {
			if len(words) < 3 || words[0] != "--complete" {
				return false, nil
			}
			return true, p.write(ctx, argv.Complete(read.New().Line.Command, p.commands(), words[2:]).Text())
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

// release is the version of a released program, such as "v1.2.3". Only the linker sets release, by
// .goreleaser.yaml.
var release string

// version returns "poll", the version and the Go version. The version is release or else the module's version,
// which contains the commit of the build.
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
