package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/cli/run"
	"github.com/pollcli/poll/internal/httpscript"
	"github.com/pollcli/poll/internal/learn"
)

// specOf returns the Run for the arguments of a wait. The wait does not start.
func specOf(ctx context.Context, w Process) (*read.Run, error) {
	s := read.New()
	w.Began = time.Now()
	_, err := w.run(ctx, s, func(_ context.Context, settled *read.Run) error {
		s = settled
		return nil
	})
	return s, err
}

// lineOf parses arguments with environment variables.
func lineOf(t *testing.T, args []string, env map[string]string) (*read.Run, error) {
	t.Helper()
	streams, _, _ := httpscript.Streams("")
	return specOf(t.Context(), NewProcess(args, func(name string) (string, bool) { v, ok := env[name]; return v, ok }, streams))
}

// settingsOf returns the flags that are set, in alphabetical order.
func settingsOf(s *read.Run) string {
	var list []string
	for _, f := range s.Flags {
		for _, text := range s.Texts(f.Name) {
			list = append(list, f.Name+"="+text)
		}
	}
	return sorted(strings.Join(list, " "))
}

func sorted(words string) string {
	return strings.Join(slices.Sorted(slices.Values(strings.Fields(words))), " ")
}

// grammar shows how words are read in one line: the flags, then "cmd" or "url", then the words.
func grammar(args []string) (string, error) {
	s := read.New()
	s.Parse(args)
	_, err := read.Classify(s.Line)
	var b strings.Builder
	for _, w := range s.Typed {
		b.WriteString(w.Flag.Name + "=" + w.Text + " ")
	}
	switch {
	case s.IsCommand:
		fmt.Fprintf(&b, "cmd %q", s.Operands)
	case len(s.Operands) > 0:
		fmt.Fprintf(&b, "url %q", s.Operands)
	}
	if len(s.Then) > 0 {
		fmt.Fprintf(&b, " then %q", s.Then)
	}
	if s.Err != nil {
		err = s.Err
	}
	return strings.TrimSpace(b.String()), err
}

