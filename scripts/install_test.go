//go:build unix

// Package scripts tests what installs and runs poll elsewhere: install.sh and scripts/action.
package scripts

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A release is a directory that is served as GitHub would.
type release string

// program is what the archives of a version hold.
func program(version, system string) string {
	return fmt.Sprintf("#!/bin/sh\necho 'poll %s (%s) go0'\n", version, system)
}

// publish serves v1.2.3, which is the latest, for all systems.
func publish(t *testing.T) (release, string) {
	t.Helper()
	r := release(t.TempDir())
	write(t, r.bundle(), "signed\n", 0o644)
	for _, system := range strings.Fields("linux_amd64 linux_arm64 linux_armv7 linux_386 darwin_amd64 darwin_arm64 freebsd_amd64 windows_amd64") {
		r.pack(t, system, program("v1.2.3", system))
	}
	r.sumUp(t)
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return r, server.URL
}

// ServeHTTP answers as the file "answers" says, if there is one: for each name it has what becomes of it, "cut"
// in the middle or a URL. GitHub redirects, too: a path below /moved is that of the file.
func (r release) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	answers, _ := os.ReadFile(filepath.Join(string(r), "answers"))
	for line := range strings.Lines(string(answers)) {
		name, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case !strings.HasSuffix(req.URL.Path, name) || strings.HasPrefix(req.URL.Path, "/moved/"):
		case what == "cut":
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, "the first bytes")
			return
		default:
			http.Redirect(w, req, strings.ReplaceAll(what, "PATH", req.URL.Path), http.StatusFound)
			return
		}
	}
	http.ServeFile(w, req, filepath.Join(string(r), strings.TrimPrefix(req.URL.Path, "/moved")))
}

// answers has names answered in another way, see ServeHTTP.
func answers(text string) func(*testing.T, release) {
	return func(t *testing.T, r release) { write(t, filepath.Join(string(r), "answers"), text, 0o644) }
}

func (r release) bundle() string {
	return filepath.Join(string(r), "download/v1.2.3/provenance.sigstore.json")
}

// gh is a GitHub CLI that takes the bundle "signed" for the archive of the release's workflow.
const gh = `#!/bin/sh
case $* in
"attestation verify --help") echo "  --signer-workflow string" ;;
"attestation verify "*/poll_v1.2.3_linux_amd64.tar.gz" --bundle "*" --repo pollcli/poll --signer-workflow pollcli/poll/.github/workflows/release.yml")
	[ "$(cat "$5")" = signed ] && echo verified && exit
	echo "Error: verifying with issuer sigstore.dev" >&2
	exit 1
	;;
*) echo "what is $*" >&2 && exit 1 ;;
esac
`

// oldGH knows no attestations.
const oldGH = "#!/bin/sh\necho \"unknown command $1\" >&2\nexit 1\n"

func (r release) archive(system string) string {
	suffix := ".tar.gz"
	if strings.HasPrefix(system, "windows") {
		suffix = ".zip"
	}
	return filepath.Join(string(r), "download/v1.2.3/poll_v1.2.3_"+system+suffix)
}

// pack makes the archive for a system, of one program.
func (r release) pack(t *testing.T, system, text string) {
	t.Helper()
	var packed bytes.Buffer
	if strings.HasPrefix(system, "windows") {
		archive := zip.NewWriter(&packed)
		member, _ := archive.Create("poll.exe")
		io.WriteString(member, text)
		archive.Close()
	} else {
		compressed := gzip.NewWriter(&packed)
		archive := tar.NewWriter(compressed)
		archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "poll", Mode: 0o755, Size: int64(len(text))})
		io.WriteString(archive, text)
		archive.Close()
		compressed.Close()
	}
	write(t, r.archive(system), packed.String(), 0o644)
}

// sumUp makes the checksums of all archives.
func (r release) sumUp(t *testing.T) {
	t.Helper()
	sums := fmt.Sprintf("%x  install.sh\n", sha256.Sum256(nil))
	archives, _ := filepath.Glob(filepath.Join(string(r), "download/v1.2.3/poll_*"))
	for _, path := range archives {
		data := must(os.ReadFile(path))
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256(data), filepath.Base(path))
	}
	write(t, filepath.Join(string(r), "download/v1.2.3/SHA256SUMS"), sums, 0o644)
	write(t, filepath.Join(string(r), "latest/download/SHA256SUMS"), sums, 0o644)
}

