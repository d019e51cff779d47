//go:build unix

// Package install tests what installs poll: install.sh, and the step of the action
// that uses it.
package install

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const root = "../../.."

// A place has what install.sh runs by: a shell, and the tools that it finds.
type place struct {
	shell []string
	tools string // a directory: PATH
}

// base are the tools that install.sh cannot do without.
var base = []string{"cat", "chmod", "cut", "gzip", "head", "id", "mkdir", "mv", "rm", "sed", "sh", "tail", "tar", "uname"}

// newPlace returns a place with the base tools and more. A shell that is not here
// skips the test, and so does a tool; with busybox all tools are its own.
func newPlace(t *testing.T, shell string, more ...string) place {
	t.Helper()
	p := place{tools: t.TempDir()}
	for _, tool := range append(base, more...) {
		program := tool
		if shell == "busybox" && tool != "unzip" {
			program = "busybox"
		}
		path, err := exec.LookPath(program)
		if err != nil {
			t.Skip(err)
		}
		if err := os.Symlink(path, filepath.Join(p.tools, tool)); err != nil {
			t.Fatal(err)
		}
	}
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skip(err)
	}
	p.shell = []string{path}
	if shell == "busybox" {
		p.shell = append(p.shell, "sh")
	}
	return p
}

// usual is any place where install.sh works.
func usual(t *testing.T) place { return newPlace(t, "sh", "curl", "sha256sum") }

// on makes the place another system.
func (p place) on(t *testing.T, kernel, machine string) place {
	t.Helper()
	path := filepath.Join(p.tools, "uname")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	text := "#!/bin/sh\ncase $1 in -s) echo '" + kernel + "' ;; -m) echo '" + machine + "' ;; esac\n"
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

// A target is a directory to install to, which may hold another program already.
type target string

const old = "the program before\n"

func newTarget(t *testing.T) target {
	t.Helper()
	to := target(t.TempDir())
	if err := os.WriteFile(filepath.Join(string(to), "poll"), []byte(old), 0o755); err != nil {
		t.Fatal(err)
	}
	return to
}

// holds reports an error unless the target holds one program, old or that of a
// version, and nothing else.
func (to target) holds(t *testing.T, version string) {
	t.Helper()
	entries, err := os.ReadDir(string(to))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("there are %v", entries)
	}
	want := old
	if version != "" {
		want = program(version)
	}
	if have, err := os.ReadFile(filepath.Join(string(to), "poll")); err != nil || string(have) != want {
		t.Errorf("have %q and %v, want %q", have, err, want)
	}
	if info, err := os.Stat(filepath.Join(string(to), "poll")); err == nil && info.Mode() != 0o755 {
		t.Errorf("its mode is %v", info.Mode())
	}
}

func (p place) command(t *testing.T, url string, args ...string) *exec.Cmd {
	t.Helper()
	script, err := filepath.Abs(filepath.Join(root, "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(p.shell[0], append(append(p.shell[1:], script), args...)...)
	cmd.Env = []string{"PATH=" + p.tools, "POLL_BASE_URL=" + url, "HOME=/nowhere", "no_proxy=*"}
	return cmd
}

func (p place) install(t *testing.T, url string, args ...string) (code int, said string) {
	t.Helper()
	return finish(t, p.command(t, url, args...))
}

func finish(t *testing.T, cmd *exec.Cmd) (code int, said string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), string(out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, string(out)
}

func check(t *testing.T, code, wantCode int, said, want string) {
	t.Helper()
	if code != wantCode || !strings.Contains(said, want) {
		t.Errorf("have exit code %d and %q, want %d and %q", code, said, wantCode, want)
	}
}

// Every shell and every tool that people have does the same.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for name, tools := range map[string][]string{
		"dash":      {"curl", "sha256sum"},
		"busybox":   {"wget", "sha256sum"},
		"bash":      {"wget", "shasum"},
		"sh":        {"curl", "openssl"},
		"bash+wget": {"wget", "sha256sum"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shell, _, _ := strings.Cut(name, "+")
			p := newPlace(t, shell, tools...).on(t, "Linux", "x86_64")
			r := newRelease(t, "v1.2.3", "linux_amd64")
			to := newTarget(t)
			code, said := p.install(t, r.url, "--to", string(to))
			check(t, code, 0, said, string(to)+"/poll: poll v1.2.3 (fake)")
			check(t, code, 0, said, string(to)+" is not in PATH")
			to.holds(t, "v1.2.3")

			to = newTarget(t)
			code, said = p.install(t, r.url, "--to", string(to), "--version", "v1.2.4")
			check(t, code, 3, said, "there is no "+r.url+"/download/v1.2.4/SHA256SUMS")
			to.holds(t, "")

			r.damage("linux_amd64", func(archive []byte) []byte { return append(archive, 0) })
			code, said = p.install(t, r.url, "--to", string(to))
			check(t, code, 1, said, "is not what was released")
			to.holds(t, "")
		})
	}
}