func TestGrammar(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"nothing", nil, ``},
		{"a URL", []string{"http://h/x"}, `url ["http://h/x"]`},
		{"flags after the URL", []string{"http://h", "--timeout", "5s", "-q"}, `timeout=5s quiet=true url ["http://h"]`},
		{"a URL behind dashes", []string{"--", "http://h"}, `url ["http://h"]`},
		{"a URL and a program", []string{"http://h", "-q", "--", "app", "--", "-v"}, `quiet=true url ["http://h"] then ["app" "--" "-v"]`},

		{"a command", []string{"ls", "-l", "--timeout", "x"}, `cmd ["ls" "-l" "--timeout" "x"]`},
		{"a command's own dashes", []string{"ssh", "--", "host"}, `cmd ["ssh" "--" "host"]`},
		{"a command like a subcommand", []string{"--", "demo"}, `cmd ["demo"]`},
		{"an empty word", []string{""}, `cmd [""]`},
		{"a dash", []string{"-"}, `cmd ["-"]`},
		{"nothing behind dashes", []string{"-q", "--"}, `quiet=true`},

		{"a value with an equals sign", []string{"--until=a==b", "ls"}, `until=a==b cmd ["ls"]`},
		{"a value like a flag", []string{"--until", "-1 < .n", "ls"}, `until=-1 < .n cmd ["ls"]`},
		{"a repeated flag", []string{"--until", "a", "--until", "b,c", "ls"}, `until=a until=b,c cmd ["ls"]`},
		{"a switch turned off", []string{"--strict=false", "--json=0", "ls"}, `strict=false json=0 cmd ["ls"]`},

		{"short switches glued", []string{"-sSfL", "http://h"}, `silent=true show-error=true fail=true location=true url ["http://h"]`},
		{"short switches and the next word", []string{"-skd", "a=1", "http://h"}, `silent=true insecure=true data=a=1 url ["http://h"]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			have, err := grammar(test.args)
			if diff := cmp.Diff(test.want, have); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Every argument reaches the command unchanged, including special characters.
func FuzzGrammar(f *testing.F) {
	for _, seed := range []string{
		"--until a --timeout=5s http://h -q", "-sSfL -XPOST -d@f http://h", "-- ls -l", "demo x", "-", "--", "-d", "--=", "-=", "--x=",
		"http://a -- http://b", "-\xff", "--until -- --until", "-é",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		s := read.New()
		s.Parse(args)
		if _, err := read.Classify(s.Line); err != nil && !argv.IsUsage(err) || s.Err != nil && !argv.IsUsage(s.Err) {
			t.Errorf("%q: %v, %v is no usage error", args, err, s.Err)
		}
		if n := len(s.Operands); s.IsCommand && !slices.Equal(s.Operands, args[len(args)-n:]) {
			t.Errorf("%q: the command %q is not verbatim", args, s.Operands)
		}
		for _, w := range s.Typed {
			if !w.Flag.IsSwitch() && !strings.Contains(line, w.Text) {
				t.Errorf("%q: %q was never given", args, w.Text)
			}
		}
	})
}

func TestVariables(t *testing.T) {
	tests := []struct {
		name string
		args []string
		env  map[string]string
		want string
	}{
		{"empty is unset", []string{"ls"}, map[string]string{"POLL_TIMEOUT": "", "POLL_QUIET": ""}, ``},
		{"one line each", []string{"http://h"}, map[string]string{"POLL_HEADER": "A:b,c\nC:d\n"}, `header=A:b,c header=C:d`},
		{"a switch", []string{"ls"}, map[string]string{"POLL_VERBOSE": "1", "POLL_QUIET": "0"}, `verbose=true quiet=false`},
		{"dashes are underscores", []string{"ls"}, map[string]string{"POLL_MAX_WAIT": "1s"}, `max-wait=1s`},
		{"an empty value that means something", []string{"--data=", "http://h"}, nil, `data=`},
		{"a hidden flag has none", []string{"http://h"}, map[string]string{"POLL_SILENT": "1"}, ``},
		{"the child's are not flags", []string{"ls"}, map[string]string{"POLL_ATTEMPT": "3", "POLL_ELAPSED": "1", "POLL_STATUS": "ERROR"}, ``},

		// Contradicting flags are in testdata/usage.txt.
		{"a switch that is off", []string{"-q", "--verbose=false", "ls"}, nil, `quiet=true verbose=false`},
		{"quiet against the environment", []string{"-q", "ls"}, map[string]string{"POLL_PROGRESS": "json", "POLL_VERBOSE": "1"}, `quiet=true`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := must(lineOf(t, test.args, test.env))
			if have := settingsOf(s); have != sorted(test.want) {
				t.Errorf("have %s, want %s", have, test.want)
			}
		})
	}
}

// The code looks up flags by name: each name is the name of a flag.
func TestFlagNames(t *testing.T) {
	files := must(filepath.Glob("*/*.go"))
	asked, table := regexp.MustCompile(`\b(?:s|run|spec|q)\.(?:Has|IsOn|Rank|Origin|Texts)\("([^"]+)"\)`), read.WaitFlags()
	count := 0
	for _, name := range files {
		for _, match := range asked.FindAllStringSubmatch(page(t, "internal/cli/"+name), -1) {
			if count++; table.Named(match[1]) == nil {
				t.Errorf("%s: there is no flag %s", name, match[1])
			}
		}
	}
	if count < 20 {
		t.Errorf("only %d names were found", count)
	}
}

// Each flag sets something in the struct that the flags of its command fill, unless its values are read from the
// settings.
func TestFlags_set(t *testing.T) {
	inSettings := strings.Fields("until error-if throttled-if not-ready-if accept detail retry-after id data data-raw data-binary header oauth2-bearer print show")
	count := 0
	for _, c := range append(testApp().subcommands().commands(), read.New().Line.Command) {
		for i := range c.Flags {
			if f := &c.Flags[i]; f.Set != nil {
				count++
				if !setsSomething(f, c.Into) && !slices.Contains(inSettings, f.Name) {
					t.Errorf("poll %s: --%s sets nothing", c.Name, f.Name)
				}
			}
		}
	}
	if count < 120 {
		t.Errorf("only %d flags were found", count)
	}
}

