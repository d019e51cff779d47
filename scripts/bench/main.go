//go:build linux

// Command bench compares poll with the least that the same work costs a Go program, and writes
// all figures with their limits; docs/bench.md has those of users.
//
//	go run ./scripts/bench
package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// rounds is how often everything is measured.
const rounds = 15

func main() {
	if err := bench(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench() error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := prepare(dir)
	if err != nil {
		return err
	}
	defer b.server.Close()
	var results []result
	for _, w := range b.works() {
		fmt.Fprintln(os.Stderr, w.name)
		r, err := w.compare()
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		results = append(results, r)
	}
	_, err = os.Stdout.Write(page(results))
	return err
}

// A workshop has what is measured.
type workshop struct {
	dir         string // of a file with targets
	poll, floor string // programs
	server      *httptest.Server
	asked       atomic.Int64 // requests
}

// prepare builds poll, as it is released, and the floor. It runs in the root of the module.
func prepare(dir string) (*workshop, error) {
	b := &workshop{dir: dir, poll: filepath.Join(dir, "poll"), floor: filepath.Join(dir, "floor")}
	for program, pkg := range map[string]string{b.poll: ".", b.floor: "./scripts/bench/floor"} {
		cmd := exec.Command("go", "build", "-trimpath", "-tags=urfave_cli_no_docs", "-ldflags=-s -w", "-o", program, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	var text bytes.Buffer
	for i := range targets {
		fmt.Fprintln(&text, i+1)
	}
	b.server = httptest.NewServer(b.jobs())
	return b, os.WriteFile(filepath.Join(dir, "targets"), text.Bytes(), 0o644)
}

// jobs answers with a job, or at /list with many.
func (b *workshop) jobs() http.Handler {
	const job = `{"id":%d,"state":"running","note":%q}`
	note := strings.Repeat("x", 230)
	list := make([]string, elements)
	for i := range list {
		list[i] = fmt.Sprintf(job, 1000+i, note)
	}
	all := `{"jobs":[` + strings.Join(list, ",") + `]}`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/list" {
			fmt.Fprint(w, all)
			return
		}
		fmt.Fprintf(w, job, 42, note)
		b.asked.Add(1)
	})
}
