//go:build unix

package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// newAction returns a command like the first step of the action, whose source
// begins its list of changes with a heading, and what it installs. There is no Go.
func newAction(t *testing.T, url, heading, version string) (*exec.Cmd, target) {
	t.Helper()
	p := newPlace(t, "bash", "bash", "curl", "dirname", "sha256sum").on(t, "Linux", "x86_64")
	source := t.TempDir()
	for name, mode := range map[string]os.FileMode{"scripts/action": 0o755, "install.sh": 0o755} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(source, name), string(text), mode)
	}
	write(t, filepath.Join(source, "CHANGELOG.md"), "# Changelog\n\n"+heading+"\n\n## v1.0.0\n", 0o644)
	temp := newTarget(t)
	cmd := exec.Command(p.shell[0], filepath.Join(source, "scripts/action"), "install", filepath.Join(string(temp), "poll"))
	cmd.Env = []string{"PATH=" + p.tools, "POLL_BASE_URL=" + url, "GITHUB_ACTIONS=true", "GITHUB_ACTION_PATH=" + source,
		"RUNNER_OS=Linux", "RUNNER_ARCH=X64", "RUNNER_TEMP=" + filepath.Dir(string(temp)), "INPUT_VERSION=" + version, "no_proxy=*"}
	return cmd, temp
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestAction(t *testing.T) {
	t.Parallel()
	const needsGo = "::error title=poll::there is no release for this: building poll needs Go"
	for name, test := range map[string]struct {
		heading, version string
		change           func(*published)
		code             int
		said, installed  string
	}{
		"its own release":             {heading: "## v1.2.3 (2026-12-01)", said: "poll v1.2.3", installed: "v1.2.3"},
		"between releases":            {heading: "## Unreleased", code: 2, said: needsGo},
		"no such release":             {heading: "## v1.2.4", code: 2, said: needsGo},
		"no release for the system":   {heading: "## v1.2.3", change: func(r *published) { r.systems = nil; r.sumUp() }, code: 2, said: needsGo},
		"a release that is asked for": {heading: "## Unreleased", version: "v1.2.3", said: "poll v1.2.3", installed: "v1.2.3"},
		"the latest":                  {heading: "## v1.0.0", version: "latest", said: "poll v1.2.3", installed: "v1.2.3"},
		"asked for, and there is none": {heading: "## v1.2.3", version: "v1.2.4", code: 2,
			said: "::error title=poll::poll v1.2.4 cannot be installed"},
		"not what was released": {heading: "## v1.2.3", change: func(r *published) {
			r.damage("linux_amd64", func(archive []byte) []byte { return append(archive, 0) })
		}, code: 2, said: "::error title=poll::poll v1.2.3 cannot be installed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRelease(t, "v1.2.3", "linux_amd64")
			if test.change != nil {
				test.change(r)
			}
			cmd, temp := newAction(t, r.url, test.heading, test.version)
			code, said := finish(t, cmd)
			check(t, code, test.code, said, test.said)
			temp.holds(t, test.installed)
		})
	}
}

// Where there is no release but Go, the action builds its own source.
func TestActionBuilds(t *testing.T) {
	t.Parallel()
	r := newRelease(t, "v1.2.3")
	cmd, temp := newAction(t, r.url, "## v1.2.3", "")
	write(t, filepath.Join(cmd.Env[0][len("PATH="):], "go"), "#!/bin/sh\necho go \"$@\"\n", 0o755)
	code, said := finish(t, cmd)
	check(t, code, 0, said, "-o "+string(temp)+"/ .")
}