func TestSystems(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ kernel, machine, want string }{
		{"Linux", "x86_64", "linux_amd64"},
		{"Linux", "aarch64", "linux_arm64"},
		{"Linux", "armv7l", "linux_armv7"},
		{"Linux", "armv8l", "linux_armv7"}, // 32 bits on a newer processor
		{"Linux", "i686", "linux_386"},
		{"Darwin", "arm64", "darwin_arm64"},
		{"Darwin", "x86_64", "darwin_amd64"},
		{"FreeBSD", "amd64", "freebsd_amd64"},
		{"Linux", "armv6l", ""},
		{"Linux", "riscv64", ""},
		{"FreeBSD", "arm64", ""},
		{"SunOS", "i86pc", ""},
	} {
		t.Run(test.kernel+" "+test.machine, func(t *testing.T) {
			t.Parallel()
			r := newRelease(t, "v1.2.3", "linux_amd64", "linux_arm64", "linux_armv7", "linux_386", "darwin_amd64", "darwin_arm64", "freebsd_amd64")
			to := newTarget(t)
			code, said := usual(t).on(t, test.kernel, test.machine).install(t, r.url, "--to="+string(to))
			if test.want == "" {
				check(t, code, 3, said, "install.sh: ")
				to.holds(t, "")
				return
			}
			check(t, code, 0, said, "poll v1.2.3")
			to.holds(t, "v1.2.3")
			if !r.asked("/download/v1.2.3/poll_v1.2.3_" + test.want + ".tar.gz") {
				t.Errorf("the archive for %s was not asked for", test.want)
			}
		})
	}
}

func TestWindows(t *testing.T) {
	t.Parallel()
	r := newRelease(t, "v1.2.3", "windows_amd64")
	to := t.TempDir()
	code, said := newPlace(t, "sh", "curl", "sha256sum", "unzip").on(t, "MINGW64_NT-10.0-20348", "x86_64").install(t, r.url, "--to", to)
	check(t, code, 0, said, to+"/poll.exe: poll v1.2.3")
	if have, err := os.ReadFile(filepath.Join(to, "poll.exe")); err != nil || string(have) != program("v1.2.3") {
		t.Errorf("have %q and %v", have, err)
	}
}

// Whatever is wrong with a release, the program that is there stays.
func TestBrokenReleases(t *testing.T) {
	t.Parallel()
	const archive = "/download/v1.2.3/poll_v1.2.3_linux_amd64.tar.gz"
	for name, test := range map[string]struct {
		change func(r *published)
		code   int
		said   string
	}{
		"cut on its way": {func(r *published) { r.cut = archive }, 1, "cannot download"},
		"cut before its sum was taken": {func(r *published) {
			r.damage("linux_amd64", func(data []byte) []byte { return data[:len(data)/2] })
			r.sumUp()
		}, 1, "cannot unpack poll_v1.2.3_linux_amd64.tar.gz: "},
		"no archive of that name": {func(r *published) { delete(r.files, archive) }, 3, "there is no " + archive},
		"no archive for the system": {func(r *published) {
			r.files["/latest/download/SHA256SUMS"] = []byte("00  poll_v1.2.3_plan9_amd64.tar.gz\n00  poll_v/../x_linux_amd64.tar.gz\n")
		}, 3, "no archive for linux_amd64"},
		"another version inside": {func(r *published) { r.pack("linux_amd64", program("v1.2.2")); r.sumUp() }, 1,
			"the program is not poll v1.2.3, but: poll v1.2.2"},
		"a program that does not run": {func(r *published) { r.pack("linux_amd64", "#!/bin/sh\necho no such thing\nexit 1\n"); r.sumUp() }, 1,
			"the program does not run here: no such thing"},
		"an error of the server": {func(r *published) { r.broken = true }, 1, "cannot download"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRelease(t, "v1.2.3", "linux_amd64")
			test.change(r)
			to := newTarget(t)
			code, said := usual(t).on(t, "Linux", "x86_64").install(t, r.url, "--to", string(to))
			check(t, code, test.code, strings.ReplaceAll(said, r.url, ""), test.said)
			to.holds(t, "")
		})
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	r := newRelease(t, "v1.2.3", "linux_amd64")
	for version, want := range map[string]string{
		"v1.2.3": "/download/v1.2.3/SHA256SUMS", "1.2.3": "/download/v1.2.3/SHA256SUMS", "latest": "/latest/download/SHA256SUMS",
	} {
		r.forget()
		to := newTarget(t)
		code, said := usual(t).on(t, "Linux", "x86_64").install(t, r.url, "--version", version, "--to", string(to))
		check(t, code, 0, said, "poll v1.2.3")
		to.holds(t, "v1.2.3")
		if !r.asked(want) {
			t.Errorf("%s: %s was not asked for", version, want)
		}
	}
	r.files["/download/v1.3.0/SHA256SUMS"] = r.files["/download/v1.2.3/SHA256SUMS"]
	code, said := usual(t).on(t, "Linux", "x86_64").install(t, r.url, "--version", "v1.3.0", "--to", t.TempDir())
	check(t, code, 1, said, "the release v1.3.0 says that it is v1.2.3")
}

