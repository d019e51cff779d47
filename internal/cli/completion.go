package cli

import (
	"context"
	"embed"
	"strings"

	"github.com/pollcli/poll/internal/argv"
)

// completionScripts teach the shells to ask poll what a word may become.
//
//go:embed completion
var completionScripts embed.FS

func shells() []string { return []string{"bash", "zsh", "fish"} }

func completionCommand(p *argv.Program) *argv.Command {
	return &argv.Command{
		Name:     "completion",
		Operands: strings.Join(shells(), "|"),
		Summary:  "a script for the shell, to complete what is typed",
		About: "poll completion writes a script that makes the Tab key complete flags, presets,\n" +
			"subcommands, files, and the command that is waited for.",
		Examples: []argv.Example{
			{Line: `eval "$(poll completion bash)"`, About: "in ~/.bashrc"},
			{Line: "source <(poll completion zsh)", About: "in ~/.zshrc, after compinit"},
			{Line: "poll completion fish >~/.config/fish/completions/poll.fish"},
		},
		Flags: argv.Flags{
			{Name: "complete", Hidden: true, Usage: "say what the last operand may become: the scripts ask this"},
			argv.HelpFlag(),
		},
		Arguments: argv.OfferFirst(func() []argv.Candidate { return argv.Candidates(shells()...) }),
		Most:      argv.Any,
		Run: func(ctx context.Context, l *argv.Line) error {
			text, err := completionText(p, l)
			if err != nil {
				return err
			}
			return l.Write(ctx, text)
		},
	}
}

// completionText is the script for a shell, or what that asks for.
func completionText(p *argv.Program, l *argv.Line) (string, error) {
	operands := l.Operands
	if l.On("complete") {
		if len(operands) == 0 {
			operands = []string{""}
		}
		return p.Complete(operands).Text(), nil
	}
	if len(operands) != 1 {
		return "", argv.Usagef("completion takes the name of a shell: %s", strings.Join(shells(), ", ")).
			Hint(`eval "$(poll completion bash)"`)
	}
	script, err := completionScripts.ReadFile("completion/poll." + operands[0])
	if err != nil {
		return "", argv.Usagef("there is no completion for %q, only for %s", operands[0], strings.Join(shells(), ", ")).
			Meant(operands[0], shells())
	}
	return string(script), nil
}
