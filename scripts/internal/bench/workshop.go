//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const floors = "./scripts/internal/bench/floor/"

// A workshop has the programs to measure; "" is one that is not there.
type workshop struct {
	rounds int
	dir    string // for files
	before string // another build of poll, to compare it with

	poll, start, exec, http, many, spawn string // built here
	bash, curl, jq, xargs, parallel      string // found
	recur, debian, joshd                 string
	yes, no                              string // true(1) and false(1)

	server *httptest.Server
	url    string
	crowd  *visits
}

// prepare builds some programs, stripped and without paths as for a release, and
// finds the rest. It has to run in the root of the module.
func prepare(dir, before string, rounds int) (*workshop, error) {
	w := &workshop{rounds: rounds, dir: dir, before: before}
	for program, pkg := range map[*string]string{
		&w.poll: ".", &w.start: floors + "start", &w.exec: floors + "exec", &w.http: floors + "http", &w.many: floors + "many",
	} {
		*program = filepath.Join(dir, filepath.Base(pkg))
		if pkg == "." {
			*program = filepath.Join(dir, "poll")
		}
		build := exec.Command("go", "build", "-trimpath", "-tags=urfave_cli_no_docs", "-ldflags=-s -w", "-o", *program, pkg)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := build.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	w.spawn = compileC(filepath.Join(dir, "spawn"))
	for program, name := range map[*string]string{&w.bash: "bash", &w.curl: "curl", &w.jq: "jq", &w.xargs: "xargs",
		&w.parallel: "parallel", &w.recur: "recur", &w.yes: "true", &w.no: "false"} {
		*program, _ = exec.LookPath(name)
	}
	if w.yes == "" || w.no == "" {
		return nil, errors.New("no true(1) and false(1) in PATH")
	}
	w.debian = findRetry("debian-retry", "--times")
	w.joshd = findRetry("joshdk-retry", "-consecutive")
	w.serve()
	return w, nil
}

func compileC(program string) string {
	cc, err := exec.LookPath("cc")
	if err != nil {
		return ""
	}
	if exec.Command(cc, "-O2", "-o", program, floors+"spawn/spawn.c").Run() != nil {
		return ""
	}
	return program
}

// findRetry finds one of the two tools called retry: by a name of its own, or by a
// word in its help.
func findRetry(name, word string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	path, err := exec.LookPath("retry")
	if err != nil {
		return ""
	}
	help, _ := exec.Command(path, "--help").CombinedOutput()
	if !strings.Contains(string(help), word) {
		return ""
	}
	return path
}

func (w *workshop) serve() {
	w.crowd = newVisits()
	mux := http.NewServeMux()
	mux.Handle("/many/", w.crowd)
	mux.Handle("/list/", &lists{asked: make(map[string]int)})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"id":42,"state":"pending","progress":17}`))
	})
	w.server = httptest.NewServer(mux)
	w.url, w.crowd.url = w.server.URL, w.server.URL+"/many/"
}

func (w *workshop) close() { w.server.Close() }

func heading() string {
	return fmt.Sprintf(`# Bench

Written by `+"`scripts/bench -write`"+` on %s, %d cores, %s, %s/%s.

Every figure is the median of several rounds, in which all programs of a table take turns. The cost of a program is user and system
time, with that of its children. The last column is poll's cost as a multiple of the other's, also the median over the
rounds: less than 1 means that poll costs less.
`, processor(), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func processor() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "an unknown processor"
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if key, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "an unknown processor"
}
