//go:build unix

package scripts

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

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
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
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
