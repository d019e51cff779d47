package cli

import (
	"fmt"
	"strings"
)

// helpColumns are the columns of a text for people; flagWidth of them are for
// the flags in help, and commandWidth for the subcommands.
const (
	helpColumns  = 80
	flagWidth    = 24
	commandWidth = 25
)

// mainExamples stand first in the help of the main command.
func mainExamples() []example {
	return []example{
		{`poll --until '.state=="done"' https://api.example.com/jobs/42`, ""},
		{`poll --until '.status.phase=="Running"' -- kubectl get pod web-0 -o json`, ""},
		{`poll --timeout 2m --interval 1s http://localhost:8080/health`, ""},
		{`url=$(poll --preset replicate --print '.output[0]' "$prediction") || exit`, ""},
	}
}

// helpText says what a command does and takes.
func helpText(c *command) string {
	var b strings.Builder
	if c.name == "" {
		mainHelp(&b, c)
	} else {
		subcommandHelp(&b, c)
	}
	return b.String()
}

func mainHelp(b *strings.Builder, c *command) {
	b.WriteString("poll waits for a URL or a command: it asks again and again until a condition\n" +
		"holds, and ends with an exit code that a script can trust.\n\n")
	for _, e := range mainExamples() {
		fmt.Fprintf(b, "  %s\n", e.line)
	}
	b.WriteString("\nUsage:\n" +
		"  poll [flags] URL                    http, https or tcp; flags may follow it\n" +
		"  poll [flags] [--] COMMAND [ARG...]  all after COMMAND is the command's own\n")
	b.WriteString("\nOther commands:\n")
	for _, s := range subcommands() {
		fmt.Fprintf(b, "  %-*s %s\n", commandWidth, strings.TrimSpace(s.name+" "+s.operands), s.summary)
	}
	writeFlags(b, c.flags)
	b.WriteString("\nTimes need a unit (500ms, 30s, 1h30m). Every flag has a variable: POLL_MAX_WAIT.\n" +
		"Exit codes: 0 SUCCESS, 1 ERROR, 2 usage, 3 attempts exhausted, 4 throttled past\n" +
		"the deadline, 124 timeout, 125 poll failed, 126/127 cannot run, 128+n signal n.\n")
}

func subcommandHelp(b *strings.Builder, c *command) {
	fmt.Fprintf(b, "%s\n\n", c.about)
	for _, e := range c.examples {
		fmt.Fprintf(b, "  %s\n", e.line)
		if e.about != "" {
			fmt.Fprintf(b, "      %s\n", e.about)
		}
	}
	fmt.Fprintf(b, "\nUsage:\n  %s\n", strings.TrimSpace("poll "+c.name+" [flags] "+c.operands))
	writeFlags(b, c.flags)
	if c.after != "" {
		fmt.Fprintf(b, "\n%s\n", c.after)
	}
}

// writeFlags writes the flags under their headings, in the order of the table.
func writeFlags(b *strings.Builder, table flags) {
	group, begun := "", false
	for i := range table {
		f := &table[i]
		if f.hidden {
			continue
		}
		if f.group != group || !begun {
			group, begun = f.group, true
			heading := group
			if heading == "" {
				heading = "Flags"
			}
			fmt.Fprintf(b, "\n%s:\n", heading)
		}
		fmt.Fprintf(b, "  %-*s %s\n", flagWidth, f.spelled(), f.explained())
	}
}

// spelled is how a flag is typed: "-X, --request METHOD".
func (f *flag) spelled() string {
	text := "--" + f.name
	for _, alias := range f.aliases {
		if len(alias) == 1 {
			text = "-" + alias + ", " + text
		}
	}
	return strings.TrimSpace(text + " " + f.value)
}

func (f *flag) explained() string {
	if f.def == "" {
		return f.usage
	}
	return f.usage + " [" + f.def + "]"
}
