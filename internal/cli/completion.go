package cli

import (
	"embed"
	"strings"
)

// completionScripts teach the shells to ask poll what a word may become.
//
//go:embed completion
var completionScripts embed.FS

func shells() []string { return []string{"bash", "zsh", "fish"} }

func completionCommand() *command {
	return &command{
		name:     "completion",
		operands: strings.Join(shells(), "|"),
		summary:  "a script for the shell, to complete what is typed",
		about: "poll completion writes a script that makes the Tab key complete flags, presets,\n" +
			"subcommands, files, and the command that is waited for.",
		examples: []example{
			{`eval "$(poll completion bash)"`, "in ~/.bashrc"},
			{"source <(poll completion zsh)", "in ~/.zshrc, after compinit"},
			{"poll completion fish >~/.config/fish/completions/poll.fish", ""},
		},
		flags: flags{
			{name: "complete", hidden: true, usage: "say what the last operand may become: the scripts ask this"},
			helpFlag(),
		},
		arguments: offersFirst(func() []candidate { return candidates(shells()...) }),
		run:       (*invocation).completion,
	}
}

func (in *invocation) completion() error {
	operands := in.split.operands
	if in.split.on("complete") {
		if len(operands) == 0 {
			operands = []string{""}
		}
		return in.writeOut(complete(operands).text())
	}
	if len(operands) != 1 {
		return usagef("completion takes the name of a shell: %s", strings.Join(shells(), ", ")).
			hint(`eval "$(poll completion bash)"`)
	}
	script, err := completionScripts.ReadFile("completion/poll." + operands[0])
	if err != nil {
		e := usagef("there is no completion for %q, only for %s", operands[0], strings.Join(shells(), ", "))
		if near := nearest(operands[0], shells()); near != "" {
			e.hint("did you mean %s?", near)
		}
		return e
	}
	return in.writeOut(string(script))
}