// damaged cuts an archive in the middle.
func (r release) damaged(t *testing.T) {
	t.Helper()
	if err := os.Truncate(r.archive("linux_amd64"), 80); err != nil {
		t.Fatal(err)
	}
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

// actionLine is the step of the action that installs, in a source whose list of changes begins with
// a heading.
func actionLine(t *testing.T, heading, to string) []string {
	t.Helper()
	source := t.TempDir()
	for _, file := range []string{"scripts/action", "install.sh"} {
		text := must(os.ReadFile("../" + file))
		write(t, filepath.Join(source, file), string(text), 0o755)
	}
	write(t, filepath.Join(source, "CHANGELOG.md"), "# Changelog\n\n"+heading+"\n\n## v1.0.0\n", 0o644)
	return []string{"bash", filepath.Join(source, "scripts/action"), "install", to}
}

// tools returns a directory for PATH with what install.sh cannot do without, and more, on a
// system such as "Linux x86_64". The test is skipped if a tool is missing.
func tools(t *testing.T, system, more string) string {
	t.Helper()
	dir := t.TempDir()
	for _, tool := range strings.Fields("cat chmod cut dirname gzip head id mkdir mv rm sed sh tail tar " + more) {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Skip(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, tool)); err != nil {
			t.Fatal(err)
		}
	}
	kernel, machine, _ := strings.Cut(system, " ")
	write(t, filepath.Join(dir, "uname"), fmt.Sprintf("#!/bin/sh\ncase $1 in -s) echo %s ;; -m) echo %s ;; esac\n", kernel, machine), 0o755)
	return dir
}

