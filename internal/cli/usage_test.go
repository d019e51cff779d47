package cli

import (
	"cmp"
	stdflag "flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/cli/run"
	"github.com/pollcli/poll/internal/httpscript"
	"github.com/pollcli/poll/status/presets"
)

var update = stdflag.Bool("update", false, "write what is printed into the scripts and golden files")

// TestUsage runs the wrong command lines of testdata/usage.txt, and compares the messages. Variables stand
// before "poll". $URL is the URL of a server. $RUN is a command that would leave a trace. No message contains
// s3cret.
func TestUsage(t *testing.T) {
	const golden = "testdata/usage.txt"
	text := must(os.ReadFile(golden))
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
		check(t, os.WriteFile(golden, []byte("$ "+all), 0o666))
		return
	}
	inUnixWords := strings.ReplaceAll(have.String(), syscall.ENOENT.Error(), "no such file or directory")
	if diff := gocmp.Diff(strings.Split(want.String(), "\n"), strings.Split(inUnixWords, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A usage error has an object on stdout if --json was given, even after the error. The arguments of a
// command and of a subcommand do not count.
func TestUsage_json(t *testing.T) {
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
	dir, before := t.TempDir(), time.Unix(1e9, 0)
	check(t, os.Chtimes(dir, before, before))
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
	streams, _, _ := httpscript.Streams("")
	streams.Out, streams.Err, streams.Unicode = &o.out, &o.err, false
	return NewProcess(args[1:], func(name string) (string, bool) { v, ok := env[name]; return v, ok }, streams), o
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

// unfinished holds the bodies of the test server by path. No body reports a finished operation without a
// mistake in the command line.
var unfinished = map[string]string{
	"/running": `{"state":"running","progress":40,"status":"IN_PROGRESS","n":"5","items":[{"id":1}],"ready":true,"share":"40.0"}`,
	"/failed":  `{"state":"failed","jobs":[{"state":"error"}]}`, "/queued": `{"state":"queued"}`,
	"/killed": `{"state":"KILLED"}`,
	"/err200": `{"error":"no such job","code":404}`, "/array": `[{"state":"running"}]`,
	"/list": `{"jobs":[{"id":1,"status":"finished"}]}`,
	"/text": "all done", "/500": "oops error", "/401": "no", "/login": "<html>login</html>",
}

func serveUnfinished(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/302login":
		http.Redirect(w, r, "/login", http.StatusFound)
		return
	case "/500":
		w.WriteHeader(http.StatusInternalServerError)
	case "/401":
		w.WriteHeader(http.StatusUnauthorized)
	case "/list":
		w.Header().Set("Link", `</list?page=2>; rel="next"`)
	}
	io.WriteString(w, unfinished[r.URL.Path])
}

// TestMistakes runs the frequent mistakes of testdata/mistakes.txt. Lines with the same message stand above
// the message. Each line has a rating. A: the message has the cause and a correct line, or describes the
// action. B: the message has only the cause. No line ends in a SUCCESS without a message. Malformed
// expressions are in status/expr/testdata/errors.txt.
func TestMistakes(t *testing.T) {
	text := must(os.ReadFile("testdata/mistakes.txt"))
	server := httptest.NewServer(http.HandlerFunc(serveUnfinished))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	for name, content := range map[string]string{"ids": "a\n", "ids.csv": "id\na\n", "token": "s3cret\n"} {
		check(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	given := strings.NewReplacer("$URL", server.URL, "$DIR", dir)
	rated := map[string]int{}
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		lines, wanted, _ := strings.Cut(block, "\n> ")
		for typed := range strings.SplitSeq(lines, "\n") {
			rating, line, _ := strings.Cut(typed, " ")
			rated[rating]++
			t.Run(line, func(t *testing.T) {
				testMistake(t, given, line, wanted)
			})
		}
	}
	if rated["A"] < 220 || rated["C"] > 0 {
		t.Errorf("have %v, want at least 220 A and no C", rated)
	}
}

// TestHints_correct runs correct command lines that resemble frequent mistakes, and a command for each preset.
func TestHints_correct(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(serveUnfinished))
	t.Cleanup(server.Close)
	lines := []string{
		"poll -u :s3cret",
		"poll -u me:s3cret=3F",
		`poll --follow none -d '{"query":"{jobs(of: $id, first: $n){state}}"}'`,
	}
	for _, p := range presets.All() {
		if p.Match == "" {
			lines = append(lines, "poll --preset "+p.Name)
		}
	}
	for _, line := range lines {
		process, out := processOf(t, "POLL_TIMEOUT=2s POLL_MAX_ATTEMPTS=1 "+line+" "+server.URL+"/running")
		if Run(t.Context(), process); strings.Contains(out.err.String(), "  hint: ") {
			t.Errorf("%s is rejected:\n%s", line, &out.err)
		}
	}
}

func testMistake(t *testing.T, given *strings.Replacer, line, wanted string) {
	process, out := processOf(t, "POLL_TIMEOUT=2s POLL_MAX_ATTEMPTS=2 POLL_MAX_WAIT=10ms "+given.Replace(line))
	code := Run(t.Context(), process)
	said := out.err.String()
	for want := range strings.SplitSeq(wanted, "\n> ") {
		if want == "" || !strings.Contains(said, given.Replace(want)) {
			t.Errorf("have exit code %d and\n%swant %s", code, said, want)
		}
	}
	if code == run.ExitSuccess && !strings.Contains(said, "note: ") && !strings.Contains(said, "after a redirect") {
		t.Errorf("it ends with a silent SUCCESS:\n%s", said)
	}
}

// A variable that does not apply to a wait is ignored without a message.
func TestVariables_ignored(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no program true")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"items":[{"id":1,"ok":true},{"id":2,"ok":true}]}`)
	}))
	t.Cleanup(server.Close)
	const needs = "POLL_RESUME=1 POLL_KEY=nofile POLL_POLL_COST=1% POLL_HISTORY=nodir POLL_SHARE_KEY=k POLL_POWER=3 "
	const ofHTTP = "POLL_HEADER=@nofile POLL_OAUTH2_BEARER=@nofile POLL_NETRC=1 POLL_CACERT=nofile POLL_CERT=nofile POLL_PROXY=:: POLL_RESOLVE=x "
	for name, line := range map[string]string{
		"a command":     needs + ofHTTP + "POLL_SHARE=DIR POLL_RATE=50/s poll -- true",
		"a TCP address": needs + ofHTTP + "poll " + strings.Replace(server.URL, "http", "tcp", 1),
		"a URL":         needs + "poll --until '$status == 200' URL",
		"several":       needs + "POLL_LEARN=one poll --until '$status == 200' URL URL/b",
		"a list":        needs + "poll --each .items --expect 2 --until .ok URL",
		"a stream":      needs + "POLL_SHARE=DIR poll --stream --until '$status == 200' URL",
	} {
		t.Run(name, func(t *testing.T) {
			process, out := processOf(t, "POLL_MAX_WAIT=1ms "+strings.NewReplacer("URL", server.URL, "=DIR", "="+t.TempDir()).Replace(line))
			if code := Run(t.Context(), process); code != run.ExitSuccess || strings.Contains(out.err.String(), "note:") {
				t.Errorf("%s: exit code %d\n%s%s", line, code, &out.out, &out.err)
			}
		})
	}
}

