package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/report"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

func demoCommand(world World) *argv.Command {
	return &argv.Command{
		Name:    "demo",
		Summary: "watch a wait, with an API inside poll",
		About: "poll demo starts a small API for asynchronous jobs on this machine's loopback\n" +
			"interface, starts a job, and waits for it: NOT_READY while the job is queued and\n" +
			"runs, THROTTLED once (the API asks for a second's patience), then SUCCESS.",
		Examples: []argv.Example{{Line: "poll demo"}, {Line: "poll demo | jq .result"}},
		Flags:    argv.Flags{argv.HelpFlag()},
		Run:      func(ctx context.Context, _ *argv.Line) error { return demo(ctx, world) },
	}
}

// demoCondition is what the demo waits for, and demoTimeout how long.
const (
	demoCondition = `.state == "done"`
	demoTimeout   = 15 * time.Second
)

// demo polls a job of its own API through the same probe and loop as any wait.
func demo(ctx context.Context, world World) error {
	url, stop, err := serveJobs()
	if err != nil {
		return err
	}
	defer stop()
	job, err := startJob(ctx, url)
	if err != nil {
		return err
	}
	until, err := status.NewRule(status.Success, demoCondition)
	if err != nil {
		return fmt.Errorf("compile the demo's condition: %w", err)
	}
	world.limit(limit{timeout: demoTimeout, deadline: time.Now().Add(demoTimeout), grace: poll.DefaultGrace})
	w := &wait{
		world: world,
		kind:  status.KindHTTP,
		poller: poll.Poller{
			Probe:   poll.HTTP{URL: job},
			Rules:   status.Rules{Own: []status.Rule{until}},
			Timeout: demoTimeout,
		},
		report: report.Config{
			Streams: world.Streams,
			Palette: world.Streams.Palette(term.ColorAuto),
			Until:   []string{demoCondition},
			Getenv:  world.getenv,
		},
	}
	fmt.Fprintf(world.Streams.Err, "$ poll --until '%s' %s\n", demoCondition, job)
	_, err = w.run(ctx)
	return err
}

// serveJobs starts the API on a free port of the loopback interface.
func serveJobs() (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("start the demo's API: %w", err)
	}
	var api jobAPI
	server := &http.Server{Handler: api.handler(), ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(listener)
	return "http://" + listener.Addr().String(), func() { server.Close() }, nil
}

// startJob starts the asynchronous operation and returns the URL of its state.
func startJob(ctx context.Context, api string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, api+"/jobs", nil)
	if err != nil {
		return "", fmt.Errorf("start the demo's job: %w", err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("start the demo's job: %w", err)
	}
	defer answer.Body.Close()
	location, err := answer.Location()
	if err != nil {
		return "", fmt.Errorf("start the demo's job: %w", err)
	}
	return location.String(), nil
}

// A jobAPI is an asynchronous API with one job, whose state changes from one
// look to the next.
type jobAPI struct{ looks atomic.Int64 }

func (a *jobAPI) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /jobs", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/jobs/42")
		writeJob(w, http.StatusAccepted, map[string]any{"id": 42, "state": "queued"})
	})
	mux.HandleFunc("GET /jobs/42", func(w http.ResponseWriter, _ *http.Request) { a.job(w) })
	return mux
}

// job answers a look at the job: queued twice, running twice, then a rate
// limit, then done.
func (a *jobAPI) job(w http.ResponseWriter) {
	switch look := a.looks.Add(1); {
	case look <= 2:
		writeJob(w, http.StatusOK, map[string]any{"id": 42, "state": "queued"})
	case look <= 4:
		writeJob(w, http.StatusOK, map[string]any{"id": 42, "state": "running", "progress": 40 * (look - 2)})
	case look == 5:
		w.Header().Set("Retry-After", "1")
		writeJob(w, http.StatusTooManyRequests, map[string]any{"error": "rate limit exceeded"})
	default:
		writeJob(w, http.StatusOK, map[string]any{"id": 42, "state": "done", "result": "it was worth the wait"})
	}
}

func writeJob(w http.ResponseWriter, code int, job map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(job)
}
