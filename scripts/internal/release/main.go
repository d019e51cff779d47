// Command release builds the archives of a release into dist/. It has to run in
// the root of the module.
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const dist = "dist"

// A target is a system to build for.
type target struct{ os, arch string }

func targets() []target {
	return []target{
		{"linux", "amd64"}, {"linux", "arm64"},
		{"darwin", "amd64"}, {"darwin", "arm64"},
		{"windows", "amd64"}, {"windows", "arm64"},
	}
}

func main() {
	if err := release(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func release(args []string) error {
	version, at, err := commit()
	if err != nil {
		return err
	}
	if len(args) > 0 {
		version = args[0]
	}
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	shared, err := documents(work)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dist, 0o755); err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, t := range targets() {
		name, data, err := t.archive(work, version, shared, at)
		if err != nil {
			return fmt.Errorf("%s/%s: %w", t.os, t.arch, err)
		}
		if err := os.WriteFile(filepath.Join(dist, name), data, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), name)
		fmt.Printf("%s, %.1f MB\n", filepath.Join(dist, name), float64(len(data))/1e6)
	}
	return os.WriteFile(filepath.Join(dist, "SHA256SUMS"), sums.Bytes(), 0o644)
}

// commit returns the version to release, and the time of its commit.
func commit() (version string, at time.Time, err error) {
	if version, err = output("git", "describe", "--tags", "--always", "--dirty"); err != nil {
		return "", at, err
	}
	seconds, err := output("git", "log", "-1", "--format=%ct")
	if err != nil {
		return "", at, err
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	return version, time.Unix(n, 0), err
}

// documents returns the files that are the same on all systems.
func documents(work string) ([]file, error) {
	var files []file
	for _, name := range []string{"README.md", "LICENSE", "CHANGELOG.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, data})
	}
	poll := filepath.Join(work, "poll")
	if _, err := output("go", "build", "-o", poll, "."); err != nil {
		return nil, err
	}
	for _, made := range []struct {
		name string
		args []string
	}{
		{"completions/poll.bash", []string{"completion", "bash"}},
		{"completions/_poll", []string{"completion", "zsh"}},
		{"completions/poll.fish", []string{"completion", "fish"}},
		{"man/man1/poll.1", []string{"man"}},
	} {
		data, err := exec.Command(poll, made.args...).Output()
		if err != nil {
			return nil, fmt.Errorf("make %s: %w", made.name, err)
		}
		files = append(files, file{made.name, 0o644, data})
	}
	return files, nil
}

// archive builds the program and packs it with the shared files.
func (t target) archive(work, version string, shared []file, at time.Time) (name string, data []byte, err error) {
	name = fmt.Sprintf("poll_%s_%s_%s", version, t.os, t.arch)
	program, suffix, write := "poll", ".tar.gz", writeTar
	if t.os == "windows" {
		program, suffix, write = "poll.exe", ".zip", writeZip
	}
	built, err := t.build(filepath.Join(work, name))
	if err != nil {
		return "", nil, err
	}
	files := []file{{name + "/" + program, 0o755, built}}
	for _, f := range shared {
		f.name = name + "/" + f.name
		files = append(files, f)
	}
	var packed bytes.Buffer
	if err := write(&packed, files, at); err != nil {
		return "", nil, err
	}
	return name + suffix, packed.Bytes(), nil
}

func (t target) build(to string) ([]byte, error) {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=auto", "-tags=urfave_cli_no_template", "-ldflags=-s -w", "-o", to, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %w\n%s", err, out)
	}
	return os.ReadFile(to)
}

func output(line ...string) (string, error) {
	out, err := exec.Command(line[0], line[1:]...).Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(line, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
