package cli

import (
	stdflag "flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/internal/cli/run"
	"github.com/pollcli/poll/internal/ui/term"
)

var update = stdflag.Bool("update", false, "write what is printed into the scripts and golden files")

// TestUsage runs the wrong command lines of testdata/usage.txt, and compares the messages. Variables stand
// before "poll". $URL is the URL of a server. $RUN is a command that would leave a trace. No message contains
// s3cret.
func TestUsage(t *testing.T) {
	t.Parallel()
	const golden = "testdata/usage.txt"
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a request was made")
	}))
	defer server.Close()
	ran := filepath.Join(t.TempDir(), "ran")
	given := strings.NewReplacer("$URL", server.URL, "$RUN", "touch "+ran)
	shown := strings.NewReplacer(server.URL, "$URL")

	var want, have strings.Builder
	for block := range strings.SplitSeq(string(text), "\n$ ") {
		line, said, _ := strings.Cut(strings.TrimPrefix(block, "$ "), "\n")
		fmt.Fprintf(&want, "$ %s\n%s\n", line, strings.TrimSpace(said))
		process, out := processOf(t, given.Replace(line))
		code := Run(t.Context(), process)
		fmt.Fprintf(&have, "$ %s\n%s\n", line, strings.TrimSpace(shown.Replace(out.err.String())))
		if code != run.ExitUsage {
			t.Errorf("%s: have exit code %d, want %d", line, code, run.ExitUsage)
		}
		if out.out.Len() > 0 {
			t.Errorf("%s: have %q on stdout, want nothing", line, &out.out)
		}
		if strings.Contains(out.err.String(), "s3cret") {
			t.Errorf("%s: a secret is repeated", line)
		}
		if !strings.HasPrefix(out.err.String(), "poll: ") {
			t.Errorf("%s: have %q on stderr", line, &out.err)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a command was run")
	}
	if *update {
		all := strings.ReplaceAll(strings.TrimPrefix(have.String(), "$ "), "\n$ ", "\n\n$ ")
		if err := os.WriteFile(golden, []byte("$ "+all), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	inUnixWords := strings.ReplaceAll(have.String(), syscall.ENOENT.Error(), "no such file or directory")
	if diff := cmp.Diff(strings.Split(want.String(), "\n"), strings.Split(inUnixWords, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A usage error has an object on stdout if --json was given, even after the error. The arguments of a
// command and of a subcommand do not count.
func TestUsage_json(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"poll --json --bogus":                 true,
		"poll --bogus 5s --json true":         true,
		"poll --json=true --bogus":            true,
		"poll eval --json --bogus":            false,
		"poll --bogus -- true --json":         false,
		"POLL_JSON=1 poll --timeout 5 true":   false,
		"POLL_QUIET=perhaps poll --json true": true,
	} {
		process, out := processOf(t, line)
		code := Run(t.Context(), process)
		if have := strings.Contains(out.out.String(), `"exit":2`); code != run.ExitUsage || have != want || !have && out.out.Len() > 0 {
			t.Errorf("%s: have exit code %d and %q", line, code, &out.out)
		}
	}
}

// Nothing is written while a command line is read.
func TestUsage_writesNothing(t *testing.T) {
	t.Parallel()
	dir, before := t.TempDir(), time.Unix(1e9, 0)
	if err := os.Chtimes(dir, before, before); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"poll --result-file DIR/x --bogus true",
		"poll --result-file DIR/x --preset nothing -- true",
		"poll --result-file DIR/x --joblog DIR/log --resume http://a b",
		"poll --result-file DIR/x --share DIR/share http://a http://b",
		"poll schedule --svg DIR/x.svg --bogus",
		"poll simulate --svg DIR/x.svg --model nothing",
	} {
		process, _ := processOf(t, strings.ReplaceAll(line, "DIR", dir))
		if code := Run(t.Context(), process); code != run.ExitUsage {
			t.Errorf("%s: have exit code %d, want %d", line, code, run.ExitUsage)
		}
		if after, err := os.Stat(dir); err != nil || !after.ModTime().Equal(before) {
			t.Fatalf("%s: a file was written in %s, %v", line, dir, err)
		}
	}
}

// outputs are the texts that were written to stdout and stderr.
type outputs struct{ out, err strings.Builder }

// processOf returns the process for a line in the syntax of a shell.
func processOf(t *testing.T, line string) (Process, *outputs) {
	t.Helper()
	env := map[string]string{}
	var args []string
	for _, field := range shellWords(line) {
		name, value, ok := strings.Cut(field, "=")
		if ok && args == nil {
			env[name] = value
			continue
		}
		args = append(args, field)
	}
	if len(args) == 0 || args[0] != "poll" {
		t.Fatalf("%q does not run poll", line)
	}
	o := new(outputs)
	streams, _, _ := term.Buffers("")
	streams.Out, streams.Err, streams.Unicode = &o.out, &o.err, false
	return Process{
		Args:    args[1:],
		Lookup:  func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Streams: streams,
	}, o
}

// shellWords returns the words of a line. Single quotes keep spaces, also within a word.
func shellWords(line string) []string {
	var list []string
	var word strings.Builder
	quoted, begun := false, false
	end := func() {
		if begun {
			list = append(list, word.String())
		}
		word.Reset()
		begun = false
	}
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, begun = !quoted, true
		case r == ' ' && !quoted:
			end()
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	end()
	return list
}
