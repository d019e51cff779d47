package cli

import (
	"bytes"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"

	"github.com/pollcli/poll/internal/httpscript"
)

// pages returns the names of README.md, the skill and the pages in docs.
func pages(t *testing.T) []string {
	t.Helper()
	inDocs, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(inDocs) == 0 {
		t.Fatalf("no pages in docs: %v", err)
	}
	names := []string{"README.md", "skills/poll/SKILL.md"}
	for _, name := range inDocs {
		names = append(names, "docs/"+filepath.Base(name))
	}
	return names
}

// TestReadme runs the examples of README.md, the skill and the pages in docs. Each example has
// its own shell and directory. The examples are blocks that start with ```console, and commands
// that start with "poll" in blocks of make, YAML, HCL and ini.
//
//   - "$ " starts a command, and "> " continues the command. All other lines are the
//     exact output of the commands on stdout. stderr is not compared; a block about
//     stderr contains 2>&1.
//   - The commands of a block are one script: variables are kept, and no command after
//     "exit" is run.
//   - https://api.example.com and tcp://db.example.com:5432 are a server on the loopback
//     interface. Its responses, and the files and programs of the directory, are in
//     testdata/readme.txtar. The first part has lines METHOD PATH ANSWER..., with
//     responses in the syntax of package httpscript. The responses start again in
//     each block.
func TestReadme(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the examples are for a Unix shell; TestWindowsPage has those of docs/windows.md")
	}
	world := must(txtar.ParseFile(filepath.Join("testdata", "readme.txtar")))
	run := map[string]int{}
	for _, name := range pages(t) {
		for _, b := range blocks(page(t, name)) {
			for _, example := range b.examples(t) {
				run[b.language]++
				first, _, _ := strings.Cut(example.script, "\n")
				t.Run(first, func(t *testing.T) {
					t.Parallel()
					if diff := cmp.Diff(example.output, runBlock(t, world, example.script)); diff != "" {
						t.Errorf("%s, line %d (-want +got):\n%s", name, b.line, diff)
					}
				})
			}
		}
	}
	want := map[string]int{"console": 64, "make": 1, "yaml": 7, "hcl": 1, "ini": 1}
	for language, n := range want {
		if run[language] < n {
			t.Errorf("%d examples in blocks of %s, want at least %d", run[language], language, n)
		}
	}
}

// A block is a code block of a page, with its language.
type block struct {
	line           int
	language, text string
}

func blocks(text string) []block {
	var list []block
	inside := false
	number := 0
	for line := range strings.Lines(text) {
		number++
		language, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && !inside:
			list = append(list, block{line: number, language: language})
			inside = true
		case fence:
			inside = false
		case inside:
			list[len(list)-1].text += line
		}
	}
	return list
}

// An example is a script with its expected output.
type example struct{ script, output string }

func (b block) examples(t *testing.T) []example {
	t.Helper()
	var scripts []string
	switch b.language {
	case "console":
		return []example{consoleExample(b.text)}
	case "make":
		scripts = []string{"cat >Makefile <<'END'\n" + b.text + "END\nmake --silent"}
	case "hcl":
		for _, found := range regexp.MustCompile(`command = ("poll .*")`).FindAllStringSubmatch(b.text, -1) {
			script, err := strconv.Unquote(found[1])
			if err != nil {
				t.Errorf("line %d: %v", b.line, err)
			}
			scripts = append(scripts, script)
		}
	case "ini":
		for line := range strings.Lines(b.text) {
			if command, ok := strings.CutPrefix(line, "ExecStartPre="); ok {
				scripts = append(scripts, strings.TrimSpace(command))
			}
		}
	case "yaml":
		var document any
		if err := yaml.Unmarshal([]byte(b.text), &document); err != nil {
			t.Errorf("line %d: %v", b.line, err)
		}
		scripts = yamlScripts(document)
	}
	var list []example
	for _, script := range scripts {
		list = append(list, example{script: strings.TrimSpace(script) + " >answer && echo done", output: "done\n"})
	}
	return list
}