// setsSomething reports whether setting the flag changes an empty struct of a wait, or of the types in into.
func setsSomething(f *argv.Flag, into []any) bool {
	values := slices.Concat(f.Words, []string{
		"true", "7s", "7", "200", "7%", "7/s", "a=b", "a:b", "http://h:1", "h:80:127.0.0.1", "h:80:h:81", "1s-2s", "exponential",
	})
	for _, value := range values {
		l, err := argv.Settings(nil).With(f, value, "", argv.Typed)
		if err != nil {
			continue
		}
		for _, like := range append([]any{new(read.Run), new(read.Waits), new(learn.Flags)}, into...) {
			empty, filled := reflect.New(reflect.TypeOf(like).Elem()), reflect.New(reflect.TypeOf(like).Elem())
			l.Apply(filled.Interface())
			if !reflect.DeepEqual(empty.Interface(), filled.Interface()) {
				return true
			}
		}
	}
	return false
}

// slowly is a stdout with a slow reader.
type slowly struct{ bytes.Buffer }

func (w *slowly) Write(p []byte) (int, error) {
	time.Sleep(50 * time.Millisecond)
	return w.Buffer.Write(p)
}

// The deadline does not cut off the results of targets that end at the deadline.
func TestSeveral_linesAtTheDeadline(t *testing.T) {
	next := must(httpscript.InTurn([]string{fmt.Sprintf("200\n\n{\"state\":\"running\",\"log\":%q}", strings.Repeat("x", 1<<20))}, nil))
	process, _ := processOf(t, `poll -q --timeout 500ms --interval 50ms --rate 0 --until '.state=="done"' http://a.test/1 http://a.test/2 http://a.test/3 http://a.test/4`)
	var out slowly
	process.Streams.Out = &out
	code := (&bubble{t: t, servers: map[string]*httpscript.Server{"a": httpscript.New(next)}}).run(process)
	if lines := strings.Count(out.String(), "\n"); code != run.ExitTimeout || lines != 4 {
		t.Errorf("have exit code %d and %d lines, want %d and 4", code, lines, run.ExitTimeout)
	}
}

// A rate may be lower than one request in the longest duration.
func TestVeryLowRate(t *testing.T) {
	requests := 0
	next := func(httpscript.Request) *httpscript.Answer {
		requests++
		return &must(httpscript.Parse("200\n\n{\"state\":\"running\"}", nil))[0]
	}
	process, _ := processOf(t, `poll -q --timeout 1h --rate 1/999999999999d --until '.state=="done"' http://a.test/`)
	code := (&bubble{t: t, servers: map[string]*httpscript.Server{"a": httpscript.New(next)}}).run(process)
	if code != run.ExitTimeout || requests > 3 { // the further requests are the last attempts before the deadline
		t.Errorf("exit code %d after %d requests", code, requests)
	}
}

// Files that poll reads before the first attempt may be endless.
func TestEndlessFiles(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip(err)
	}
	for line, want := range map[string]string{
		"poll -H @/dev/zero http://127.0.0.1:1/":         "poll: --header: /dev/zero is larger than 1 MiB, the most that poll reads\n",
		"NETRC=/dev/zero poll -n http://127.0.0.1:1/":    "poll: --netrc: /dev/zero is larger than 1 MiB, the most that poll reads\n",
		"poll --targets /dev/zero http://127.0.0.1:1/{}": "larger than 16 MiB, the most that poll reads\n",
	} {
		process, out := processOf(t, line)
		if code := Run(t.Context(), process); code != run.ExitUsage || !strings.HasSuffix(out.err.String(), want) {
			t.Errorf("%s: have exit code %d and %q, want %q", line, code, &out.err, want)
		}
	}
}

// Bodies, documents and the input of a command have the limit of readFile.
func TestReadFile_limit(t *testing.T) {
	full := strings.Repeat("x", 1<<20)
	for input, want := range map[string]string{full: "", full + "x": "stdin is larger than 1 MiB, the most that poll reads"} {
		var p read.Env
		p.Streams, _, _ = httpscript.Streams(input)
		text, err := p.ReadFile("-", 1<<20)
		if want == "" && (err != nil || string(text) != input) || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%d bytes: have %d bytes and %v, want %q", len(input), len(text), err, want)
		}
	}
}
