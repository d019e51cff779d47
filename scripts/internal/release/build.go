package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// A target is a system to build for.
type target struct{ os, arch string }

func targets() []target {
	return []target{
		{"linux", "amd64"}, {"linux", "arm64"}, {"linux", "armv7"}, {"linux", "386"},
		{"darwin", "amd64"}, {"darwin", "arm64"},
		{"windows", "amd64"}, {"windows", "arm64"},
		{"freebsd", "amd64"},
	}
}

func (t target) String() string { return t.os + "_" + t.arch }

// program returns the name of the program's file.
func (t target) program() string {
	if t.os == "windows" {
		return "poll.exe"
	}
	return "poll"
}

// environment returns what tells Go to build for the target, on any machine alike.
func (t target) environment() []string {
	arch := t.arch
	if arch == "armv7" {
		arch = "arm"
	}
	return []string{
		"CGO_ENABLED=0", "GOOS=" + t.os, "GOARCH=" + arch,
		"GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOARM=7", "GO386=sse2",
	}
}

// linkFlags leaves out what only debuggers read, and sets the version.
func linkFlags(version string) string {
	return "-s -w -X github.com/pollcli/poll/internal/cli.release=" + version
}

// build builds the program for every target.
func (r *release) build() error {
	for _, t := range targets() {
		if err := r.buildFor(t, r.program(t)); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	return nil
}

func (r *release) buildFor(t target, to string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=auto", "-tags=urfave_cli_no_docs",
		"-ldflags="+linkFlags(r.version), "-o", to, ".")
	cmd.Env = append(os.Environ(), t.environment()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// program returns where the program for a target is.
func (r *release) program(t target) string { return filepath.Join(r.work, t.String(), t.program()) }

// buildHere builds the program for this machine, which need not be a target.
func (r *release) buildHere() (string, error) {
	to := filepath.Join(r.work, "here", "poll")
	return to, r.buildFor(target{runtime.GOOS, runtime.GOARCH}, to)
}
