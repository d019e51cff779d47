//go:build unix

// Package action tests scripts/action as GitHub would run it.
package action

import (
	"bufio"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../../.."

// An action is one use of the action.
type action struct {
	code    int
	outputs map[string]string
	log     string
	dir     string // it ran there
}

// build builds the program by the script, as the action does.
func build(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	program := filepath.Join(t.TempDir(), "poll-action", "poll")
	if out, err := exec.Command(script(t), "build", program).CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return program
}

func script(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, "scripts", "action"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func run(t *testing.T, program string, inputs ...string) action {
	t.Helper()
	a := action{dir: t.TempDir()}
	file := filepath.Join(a.dir, "outputs")
	cmd := exec.Command(script(t), "run", program)
	cmd.Dir = a.dir
	cmd.Env = append(os.Environ(), "GITHUB_OUTPUT="+file, "GITHUB_ACTIONS=true", "RUNNER_TEMP="+a.dir)
	cmd.Env = append(cmd.Env, inputs...)
	log, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		a.code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	a.log = string(log)
	a.outputs = readOutputs(t, file)
	return a
}

// readOutputs reads "name<<end", lines, "end".
func readOutputs(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	outputs := make(map[string]string)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, end, ok := strings.Cut(lines.Text(), "<<")
		if !ok {
			t.Fatalf("no output in %q", lines.Text())
		}
		var value []string
		for lines.Scan() && lines.Text() != end {
			value = append(value, lines.Text())
		}
		outputs[name] = strings.Join(value, "\n")
	}
	return outputs
}

func (a action) check(t *testing.T, code int, want map[string]string) {
	t.Helper()
	if a.code != code {
		t.Errorf("have exit code %d, want %d\n%s", a.code, code, a.log)
	}
	var have map[string]string
	for name := range want {
		if have == nil {
			have = make(map[string]string)
		}
		have[name] = a.outputs[name]
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("(-want +got)\n%s\n%s", diff, a.log)
	}
}

func TestAction(t *testing.T) {
	t.Parallel()
	program := build(t)
	t.Run("outputs", func(t *testing.T) { testOutputs(t, program) })
	t.Run("result file", func(t *testing.T) { testResultFile(t, program) })
	t.Run("nothing is injected", func(t *testing.T) { testNothingIsInjected(t, program) })
}

func testOutputs(t *testing.T, program string) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(`{"state":"done","by":"` + r.Method + " " + r.Header.Get("X-One") + " " + r.Header.Get("X-Two") + `"}`))
	}))
	t.Cleanup(server.Close)
	for _, test := range []struct {
		name   string
		inputs []string
		code   int
		want   map[string]string
	}{
		{"a command", []string{"INPUT_COMMAND=test $POLL_ATTEMPT = 3\necho 'it is'\necho \"done\"", "INPUT_INTERVAL=1ms"}, 0,
			map[string]string{"result": "it is\ndone", "status": "SUCCESS", "exit-code": "0", "attempts": "3"}},
		{"a command that fails half-way", []string{"INPUT_COMMAND=false | cat\necho done", "INPUT_INTERVAL=1ms", "INPUT_MAX_ATTEMPTS=2"}, 3,
			map[string]string{"result": "", "status": "NOT_READY", "exit-code": "3", "attempts": "2"}},
		{"a URL", []string{"INPUT_URL=" + server.URL, "INPUT_UNTIL=.state==\"ready\"\n.state==\"done\"\n", "INPUT_PRINT=.by",
			"INPUT_HEADER=X-One: 1\nX-Two: 2", "INPUT_ARGS=--immediate\n--attempt-timeout\n5s"}, 0,
			map[string]string{"result": "GET 1 2", "status": "SUCCESS", "reason": `.state is "done"`}},
		{"a JSON null", []string{"INPUT_COMMAND=echo '{\"a\":null}'", "INPUT_PRINT=.a", "INPUT_INTERVAL=1ms"}, 0, map[string]string{"result": "null"}},
		{"an answer of null", []string{"INPUT_COMMAND=echo null", "INPUT_INTERVAL=1ms"}, 0, map[string]string{"result": "null"}},
		{"a JSON text", []string{"INPUT_COMMAND=echo '\"abc\"'", "INPUT_INTERVAL=1ms"}, 0, map[string]string{"result": `"abc"`}},
		{"white space", []string{"INPUT_COMMAND=printf '{\\n  \"a\": 1\\n}\\n\\n'", "INPUT_INTERVAL=1ms"}, 0, map[string]string{"result": "{\n  \"a\": 1\n}\n"}},
		{"an empty answer", []string{"INPUT_COMMAND=true", "INPUT_INTERVAL=1ms"}, 0, map[string]string{"result": "", "status": "SUCCESS"}},
		{"a deep answer", []string{"INPUT_COMMAND=printf '%2000s' '' | tr ' ' '['; printf '%2000s' '' | tr ' ' ']'", "INPUT_INTERVAL=1ms"}, 0,
			map[string]string{"result": strings.Repeat("[", 2000) + strings.Repeat("]", 2000), "status": "SUCCESS", "attempts": "1", "reason": "exit code 0"}},
		{"keys of the outcome", []string{`INPUT_COMMAND=echo '{"status":"x","value":1,"body":{"a":"\"},\"body\":"}}'`, "INPUT_PRINT=.body", "INPUT_INTERVAL=1ms"}, 0,
			map[string]string{"result": `{"a":"\"},\"body\":"}`, "status": "SUCCESS"}},
		{"a whole answer", []string{"INPUT_URL=" + server.URL, "INPUT_INTERVAL=1ms"}, 0,
			map[string]string{"result": `{"state":"done","by":"GET  "}`}},
		{"an error", []string{"INPUT_URL=" + server.URL, "INPUT_ERROR_IF=.state==\"done\"", "INPUT_INTERVAL=1ms"}, 1,
			map[string]string{"result": "", "status": "ERROR", "exit-code": "1"}},
		{"a timeout", []string{"INPUT_COMMAND=false", "INPUT_TIMEOUT=200ms"}, 124,
			map[string]string{"status": "NOT_READY", "exit-code": "124"}},
		{"usage", []string{"INPUT_COMMAND=true", "INPUT_TIMEOUT=5"}, 2, map[string]string{"exit-code": "2", "status": ""}},
		{"strict", []string{"INPUT_COMMAND=echo '{}'", "INPUT_UNTIL=.a==1", "INPUT_STRICT=true", "INPUT_INTERVAL=1ms"}, 1,
			map[string]string{"status": "ERROR"}},
		{"nothing", nil, 2, nil},
		{"both", []string{"INPUT_COMMAND=true", "INPUT_URL=" + server.URL}, 2, nil},
		{"no URL", []string{"INPUT_URL=touch"}, 2, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			run(t, program, test.inputs...).check(t, test.code, test.want)
		})
	}
}