func consoleExample(text string) (e example) {
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			e.script += command
		} else if command, ok := strings.CutPrefix(line, "> "); ok {
			e.script += command
		} else {
			e.output += line
		}
	}
	return e
}

// yamlScripts returns the scripts that a CI service, Compose or the action would run: all strings and lists
// that start with poll, and each use of the action.
func yamlScripts(value any) (scripts []string) {
	switch v := value.(type) {
	case string:
		if strings.HasPrefix(v, "poll ") {
			return []string{v}
		}
	case []any:
		if len(v) > 0 && v[0] == "poll" {
			script := ""
			for _, word := range v {
				script += fmt.Sprintf("'%v' ", word)
			}
			return []string{script}
		}
		for _, item := range v {
			scripts = append(scripts, yamlScripts(item)...)
		}
	case map[string]any:
		if uses, _ := v["uses"].(string); strings.HasPrefix(uses, "pollcli/poll@") {
			script := "export GITHUB_OUTPUT=outputs\n"
			for name, input := range v["with"].(map[string]any) {
				script += fmt.Sprintf("export INPUT_%s='%v'\n", strings.ToUpper(strings.ReplaceAll(name, "-", "_")), input)
			}
			return []string{script + `"$ROOT/scripts/action" run "$(command -v poll)"`}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			scripts = append(scripts, yamlScripts(v[name])...)
		}
	}
	return scripts
}

// TestReadme_table runs the command of each row of README.md's table of waits. URL stands for the path that the
// file rows of testdata/readme.txtar has for the row, and FILE for a file. A threshold of seconds is one of
// milliseconds.
func TestReadme_table(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the examples are for a Unix shell")
	}
	world := must(txtar.ParseFile(filepath.Join("testdata", "readme.txtar")))
	paths := map[string]string{}
	for line := range strings.Lines(fileOf(world, "rows")) {
		if row, path, found := strings.Cut(strings.TrimSpace(line), " /"); found {
			paths[strings.TrimSpace(row)] = exampleAPI + "/" + path
		}
	}
	_, table, _ := strings.Cut(page(t, "README.md"), "## What do you wait for?")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| (.*) \\| `(.*?poll .*?)`").FindAllStringSubmatch(table, -1)
	if len(rows) < 14 {
		t.Errorf("%d rows have a command", len(rows))
	}
	for _, row := range rows {
		t.Run(row[1], func(t *testing.T) {
			t.Parallel()
			script := strings.NewReplacer("URL", paths[row[1]], "FILE", "file", "tcp://db:5432", exampleDB, "-threshold 30s", "-threshold 30ms").Replace(row[2])
			if output := runBlock(t, world, script+" >answer && echo done"); output != "done\n" {
				t.Errorf("%s: have %q, want success", script, output)
			}
		})
	}
}

func fileOf(world *txtar.Archive, name string) string {
	for _, f := range world.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// TestSkill reads the head of the skill as agents do: https://agentskills.io/specification
func TestSkill(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(page(t, "skills/poll/SKILL.md"), "---\n")
	head, text, found := strings.Cut(rest, "\n---\n")
	var skill map[string]string
	if err := yaml.Unmarshal([]byte(head), &skill); err != nil || !found {
		t.Fatalf("the head is no YAML between lines of ---: %v", err)
	}
	if n := len(skill["description"]); skill["name"] != "poll" || n < 100 || n > 1024 || len(skill) != 2 {
		t.Errorf("have %v", skill)
	}
	if strings.Contains(text, "](") {
		t.Error("it links to files that are not installed with it")
	}
}

// TestReadme_links checks the links of README.md and the pages in docs to files and headings. README.md must
// link to every page.
func TestReadme_links(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	index := page(t, "README.md")
	for _, name := range append(pages(t), "CONTRIBUTING.md", "SECURITY.md") {
		if name != "README.md" && !strings.Contains(index, "("+name+")") {
			t.Errorf("README.md does not link to %s", name)
		}
		for _, found := range link.FindAllStringSubmatch(page(t, name), -1) {
			file, heading, _ := strings.Cut(found[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(target))); err != nil {
				t.Errorf("%s links to %s: %v", name, found[1], err)
			} else if heading != "" && !slices.Contains(anchors(page(t, target)), heading) {
				t.Errorf("%s links to %s, and %s has no such heading", name, found[1], target)
			}
		}
	}
}

// anchors returns the anchors that GitHub gives to the headings of a page.
func anchors(text string) (names []string) {
	dropped := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		plain := dropped.ReplaceAllString(strings.ToLower(heading[1]), "")
		names = append(names, strings.ReplaceAll(plain, " ", "-"))
	}
	return names
}