func TestWhatIsMissing(t *testing.T) {
	t.Parallel()
	r := newRelease(t, "v1.2.3", "linux_amd64")
	for _, test := range []struct {
		tools []string
		said  string
	}{
		{[]string{"sha256sum"}, "this needs curl or wget, and there is none"},
		{[]string{"curl"}, "this needs sha256sum or shasum or openssl, and there is none"},
	} {
		to := newTarget(t)
		code, said := newPlace(t, "sh", test.tools...).on(t, "Linux", "x86_64").install(t, r.url, "--to", string(to))
		check(t, code, 1, said, test.said)
		to.holds(t, "")
	}
	for _, tool := range []string{"tar", "gzip"} {
		p := usual(t).on(t, "Linux", "x86_64")
		if err := os.Remove(filepath.Join(p.tools, tool)); err != nil {
			t.Fatal(err)
		}
		to := newTarget(t)
		code, said := p.install(t, r.url, "--to", string(to))
		check(t, code, 1, said, "this needs "+tool+", and there is none")
		to.holds(t, "")
	}
	code, said := usual(t).on(t, "Linux", "x86_64").install(t, r.url, "--to", "/dev/null/bin")
	check(t, code, 1, said, "there is no directory /dev/null/bin: choose another with --to")
	to := t.TempDir()
	if err := os.Mkdir(filepath.Join(to, "poll"), 0o755); err != nil {
		t.Fatal(err)
	}
	code, said = usual(t).on(t, "Linux", "x86_64").install(t, r.url, "--to", to)
	check(t, code, 1, said, to+"/poll is a directory")
}

func TestUsage(t *testing.T) {
	t.Parallel()
	p := usual(t)
	for _, args := range [][]string{{"--to"}, {"--to="}, {"--version"}, {"--version", "main"}, {"v1.2.3"}, {"-x"}} {
		code, said := p.install(t, "http://127.0.0.1:9", args...)
		check(t, code, 2, said, "install.sh: ")
	}
	code, said := p.install(t, "http://example.com/releases", "--help")
	check(t, code, 0, said, "install.sh [--version VERSION] [--to DIR]")
	check(t, code, 0, said, "http://example.com/releases")
}

// The script may come through a pipe: it does nothing before it is whole.
func TestFromPipe(t *testing.T) {
	t.Parallel()
	r := newRelease(t, "v1.2.3", "linux_amd64")
	script, err := os.ReadFile(filepath.Join(root, "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []int{len(script), len(script) - len("main \"$@\"\n"), len(script) / 2} {
		to := newTarget(t)
		p := usual(t).on(t, "Linux", "x86_64")
		cmd := p.command(t, r.url)
		cmd.Args = []string{p.shell[0], "-s", "--", "--to", string(to)}
		cmd.Stdin = bytes.NewReader(script[:part])
		code, said := finish(t, cmd)
		if part == len(script) {
			check(t, code, 0, said, "poll v1.2.3")
			to.holds(t, "v1.2.3")
		} else {
			to.holds(t, "")
		}
	}
}

// A signal in the middle leaves what was there.
func TestSignal(t *testing.T) {
	t.Parallel()
	r := newRelease(t, "v1.2.3", "linux_amd64")
	begun := make(chan struct{})
	r.hang = func(request *http.Request) {
		close(begun)
		<-request.Context().Done()
	}
	to := newTarget(t)
	cmd := usual(t).on(t, "Linux", "x86_64").command(t, r.url, "--to", string(to))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 143 {
		t.Errorf("have %v, want exit code 143", err)
	}
	to.holds(t, "")
}
