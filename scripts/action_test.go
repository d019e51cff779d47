//go:build unix

package scripts

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A use is one run of the action: its exit code, its log, its outputs, and where it ran.
type use struct {
	code     int
	log, dir string
	outputs  map[string]string
}

// outputForm is "name<<end", lines, "end".
var outputForm = regexp.MustCompile(`(?ms)^([a-z-]+)<<(end_[0-9a-f]+)\n(.*?)\n?^(end_[0-9a-f]+)$`)

func runAction(t *testing.T, poll string, inputs ...string) use {
	t.Helper()
	u := use{dir: t.TempDir(), outputs: map[string]string{}}
	action := must(filepath.Abs("action"))
	file := filepath.Join(u.dir, "outputs")
	cmd := exec.Command(action, "run", poll)
	cmd.Dir = u.dir
	cmd.Env = append(os.Environ(), "GITHUB_OUTPUT="+file, "GITHUB_ACTIONS=true", "RUNNER_TEMP="+u.dir, "INPUT_INTERVAL=1ms")
	cmd.Env = append(cmd.Env, inputs...)
	u.code, u.log = finish(t, cmd)
	text, _ := os.ReadFile(file)
	for _, m := range outputForm.FindAllStringSubmatch(string(text), -1) {
		u.outputs[m[1]] = m[3]
	}
	return u
}

func TestAction(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	poll := filepath.Join(t.TempDir(), "poll-action", "poll")
	if code, said := finish(t, exec.Command("./action", "build", poll)); code != 0 {
		t.Fatal(said)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(`{"state":"done","by":"` + r.Method + " " + r.Header.Get("X-One") + " " + r.Header.Get("X-Two") + `"}`))
	}))
	t.Cleanup(server.Close)
	deep := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	for _, test := range []struct {
		inputs []string
		code   int
		want   map[string]string
	}{
		{[]string{"INPUT_COMMAND=test $POLL_ATTEMPT = 3\necho 'it is'\necho \"done\""}, 0,
			map[string]string{"result": "it is\ndone", "status": "SUCCESS", "exit-code": "0", "attempts": "3"}},
		{[]string{"INPUT_COMMAND=false | cat\necho done", "INPUT_MAX_ATTEMPTS=2"}, 3, map[string]string{"result": "", "status": "NOT_READY"}},
		{[]string{"INPUT_URL=" + server.URL, "INPUT_UNTIL=.state==\"ready\"\n.state==\"done\"\n", "INPUT_PRINT=.by", "INPUT_HEADER=X-One: 1\nX-Two: 2",
			"INPUT_ARGS=--immediate\n--attempt-timeout\n1m"}, 0, map[string]string{"result": "GET 1 2", "reason": `.state is "done"`}},
		{[]string{"INPUT_COMMAND=echo '{\"a\":null}'", "INPUT_PRINT=.a"}, 0, map[string]string{"result": "null"}},
		{[]string{"INPUT_COMMAND=printf '{\\n  \"a\": 1\\n}\\n\\n'"}, 0, map[string]string{"result": "{\n  \"a\": 1\n}\n"}},
		{[]string{"INPUT_COMMAND=true"}, 0, map[string]string{"result": "", "status": "SUCCESS"}},
		{[]string{"INPUT_COMMAND=echo '" + deep + "'"}, 0, map[string]string{"result": deep, "attempts": "1", "reason": "exit code 0"}},
		{[]string{`INPUT_COMMAND=echo '{"status":"x","value":1,"body":{"a":"\"},\"body\":"}}'`, "INPUT_PRINT=.body"}, 0,
			map[string]string{"result": `{"a":"\"},\"body\":"}`, "status": "SUCCESS"}},
		{[]string{"INPUT_URL=" + server.URL, "INPUT_ERROR_IF=.state==\"done\""}, 1, map[string]string{"result": "", "status": "ERROR", "exit-code": "1"}},
		{[]string{"INPUT_COMMAND=false", "INPUT_TIMEOUT=3s"}, 124, map[string]string{"status": "NOT_READY", "exit-code": "124"}},
		{[]string{"INPUT_COMMAND=true", "INPUT_TIMEOUT=5"}, 2, map[string]string{"exit-code": "2", "status": ""}},
		{[]string{"INPUT_COMMAND=echo '{}'", "INPUT_UNTIL=.a==1", "INPUT_STRICT=true"}, 1, map[string]string{"status": "ERROR"}},
		{nil, 2, nil},
		{[]string{"INPUT_COMMAND=true", "INPUT_URL=" + server.URL}, 2, nil},
		{[]string{"INPUT_URL=touch"}, 2, nil},
		{[]string{`INPUT_COMMAND=printf 'x\nend\nEOF\nstatus<<y\nowned\ny\n'`}, 0, // an answer sets no other output
			map[string]string{"status": "SUCCESS", "result": "x\nend\nEOF\nstatus<<y\nowned\ny"}},
	} {
		t.Run(strings.Join(test.inputs, " "), func(t *testing.T) {
			t.Parallel()
			u := runAction(t, poll, test.inputs...)
			if u.code != test.code {
				t.Errorf("exit code %d, want %d\n%s", u.code, test.code, u.log)
			}
			for name, want := range test.want {
				if u.outputs[name] != want {
					t.Errorf("%s is %q, want %q\n%s", name, u.outputs[name], want, u.log)
				}
			}
		})
	}
	t.Run("bytes that are no text", func(t *testing.T) {
		u := runAction(t, poll, `INPUT_COMMAND=printf 'a\377b\n'`)
		have, err := os.ReadFile(u.outputs["result-file"])
		if err != nil || string(have) != "a\xffb\n" || u.outputs["result"] != "" || !strings.Contains(u.log, "::warning title=poll::") {
			t.Errorf("have %q and %v\n%s", have, err, u.log)
		}
	})
	for _, input := range strings.Fields("UNTIL URL PRINT HEADER TIMEOUT PRESET ARGS DATA STRICT") {
		t.Run("nothing of "+input+" is run", func(t *testing.T) {
			t.Parallel()
			const value = "$(touch owned)`touch owned`'; touch owned; '\"; touch owned; \"\ntouch owned\n"
			u := runAction(t, poll, "INPUT_"+input+"="+value, "INPUT_MAX_ATTEMPTS=1")
			if _, err := os.Stat(filepath.Join(u.dir, "owned")); err == nil {
				t.Error("it was run")
			}
		})
	}
}

