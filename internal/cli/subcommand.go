package cli

// A maker makes a subcommand. Its table of flags costs something, so it is only
// made when it is wanted.
type maker struct {
	name string
	make func() *command
}

// makers are the commands that a first word can name. Help lists them in this
// order.
func makers() []maker {
	return []maker{
		{"demo", demoCommand},
		{"eval", evalCommand},
		{"schedule", scheduleCommand},
		{"tune", tuneCommand},
		{"simulate", simulateCommand},
		{"history", historyCommand},
		{"presets", presetsCommand},
		{"completion", completionCommand},
		{"man", manCommand},
		{"help", helpCommand},
	}
}

func subcommands() []*command {
	var list []*command
	for _, m := range makers() {
		list = append(list, m.make())
	}
	return list
}

// helpFlag is what every subcommand has.
func helpFlag() flag {
	return flag{name: "help", aliases: []string{"h"}, usage: "this text"}
}

func subcommandNames() []string {
	var names []string
	for _, m := range makers() {
		names = append(names, m.name)
	}
	return names
}

// findSubcommand returns the subcommand of that name, nil if there is none.
func findSubcommand(name string) *command {
	for _, m := range makers() {
		if m.name == name {
			return m.make()
		}
	}
	return nil
}

func helpCommand() *command {
	return &command{
		name:      "help",
		operands:  "[NAME]",
		summary:   "what poll, or one of these, does and takes",
		about:     "poll help says what poll does and takes; with a NAME, what that subcommand does.",
		examples:  []example{{"poll help", ""}, {"poll help eval", ""}},
		flags:     flags{helpFlag()},
		arguments: offersFirst(offeredSubcommands),
		run:       (*invocation).help,
	}
}

func (in *invocation) help() error {
	operands := in.split.operands
	if len(operands) == 0 {
		return in.writeOut(helpText(mainCommand()))
	}
	if len(operands) > 1 {
		return surplus(operands, 1, "help takes one name")
	}
	if c := findSubcommand(operands[0]); c != nil {
		return in.writeOut(helpText(c))
	}
	err := usagef("there is no subcommand %q", operands[0])
	if near := nearest(operands[0], subcommandNames()); near != "" {
		return err.hint("did you mean poll help %s?", near)
	}
	return err.hint("poll help lists them")
}
