//go:build linux

// Command bench compares poll with the least that the same work costs a Go program, and writes
// all figures with their limits; docs/bench.md has those of users.
//
//	go run ./scripts/bench
package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
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
	b, err := prepare(dir, full, "-trimpath", "-tags=urfave_cli_no_docs", "-ldflags=-s -w")
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

// A workshop has the programs and servers of the measurements.
type workshop struct {
	sizes
	dir               string // of a file with targets
	poll, floor, loop string // programs
	server            *httptest.Server
	asked             atomic.Int64 // requests
}

// prepare builds poll, the floor and the loop with flags, and starts the server.
func prepare(dir string, of sizes, flags ...string) (*workshop, error) {
	b := &workshop{sizes: of, dir: dir, poll: filepath.Join(dir, "poll"), floor: filepath.Join(dir, "floor"), loop: filepath.Join(dir, "loop")}
	for program, pkg := range map[string]string{b.poll: "", b.floor: "/scripts/bench/floor", b.loop: "/scripts/bench/loop"} {
		cmd := exec.Command("go", slices.Concat([]string{"build"}, flags, []string{"-o", program, "github.com/pollcli/poll" + pkg})...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build poll%s: %w\n%s", pkg, err, out)
		}
	}
	b.server = httptest.NewServer(b.jobs())
	return b, errors.Join(b.write("targets", b.targets, "%d\n", ""), b.write("log", b.lines, logLine, "ready\n"))
}

const (
	logLine = "%08d GET /jobs/42 was answered within 12 ms, as most requests of that kind are\n"
	ndjson  = `{"id":%d,"state":"running","note":"a message as they come from a watch or an event stream"}` + "\n"
)

// write writes a file of n numbered lines, and a last one.
func (b *workshop) write(name string, n int, format, last string) error {
	var text bytes.Buffer
	for i := range n {
		fmt.Fprintf(&text, format, i+1)
	}
	return os.WriteFile(filepath.Join(b.dir, name), append(text.Bytes(), last...), 0o644)
}

// stream sends many messages, or one that says when it was sent.
func (b *workshop) stream(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/ndjson" {
		w.Header().Set("Content-Type", "application/x-ndjson")
		for i := range b.lines {
			fmt.Fprintf(w, ndjson, i+1)
		}
		fmt.Fprintln(w, `{"state":"done"}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "data: {\"state\":\"running\"}\n\n")
	w.(http.Flusher).Flush()
	time.Sleep(200 * time.Millisecond)
	fmt.Fprintf(w, "data: {\"state\":\"done\",\"at\":%d}\n\n", time.Now().UnixNano())
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// jobs answers with a job, at /list with many, and with streams.
func (b *workshop) jobs() http.Handler {
	const job = `{"id":%d,"state":"running","note":%q}`
	note := strings.Repeat("x", 230)
	list := make([]string, b.elements)
	for i := range list {
		list[i] = fmt.Sprintf(job, 1000+i, note)
	}
	all := `{"jobs":[` + strings.Join(list, ",") + `]}`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/ndjson", "/events":
			b.stream(w, r)
			return
		case "/list":
			fmt.Fprint(w, all)
			return
		}
		fmt.Fprintf(w, job, 42, note)
		b.asked.Add(1)
	})
}
