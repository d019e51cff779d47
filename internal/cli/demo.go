package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pollcli/poll/internal/argv"
)

func demoCommand(world World) *argv.Command {
	return &argv.Command{
		Name:    "demo",
		Summary: "watch poll wait for a job of a built-in API",
		Flags:   argv.Flags{argv.HelpFlag()},
		Run:     func(ctx context.Context, _ *argv.Line) error { return demo(ctx, world) },
	}
}

const demoCondition = `.state == "done"`

// demo waits for a job of its own API as for any other. Variables are for other waits.
func demo(ctx context.Context, world World) error {
	job, stop, err := startJob()
	if err != nil {
		return err
	}
	defer stop()
	fmt.Fprintf(world.Streams.Err, "$ poll --until '%s' %s\n", demoCondition, job)
	world.Args = []string{"--timeout", "15s", "--until", demoCondition, job}
	lookup := world.Lookup
	world.Environ, world.Lookup = nil, func(name string) (string, bool) {
		if strings.HasPrefix(name, "POLL_") {
			return "", false
		}
		return lookup(name)
	}
	_, err = world.run(ctx, newSpec(), world.wait)
	return err
}

// startJob starts the API, with a job, on a free port of the loopback interface,
// and returns the job's URL.
func startJob() (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("start the demo's API: %w", err)
	}
	var job demoJob
	mux := http.NewServeMux()
	mux.Handle("GET /jobs/42", &job)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(listener)
	return "http://" + listener.Addr().String() + "/jobs/42", func() { server.Close() }, nil
}

// A demoJob changes with each request: it is queued twice, running twice, then
// comes a rate limit, then it is done.
type demoJob struct{ looks atomic.Int64 }

func (j *demoJob) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	code, state := http.StatusOK, map[string]any{"id": 42, "state": "queued"}
	switch look := j.looks.Add(1); {
	case look <= 2:
	case look <= 4:
		state["state"], state["progress"] = "running", 40*(look-2)
	case look == 5:
		w.Header().Set("Retry-After", "1")
		code, state = http.StatusTooManyRequests, map[string]any{"error": "rate limit exceeded"}
	default:
		state["state"], state["result"] = "done", "it was worth the wait"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(state)
}
