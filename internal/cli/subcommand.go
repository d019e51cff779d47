package cli

// subcommands are the commands that a first word can name. Help lists them in
// this order.
func subcommands() []*command {
	return []*command{
		demoCommand(),
		evalCommand(),
		scheduleCommand(),
		tuneCommand(),
		simulateCommand(),
		historyCommand(),
		presetsCommand(),
		completionCommand(),
		manCommand(),
	}
}

// helpFlag is what every subcommand has.
func helpFlag() flag {
	return flag{name: "help", aliases: []string{"h"}, usage: "this text"}
}

func subcommandNames() []string {
	var names []string
	for _, c := range subcommands() {
		names = append(names, c.name)
	}
	return append(names, "help")
}

// findSubcommand returns the subcommand of that name; "help" is one whose
// operand says which command's help is wanted.
func findSubcommand(name string) *command {
	for _, c := range subcommands() {
		if c.name == name {
			return c
		}
	}
	return &command{
		name: "help", operands: "[SUBCOMMAND]",
		about:     "poll help says what poll does and takes; with a SUBCOMMAND, what that one does.",
		examples:  []example{{"poll help eval", ""}},
		flags:     flags{helpFlag()},
		arguments: offersFirst(offeredSubcommands),
		run:       (*invocation).help,
	}
}

func (in *invocation) help() error {
	if len(in.split.operands) == 0 {
		return in.writeOut(helpText(mainCommand()))
	}
	word := in.split.operands[0]
	for _, c := range subcommands() {
		if c.name == word {
			return in.writeOut(helpText(c))
		}
	}
	err := usagef("there is no subcommand %q", word)
	if near := nearest(word, subcommandNames()); near != "" {
		err.hint("did you mean poll help %s?", near)
	}
	return err
}
