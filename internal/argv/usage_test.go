package argv

import (
	"errors"
	"strings"
	"testing"
)

func TestShellQuoted(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"":                 "",
		"3":                "3",
		`.state == "done"`: `'.state == "done"'`,
		`.state == 'done'`: `'.state == '\''done'\'''`,
		"$status":          "'$status'",
	} {
		if have := shellQuoted(word); have != want {
			t.Errorf("%q: have %s, want %s", word, have, want)
		}
	}
}

// What is wrong is told with what was probably meant, or where to look.
func TestRun_usage(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"--tiemout 5s ls":    "unknown flag --tiemout; did you mean --timeout?",
		"--max-time 5s ls":   "unknown flag --max-time; poll calls it --timeout",
		"eval --max-time 5s": "unknown flag --max-time; poll eval --help lists its flags",
		"-m 5s ls":           "unknown flag -m; poll calls it --timeout",
		"--d x ls":           "unknown flag --d; poll --help lists the flags; a command's own flags come after it: poll [flags] -- COMMAND --d",
		"-until x ls":        "unknown flag -until; did you mean --until?",
		"--timeout":          "--timeout needs a value: --timeout D",
		"--timeout --strict": "--timeout needs a value, and --strict is a flag",
		"--strict=perhaps":   `--strict is a switch: "perhaps" is neither true nor false`,
		"--timeout= ls":      "--timeout is given an empty value; leave the flag out, or set the variable that its value is taken from",
		"-q demo":            "--quiet comes before the subcommand demo: its flags come after it; a program of that name is run with: poll --quiet ... -- demo",
		"demo x":             "operand 1 is one too many: demo takes flags only; poll demo --help lists them",
		"demo --x=secret":    "unknown flag --x; poll demo --help lists its flags",
		"ls --until x":       "--until comes after the command, which would take it as its own argument; poll --until 'x' -- ls ...; if it is meant for ls: poll -- ls ...",
		"ls | x":             "| is shell syntax, and a command is not run by a shell; poll -- sh -c 'ls ... | ...'; if it is meant for ls: poll -- ls ...",
	} {
		_, err := program().Run(t.Context(), strings.Fields(line))
		e, ok := errors.AsType[*UsageError](err)
		if !ok {
			t.Errorf("%s: have %v, want a usage error", line, err)
			continue
		}
		if have := strings.Join(append([]string{e.Error()}, e.Hints...), "; "); have != want {
			t.Errorf("%s:\nhave %s\nwant %s", line, have, want)
		}
	}
}