// finish runs a command to its end.
func finish(t *testing.T, cmd *exec.Cmd) (code int, said string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// wantFile wants a directory with this file only.
func wantFile(t *testing.T, path, want string) {
	t.Helper()
	have, err := os.ReadFile(path)
	entries, _ := os.ReadDir(filepath.Dir(path))
	if err != nil || string(have) != want || len(entries) != 1 {
		t.Errorf("%s is %q with %v among %v, want %q alone", path, have, err, entries, want)
	}
}

func TestInstall(t *testing.T) {
	t.Parallel()
	const needsGo = "::error title=poll::there is no release for this: building poll needs Go"
	script := must(os.ReadFile("../install.sh"))
	for _, test := range []struct {
		system, tools, args string // by default Linux x86_64, with curl and sha256sum
		shell               string // not sh
		cut                 int    // bytes that are missing at the end of the script
		action, version     string // the heading of the action's changes, and the version that it is asked for
		hasGo               bool
		gh                  string // the GitHub CLI, if there is one
		change              func(*testing.T, release)
		code                int
		said                string
	}{
		{said: "poll v1.2.3 (linux_amd64)"},
		{shell: "dash", said: "(linux_amd64)"},
		{shell: "bash", said: "(linux_amd64)"},
		{shell: "busybox sh", said: "(linux_amd64)"},
		{cut: len("main \"$@\"\n")},
		{cut: len(script) / 2, code: 2},
		{tools: "wget shasum", said: "is not in PATH"},
		{tools: "curl openssl", said: "(linux_amd64)"},
		{system: "Linux aarch64", said: "(linux_arm64)"},
		{system: "Linux armv7l", said: "(linux_armv7)"},
		{system: "Linux armv8l", said: "(linux_armv7)"}, // 32 bits on a newer processor
		{system: "Linux i686", said: "(linux_386)"},
		{system: "Darwin arm64", said: "(darwin_arm64)"},
		{system: "FreeBSD amd64", said: "(freebsd_amd64)"},
		{system: "MINGW64_NT-10.0-20348 x86_64", tools: "curl sha256sum unzip", said: "(windows_amd64)"},
		{system: "Linux riscv64", code: 3, said: "no release for Linux on riscv64"},
		{system: "SunOS i86pc", code: 3, said: "no release for SunOS"},
		{system: "FreeBSD arm64", code: 3, said: "no archive for freebsd_arm64"},
		{args: "--version=v1.2.3", said: "v1.2.3"},
		{args: "--version 1.2.3", said: "v1.2.3"},
		{args: "--version v1.2.4", code: 3, said: "there is no http"},
		{tools: "wget sha256sum", args: "--version v1.2.4", code: 3, said: "there is no http"},
		{tools: "sha256sum", code: 1, said: "this needs curl or wget, and there is none"},
		{tools: "curl", code: 1, said: "this needs sha256sum or shasum or openssl, and there is none"},
		{args: "--version main", code: 2, said: "neither latest nor a version"},
		{args: "--to", code: 2, said: "--to needs a value"},
		{args: "-x", code: 2, said: "what is -x?"},
		{args: "--to /dev/null/bin", code: 1, said: "choose another with --to"},
		{change: func(t *testing.T, r release) { r.damaged(t) }, code: 1, said: "is not what was released"},
		{change: func(t *testing.T, r release) { r.damaged(t); r.sumUp(t) }, code: 1, said: "cannot unpack"},
		{change: func(t *testing.T, r release) { os.Remove(r.archive("linux_amd64")) }, code: 3, said: "there is no "},
		{change: func(t *testing.T, r release) { r.pack(t, "linux_amd64", program("v1.2.2", "")); r.sumUp(t) },
			code: 1, said: "the program is not poll v1.2.3, but: poll v1.2.2"},
		{change: func(t *testing.T, r release) { r.pack(t, "linux_amd64", "#!/bin/sh\necho no\nexit 1\n"); r.sumUp(t) },
			code: 1, said: "the program does not run here: no"},
		{args: "--version v1.3.0", change: func(t *testing.T, r release) { os.Symlink("v1.2.3", string(r)+"/download/v1.3.0") },
			code: 1, said: "the release v1.3.0 says that it is v1.2.3"},
		{change: func(t *testing.T, r release) { // another's checksum
			sums, _ := os.ReadFile(filepath.Join(string(r), "latest/download/SHA256SUMS"))
			other := strings.NewReplacer("linux_amd64", "linux_arm64", "linux_arm64", "linux_amd64").Replace(string(sums))
			write(t, filepath.Join(string(r), "latest/download/SHA256SUMS"), other, 0o644)
		}, code: 1, said: "is not what was released"},
		{change: func(t *testing.T, r release) { r.pack(t, "linux_amd64", program("v1.2.3", "tampered")) }, code: 1, said: "is not what was released"},
		{change: answers("linux_amd64.tar.gz cut"), code: 1, said: "cannot download"},
		{change: answers("SHA256SUMS cut"), code: 1, said: "cannot download"},
		{change: answers("linux_amd64.tar.gz /movedPATH\nSHA256SUMS /movedPATH"), said: "(linux_amd64)"},
		{change: answers("linux_amd64.tar.gz /download/v1.2.3/poll_v1.2.3_linux_arm64.tar.gz"), code: 1, said: "is not what was released"},
		{change: answers("linux_amd64.tar.gz PATH"), code: 1, said: "cannot download"}, // for ever
		{change: answers("linux_amd64.tar.gz file:///etc/hostname"), code: 1, said: "cannot download"},
		{change: answers("linux_amd64.tar.gz https://127.0.0.1:1/x"), code: 1, said: "rotocol"},
		{said: "its provenance is not verified: gh is not installed"},
		{gh: gh, said: "gh confirms that the release workflow of pollcli/poll has built it"},
		{gh: gh, shell: "dash", said: "gh confirms"},
		{gh: oldGH, said: "its provenance is not verified: gh is too old"},
		{gh: gh, change: func(t *testing.T, r release) { write(t, r.bundle(), "forged\n", 0o644) },
			code: 1, said: "gh does not confirm that pollcli/poll has built poll_v1.2.3_linux_amd64.tar.gz: Error: verifying"},
		{gh: gh, change: func(t *testing.T, r release) { write(t, r.bundle(), "forged\n", 0o644) },
			args: "--without-provenance", said: "its provenance is not verified: --without-provenance"},
		{gh: gh, change: func(t *testing.T, r release) { os.Remove(r.bundle()) }, code: 1, said: "provenance.sigstore.json"},
		{gh: gh, change: func(t *testing.T, r release) { r.damaged(t) }, code: 1, said: "is not what was released"},
		{action: "## v1.2.3", gh: gh, change: func(t *testing.T, r release) { os.Remove(r.bundle()) }, hasGo: true, code: 2, said: "cannot be installed"},
		{action: "## v1.2.3 (2026-12-01)", said: "(linux_amd64)"},
		{action: "## Unreleased", version: "v1.2.3", said: "(linux_amd64)"},
		{action: "## v1.0.0", version: "latest", said: "(linux_amd64)"},
		{action: "## Unreleased", code: 2, said: needsGo},
		{action: "## Unreleased", hasGo: true, said: "go build"},
		{action: "## v1.2.4", code: 2, said: needsGo},
		{action: "## v1.2.3", system: "Linux riscv64", code: 2, said: needsGo},
		{action: "## v1.2.3", version: "v1.2.4", hasGo: true, code: 2, said: "poll v1.2.4 cannot be installed"},
		{action: "## v1.2.3", change: func(t *testing.T, r release) { r.damaged(t) }, code: 2, said: "poll v1.2.3 cannot be installed"},
	} {
		t.Run(test.said, func(t *testing.T) {
			t.Parallel()
			r, url := publish(t)
			if test.change != nil {
				test.change(t, r)
			}
			to := filepath.Join(t.TempDir(), "poll")
			if strings.HasPrefix(test.system, "MINGW") {
				to += ".exe"
			}
			write(t, to, "the program before\n", 0o755)
			// It comes through a pipe, and does nothing before it is whole.
			line := strings.Fields(cmp.Or(test.shell, "sh") + " -s -- --to=" + filepath.Dir(to) + " " + test.args)
			if test.action != "" {
				line = actionLine(t, test.action, to)
			}
			if _, err := exec.LookPath(line[0]); err != nil {
				t.Skip(err)
			}
			path := tools(t, cmp.Or(test.system, "Linux x86_64"), cmp.Or(test.tools, "curl sha256sum"))
			if test.hasGo {
				write(t, filepath.Join(path, "go"), "#!/bin/sh\necho go \"$@\"\n", 0o755)
			}
			if test.gh != "" {
				write(t, filepath.Join(path, "gh"), test.gh, 0o755)
			}
			cmd := exec.Command(line[0], line[1:]...)
			cmd.Stdin = bytes.NewReader(script[:len(script)-test.cut])
			cmd.Env = []string{"PATH=" + path, "POLL_BASE_URL=" + url, "INPUT_VERSION=" + test.version, "HOME=/nowhere", "no_proxy=*"}
			code, said := finish(t, cmd)
			if code != test.code || !strings.Contains(said, test.said) {
				t.Errorf("exit code %d and %q, want %d and %q", code, said, test.code, test.said)
			}
			want := "the program before\n"
			if _, system, ok := strings.Cut(said, "poll v1.2.3 ("); ok && code == 0 {
				system, _, _ = strings.Cut(system, ")")
				want = program("v1.2.3", system)
			}
			wantFile(t, to, want)
		})
	}
}

// A released program says the version of its archive, which install.sh looks for.
func TestRelease(t *testing.T) {
	t.Parallel()
	config := must(os.ReadFile("../.goreleaser.yaml"))
	m := regexp.MustCompile(`ldflags: \["(.*)"\]`).FindStringSubmatch(strings.ReplaceAll(string(config), "{{.Version}}", "1.2.3-rc1"))
	if m == nil || !strings.Contains(string(config), `name_template: "poll_v{{.Version}}_{{.Os}}_{{.Arch}}{{with .Arm}}v{{.}}{{end}}"`) {
		t.Fatal("there are no ldflags, or archives have another name")
	}
	poll := filepath.Join(t.TempDir(), "poll.exe")
	if code, said := finish(t, exec.Command("go", "build", "-ldflags="+m[1], "-o", poll, "..")); code != 0 {
		t.Fatal(said)
	}
	if _, said := finish(t, exec.Command(poll, "--version")); !strings.HasPrefix(said, "poll v1.2.3-rc1 ") {
		t.Errorf("it says %q", said)
	}
}