// A variable for a flag without a variable is an error, even if the variable is empty, and even if the wait
// could not use the flag.
func TestVariables_none(t *testing.T) {
	count := 0
	for _, f := range read.WaitFlags() {
		if f.HasVariable || f.Set == nil {
			continue
		}
		count++
		for _, value := range []string{"", "1"} {
			process, out := processOf(t, f.Variable()+"="+value+" poll no-such-program")
			want := fmt.Sprintf("poll: %s is set, but --%s has no variable\n", f.Variable(), f.Name)
			if code := Run(t.Context(), process); code != run.ExitUsage || !strings.HasPrefix(out.err.String(), want) {
				t.Errorf("exit code %d, have %s want %s", code, &out.err, want)
			}
		}
	}
	if count < 40 {
		t.Errorf("only %d flags have no variable", count)
	}
}

// The hints for flags of other tools name flags that exist. No flag of poll has such a hint.
func TestHints(t *testing.T) {
	table := read.WaitFlags()
	for row := range strings.Lines(page(t, "internal/argv/hints.txt")) {
		columns := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		switch _, err := regexp.Compile(columns[0]); {
		case row[0] == '#':
		case err != nil:
			t.Error(err)
		case len(columns) != 3 || columns[1]+columns[2] == "":
			t.Errorf("no row of three columns: %s", row)
		case strings.HasPrefix(row, "flag ") && columns[1] != "" && table.Lookup(columns[1]) == nil:
			t.Errorf("%s leads to --%s, which does not exist", columns[0], columns[1])
		}
	}
	for _, f := range table {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if meaning, hint := argv.Advice("flag " + name); meaning+hint != "" {
				t.Errorf("--%s exists, and is said not to: %s%s", name, meaning, hint)
			}
		}
	}
}

// Every pair of contradicting flags is rejected, in both orders.
func TestConflicts_refused(t *testing.T) {
	table := read.WaitFlags()
	values := map[string]string{"strategy": "linear", "user": "a:b", "jitter": "decorrelated", "progress": "json", "D": "1s", "PCT": "10%"}
	spell := func(name string) string {
		if table.Lookup(name).IsSwitch() {
			return "--" + name
		}
		value := cmp.Or(values[name], values[table.Lookup(name).Value], "1")
		return fmt.Sprintf("--%s=%s", name, value)
	}
	for _, f := range table {
		for other := range strings.FieldsSeq(f.Not) {
			other = strings.FieldsFunc(other, func(r rune) bool { return r == '=' || r == '!' })[0]
			for _, args := range [][]string{{spell(f.Name), spell(other), "http://h"}, {spell(other), spell(f.Name), "http://h"}} {
				if _, err := lineOf(t, args, nil); err == nil || !strings.Contains(err.Error(), "contradict") {
					t.Errorf("%q is accepted: %v", args, err)
				}
			}
		}
	}
}

// check ends the test at the first error: the preparation of the test has failed.
func check(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