// Every input of action.yml reaches the script by the environment, no script holds an expression,
// and every output is set.
func TestAction_file(t *testing.T) {
	t.Parallel()
	data := must(os.ReadFile("../action.yml"))
	text := string(data)
	head, rest, _ := strings.Cut(text, "\noutputs:\n")
	_, inputs, _ := strings.Cut(head, "\ninputs:\n")
	var declared, passed []string
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z-]+):$`).FindAllStringSubmatch(inputs, -1) {
		declared = append(declared, "INPUT_"+strings.ToUpper(strings.ReplaceAll(m[1], "-", "_"))+": ${{ inputs."+m[1]+" }}")
	}
	for _, m := range regexp.MustCompile(`(?m)^ +(INPUT_.*)$`).FindAllStringSubmatch(rest, -1) {
		passed = append(passed, m[1])
	}
	slices.Sort(declared)
	slices.Sort(passed)
	if !slices.Equal(declared, passed) {
		t.Errorf("declared %q, passed %q", declared, passed)
	}
	if regexp.MustCompile(`(?m)run:.*\$\{\{`).MatchString(text) {
		t.Error("there is an expression in a script")
	}
	script := must(os.ReadFile("action"))
	for _, m := range regexp.MustCompile(`steps\.run\.outputs\.([a-z-]+)`).FindAllStringSubmatch(text, -1) {
		if !regexp.MustCompile(`(?m)\boutput(_file)? ` + m[1] + ` `).Match(script) {
			t.Errorf("the script does not set the output %s", m[1])
		}
	}
}

// read returns the text of files of the repository, by their names.
func read(t *testing.T, patterns ...string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range patterns {
		names, err := filepath.Glob(filepath.Join("..", pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: there is none (%v)", pattern, err)
		}
		for _, name := range names {
			text := must(os.ReadFile(name))
			texts[strings.TrimPrefix(name, "../")] = string(text)
		}
	}
	return texts
}

// actionlint, which scripts/test runs, knows what a workflow may say. This is what ours have to say:
// an action is pinned by the SHA of a commit, with its version behind it, and to one everywhere; a job has no
// right that it was not given; a checkout leaves no credentials; no script has an expression in it.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	pinned := regexp.MustCompile(`^([\w.-]+/[\w./-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)$`)
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses: *(.*)$`)
	pins := map[string]string{}
	for name, text := range read(t, ".github/workflows/*.yml", "action.yml") {
		for _, m := range uses.FindAllStringSubmatch(text, -1) {
			pin := pinned.FindStringSubmatch(m[1])
			switch {
			case m[1] == "./":
			case pin == nil:
				t.Errorf("%s: %s is not pinned: write OWNER/NAME@SHA # v1.2.3", name, m[1])
			case pins[pin[1]] != "" && pins[pin[1]] != pin[2]:
				t.Errorf("%s: %s is %s here and %s elsewhere", name, pin[1], pin[2], pins[pin[1]])
			default:
				pins[pin[1]] = pin[2]
			}
		}
		if regexp.MustCompile(`(?m)^\s*(- )?run: .*\$\{\{`).MatchString(text) || regexp.MustCompile(`run: [|>]`).MatchString(text) {
			t.Errorf("%s: a script stands in a file of its own, and takes what it needs from its environment", name)
		}
		if name == "action.yml" {
			continue
		}
		if !strings.Contains(text, "\npermissions:\n  contents: read\n\n") {
			t.Errorf("%s does not begin with the right to read only", name)
		}
		if strings.Contains(text, "pull_request_target") || strings.Contains(text, "secrets.") {
			t.Errorf("%s has a secret, or runs with one what a stranger wrote", name)
		}
		if n := strings.Count(text, "actions/checkout@"); n != strings.Count(text, "persist-credentials: false") {
			t.Errorf("%s: a checkout keeps credentials", name)
		}
	}
	if len(pins) < 4 {
		t.Errorf("only %d actions were found: %v", len(pins), pins)
	}
}

// Examples name one version of poll, none by a branch or latest, and files that a release has.
func TestVersionsOfExamples(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`pollcli/poll(?:@|:)([\w.-]+)|poll[_-]v?(\d[\w.]*?)[-_](?:OS|linux|1|r1|source)`)
	count := 0
	for name, text := range read(t, "README.md", "docs/*.md", "skills/poll/SKILL.md", "action.yml", "CONTRIBUTING.md", "SECURITY.md") {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			count++
			if v := strings.TrimPrefix(m[1]+m[2], "v"); v != "1.2.3" {
				t.Errorf("%s has %s: examples are of v1.2.3", name, m[0])
			}
		}
	}
	if count < 8 {
		t.Errorf("only %d versions were found", count)
	}
}

// must returns value, and panics if err is not nil: the preparation of a test has failed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