// The URLs in the examples.
const (
	exampleAPI = "https://api.example.com"
	exampleDB  = "tcp://db.example.com:5432"
)

// realAPIs are the URLs of known APIs in the examples. The same server replaces them.
var realAPIs = []string{
	"https://api.github.com", "https://gitlab.example.com", "https://management.azure.com", "https://run.googleapis.com",
	"https://app.terraform.io", "https://awx.example.com", "https://jenkins.example.com", "https://sonar.example.com",
}

// runBlock runs a Unix shell script with the files and the server of world, and returns its output.
func runBlock(t *testing.T, world *txtar.Archive, script string) string {
	t.Helper()
	stdout, _ := runIn(t, world, script, func(_, script string) *exec.Cmd { return exec.Command("sh", "-c", script) })
	return stdout
}

// runIn runs the program that command returns for dir and script. The files of world are in dir, and a server
// returns the responses of world. It returns the output and the program's error.
func runIn(t *testing.T, world *txtar.Archive, script string, command func(dir, script string) *exec.Cmd) (string, error) {
	t.Helper()
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	addr := listener.Addr().String()
	places := []string{exampleAPI, "http://" + addr, exampleDB, "tcp://" + addr}
	for _, api := range realAPIs {
		places = append(places, api, "http://"+addr)
	}
	here := strings.NewReplacer(places...)
	there := strings.NewReplacer("http://"+addr, exampleAPI, "tcp://"+addr, exampleDB)
	root := must(filepath.Abs("../.."))
	dir := t.TempDir()
	for _, f := range world.Files {
		check(t, os.WriteFile(filepath.Join(dir, f.Name), []byte(here.Replace(string(f.Data))), 0o777))
	}
	answer, err := routes(string(world.Comment), func(name string) string { return filepath.Join(dir, name) }, func(r httpscript.Request) {
		t.Errorf("nothing is said of %s %s in testdata/readme.txtar", r.Method, r.URI)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(httpscript.Start(listener, answer).Close)
	if !strings.Contains(script, "--expect") { // without --expect, poll checks a completed list again after 5 s
		script = strings.ReplaceAll(script, " --each ", " --expect 1 --each ")
	}
	cmd := command(dir, here.Replace(script))
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+dir, "TMPDIR="+dir, "GORACE="+raceAtOnce,
		"GITHUB_TOKEN=s3cret", "GITLAB_TOKEN=s3cret", "TFC_TOKEN=s3cret", "JENKINS_USER=ci", "JENKINS_TOKEN=s3cret", "SONAR_TOKEN=s3cret", "EXECUTION=arn:7", "ID=/subscriptions/0/vm",
		"ROOT="+root, "GITHUB_SHA=4a5f0c1", "CI_COMMIT_SHA=4a5f0c1", "JOB_URL="+here.Replace(exampleAPI)+"/jobs/42")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	ended := cmd.Run()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("it ended with %v and said:\n%s", ended, &stderr)
		}
	})
	return there.Replace(stdout.String()), ended
}

// routes returns a server for lines METHOD PATH ANSWER..., whose responses are returned in turn.
func routes(text string, resolve func(string) string, unknown func(httpscript.Request)) (func(httpscript.Request) *httpscript.Answer, error) {
	routes := map[string]func(httpscript.Request) *httpscript.Answer{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := shellWords(line)
		next, err := httpscript.InTurn(fields[2:], resolve)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		routes[fields[0]+" "+fields[1]] = next
	}
	return func(r httpscript.Request) *httpscript.Answer {
		next, ok := routes[r.Method+" "+r.URI]
		if !ok {
			unknown(r)
			return nil
		}
		return next(r)
	}, nil
}