// An output cannot hold every byte, a file can.
func testResultFile(t *testing.T, program string) {
	t.Parallel()
	for command, text := range map[string]string{`printf 'a\377b\n'`: "a\xffb\n", `printf 'a\000b'`: "a\x00b", "echo é": "é\n"} {
		a := run(t, program, "INPUT_COMMAND="+command, "INPUT_INTERVAL=1ms")
		want := ""
		if text == "é\n" {
			want = "é"
		}
		a.check(t, 0, map[string]string{"result": want, "status": "SUCCESS"})
		if warned := strings.Contains(a.log, "::warning title=poll::the answer is not UTF-8 text"); warned != (want == "") {
			t.Errorf("%s: have a warning %v\n%s", command, warned, a.log)
		}
		if have, err := os.ReadFile(a.outputs["result-file"]); err != nil || string(have) != text {
			t.Errorf("%s: have %q and %v, want %q", command, have, err, text)
		}
	}
}

// What comes from outside, a branch's name or an answer, must neither be run nor
// set another output.
func testNothingIsInjected(t *testing.T, program string) {
	t.Parallel()
	const value = "$(touch owned)`touch owned`'; touch owned; '\"; touch owned; \"\ntouch owned\n"
	for _, name := range []string{"UNTIL", "URL", "PRINT", "HEADER", "TIMEOUT", "PRESET", "ARGS", "DATA", "STRICT"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inputs := []string{"INPUT_" + name + "=" + value, "INPUT_MAX_ATTEMPTS=1", "INPUT_INTERVAL=1ms"}
			if name != "URL" && name != "ARGS" {
				inputs = append(inputs, "INPUT_COMMAND=true")
			}
			a := run(t, program, inputs...)
			if _, err := os.Stat(filepath.Join(a.dir, "owned")); err == nil {
				t.Errorf("%q was run", value)
			}
		})
	}
	a := run(t, program, "INPUT_COMMAND=printf 'x\\nend\\nEOF\\nstatus<<y\\nowned\\ny\\n'", "INPUT_INTERVAL=1ms")
	a.check(t, 0, map[string]string{"status": "SUCCESS", "result": "x\nend\nEOF\nstatus<<y\nowned\ny"})
}

// Every input reaches the script by the environment, and the text of no script
// holds an expression.
func TestActionFile(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	head, rest, _ := strings.Cut(text, "\noutputs:\n")
	_, inputs, _ := strings.Cut(head, "\ninputs:\n")
	var declared, passed []string
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z-]+):$`).FindAllStringSubmatch(inputs, -1) {
		declared = append(declared, m[1])
	}
	for _, m := range regexp.MustCompile(`(?m)^ +INPUT_([A-Z_]+): \$\{\{ inputs\.([a-z-]+) \}\}$`).FindAllStringSubmatch(rest, -1) {
		passed = append(passed, m[2])
		if want := strings.ToUpper(strings.ReplaceAll(m[2], "-", "_")); m[1] != want {
			t.Errorf("%s is passed as %s", m[2], m[1])
		}
	}
	slices.Sort(declared)
	slices.Sort(passed)
	if diff := cmp.Diff(declared, passed); diff != "" {
		t.Errorf("declared and passed (-want +got)\n%s", diff)
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, "run:") && strings.Contains(line, "${{") {
			t.Errorf("an expression in a script: %s", line)
		}
	}
	set, err := os.ReadFile(filepath.Join(root, "scripts", "action"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`steps\.run\.outputs\.([a-z-]+)`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(string(set), "output "+m[1]+" ") && !strings.Contains(string(set), "output_file "+m[1]+" ") {
			t.Errorf("the script does not set the output %s", m[1])
		}
	}
}
