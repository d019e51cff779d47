// Command release builds what a release consists of into dist/: archives, packages,
// an image, a formula, install.sh, a list of what is inside, and the checksums of
// all. It has to run in the root of the module.
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// dist is where a release is written: nothing else stays there.
const dist = "dist"

// A release is a version of the program, and what is known of it.
type release struct {
	version string // as the program says it, "v1.2.3"
	commit  string
	at      time.Time // of the commit: nothing in a release is younger
	work    string    // programs, each in a directory of its own, and what goes with them
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r, err := newRelease(args, work)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	if err := os.MkdirAll(dist, 0o755); err != nil {
		return err
	}
	for _, step := range []func() error{
		r.build, r.documents, r.components, r.archives, r.packages, r.image, r.installers, r.checksums,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// versionForm is what modules, packages of all formats and tags of images can hold,
// and put in order: apk takes rc1, and not rc.1.
var versionForm = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(alpha|beta|pre|rc)\d+)?$`)

func newRelease(args []string, work string) (*release, error) {
	r := release{work: work}
	var err error
	switch len(args) {
	case 0:
		r.version, err = output("git", "describe", "--tags", "--exact-match", "--match=v*")
	case 1:
		r.version = args[0]
	default:
		err = fmt.Errorf("%d versions are given", len(args))
	}
	if err != nil {
		return nil, err
	}
	if !versionForm.MatchString(r.version) {
		return nil, fmt.Errorf("%q is not a version such as v1.2.3 or v1.2.3-rc1", r.version)
	}
	if r.commit, err = output("git", "rev-parse", "HEAD"); err != nil {
		return nil, err
	}
	seconds, err := output("git", "log", "-1", "--format=%ct")
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	r.at = time.Unix(n, 0)
	return &r, err
}

// add writes a file of the release.
func (r *release) add(name string, data []byte) error {
	return os.WriteFile(filepath.Join(dist, name), data, 0o644)
}

// sum returns the checksum of a file of the release.
func (r *release) sum(name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dist, name))
	return fmt.Sprintf("%x", sha256.Sum256(data)), err
}

// checksums writes the checksum of every file of the release, and prints their sizes.
func (r *release) checksums() error {
	files, err := readDir(dist, "")
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, f := range files {
		sum, err := r.sum(f.name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, f.name)
		fmt.Printf("%6.2f MB  %s\n", float64(len(f.data))/1e6, filepath.Join(dist, f.name))
	}
	return r.add("SHA256SUMS", sums.Bytes())
}

func output(line ...string) (string, error) {
	cmd := exec.Command(line[0], line[1:]...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(line, " "), err, said.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}
