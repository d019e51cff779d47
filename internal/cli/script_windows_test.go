package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/tools/txtar"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// programs returns the programs that scripts use in addition to the programs of the system, such as common
// Unix tools.
func programs() map[string]func() {
	all := map[string]func(){"poll": runPoll, "sh": sh}
	// The other tools have names of commands of testscript.
	for _, name := range []string{"true", "false", "echo", "printf", "cat", "sleep", "sort", "touch"} {
		all[name] = func() { shell(name+` "$@"`, name, os.Args[1:]) }
	}
	return all
}

// alive reports whether a process runs.
func alive(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h)
	event, err := windows.WaitForSingleObject(h, 0)
	return err == nil && event == uint32(windows.WAIT_TIMEOUT)
}

// sh runs a script as a shell: sh FILE [ARG...], or sh -c TEXT [NAME [ARG...]].
func sh() {
	args := os.Args[1:]
	if args[0] == "-c" {
		if args = args[1:]; len(args) == 1 {
			args = append(args, "sh")
		}
		shell(args[0], args[1], args[2:])
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "sh:", err)
		os.Exit(127)
	}
	shell(string(text), args[0], args[1:])
}

// shell runs a text as a shell does, and exits.
func shell(text, name string, args []string) {
	program, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), name)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	runner, err := interp.New(
		interp.StdIO(os.Stdin, os.Stdout, os.Stderr),
		interp.Params(append([]string{"--"}, args...)...),
		interp.ExecHandlers(withTools))
	if err != nil {
		panic(err)
	}
	err = runner.Run(context.Background(), program)
	status, ok := errors.AsType[interp.ExitStatus](err)
	if err != nil && !ok {
		panic(err)
	}
	os.Exit(int(status))
}

// withTools runs the tools without a process, which would take half a second under Wine.
func withTools(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		run, ok := tools[args[0]]
		if !ok {
			return next(ctx, args)
		}
		c := interp.HandlerCtx(ctx)
		if err := run(args[1:], c.Stdin, c.Stdout); err != nil {
			fmt.Fprintln(c.Stderr, args[0]+":", err)
			return interp.ExitStatus(1)
		}
		return nil
	}
}

// tools are programs that every Unix has, as far as scripts need them.
var tools = map[string]func(args []string, in io.Reader, out io.Writer) error{
	"cat": func(args []string, in io.Reader, out io.Writer) error {
		text, err := input(args, in)
		out.Write(text)
		return err
	},
	"cp": func(args []string, _ io.Reader, _ io.Writer) error {
		text, err := os.ReadFile(args[0])
		if err != nil {
			return err
		}
		return os.WriteFile(args[1], text, 0o666)
	},
	"grep": grep,
	"mv":   func(args []string, _ io.Reader, _ io.Writer) error { return os.Rename(args[0], args[1]) },
	"rm": func(args []string, _ io.Reader, _ io.Writer) error {
		return each(args, func(name string) error {
			if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) { // -f is not there, either
				return err
			}
			return nil
		})
	},
	// sed replaces each match of s/REGEXP/TEXT/.
	"sed": func(args []string, in io.Reader, out io.Writer) error {
		text, err := input(args[1:], in)
		part := strings.Split(args[0], args[0][1:2])
		out.Write(regexp.MustCompile("(?m)"+part[1]).ReplaceAllLiteral(text, []byte(part[2])))
		return err
	},
	"seq": func(args []string, _ io.Reader, out io.Writer) error {
		last, err := strconv.Atoi(args[0])
		for i := range last {
			fmt.Fprintln(out, i+1)
		}
		return err
	},
	"sleep": func(args []string, _ io.Reader, _ io.Writer) error {
		d, err := time.ParseDuration(args[0] + "s")
		time.Sleep(d)
		return err
	},
	"sort": func(args []string, in io.Reader, out io.Writer) error {
		text, err := input(args, in)
		lines := slices.Sorted(strings.Lines(string(text)))
		io.WriteString(out, strings.Join(lines, ""))
		return err
	},
	"touch": func(args []string, _ io.Reader, _ io.Writer) error {
		return each(args, func(name string) error {
			f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o666)
			if err != nil {
				return err
			}
			return f.Close()
		})
	},
	// wc counts lines, or with -c bytes.
	"wc": func(args []string, in io.Reader, out io.Writer) error {
		text, err := io.ReadAll(in)
		n := bytes.Count(text, []byte("\n"))
		if args[0] == "-c" {
			n = len(text)
		}
		fmt.Fprintln(out, n)
		return err
	},
}

// grep implements grep [-q] [-v] REGEXP [FILE...], also with -e for each of several expressions.
func grep(args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("grep", flag.ContinueOnError)
	quiet, not := flags.Bool("q", false, ""), flags.Bool("v", false, "")
	var wanted []string
	flags.Func("e", "", func(s string) error { wanted = append(wanted, s); return nil })
	if err := flags.Parse(args); err != nil {
		return err
	}
	args = flags.Args()
	if wanted == nil {
		wanted, args = args[:1], args[1:]
	}
	text, err := input(args, in)
	if err != nil {
		return err
	}
	if *quiet {
		out = io.Discard
	}
	match := regexp.MustCompile(strings.Join(wanted, "|")).Match
	err = errors.New("no such line")
	for line := range bytes.Lines(text) {
		if match(line) != *not {
			_, err = out.Write(line)
		}
	}
	return err
}

// input returns the content of files, or stdin without files.
func input(files []string, stdin io.Reader) ([]byte, error) {
	if len(files) == 0 {
		return io.ReadAll(stdin)
	}
	var all []byte
	err := each(files, func(name string) error {
		text, err := os.ReadFile(name)
		all = append(all, text...)
		return err
	})
	return all, err
}

func each(args []string, do func(string) error) error {
	for _, arg := range args {
		if err := do(arg); err != nil {
			return err
		}
	}
	return nil
}

// TestWindowsPage runs the examples of docs/windows.md for cmd.exe. Each example must succeed.
func TestWindowsPage(t *testing.T) {
	t.Parallel()
	world, err := txtar.ParseFile(filepath.Join("testdata", "readme.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	run := 0
	try := func(script string) {
		run++
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			if stdout, err := runIn(t, world, script, batch(t)); err != nil || stdout == "" {
				t.Errorf("%v, and it printed %q", err, stdout)
			}
		})
	}
	for _, b := range blocks(page(t, "docs/windows.md")) {
		if b.language == "bat" {
			for line := range strings.Lines(b.text) {
				try(line)
			}
		}
	}
	if run < 4 {
		t.Errorf("only %d examples", run)
	}
}

// batch runs a script as a batch file, like GitHub Actions.
func batch(t *testing.T) func(dir, script string) *exec.Cmd {
	return func(dir, script string) *exec.Cmd {
		text := "@echo off\r\n" + strings.ReplaceAll(script, "\n", "\r\n")
		if err := os.WriteFile(filepath.Join(dir, "step.bat"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return exec.Command("cmd", "/d", "/c", "step.bat")
	}
}
