package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
)

func (p app) demoCommand() *argv.Command {
	return &argv.Command{
		Summary:     "watch poll wait for a job of a built-in API",
		OwnsSignals: true,
		Run:         func(ctx context.Context, _ *argv.Line) error { return demo(ctx, p) },
	}
}

const demoCondition = `.state == "done"`

// demo starts an API on a loopback port and waits for a job of that API with the usual code. demo ignores the
// environment variables, since they are meant for real waits.
func demo(ctx context.Context, process app) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("start the demo's API: %w", err)
	}
	server := &http.Server{Handler: demoJob(), ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(listener)
	defer server.Close()
	job := "http://" + listener.Addr().String() + "/jobs/42"
	fmt.Fprintf(process.Streams.Err, "$ poll --until '%s' %s\n", demoCondition, job)
	process.args = []string{"--timeout", "15s", "--until", demoCondition, job}
	process.Lookup = func(string) (string, bool) { return "", false }
	_, err = process.run(ctx, read.New(), process.Wait)
	return err
}

// demoJob returns a handler whose response changes with each request. The job is queued twice and running
// twice. The fifth response is a rate limit, and the job is done from the sixth response.
func demoJob() http.Handler {
	answers := []string{
		`{"id":42,"state":"queued"}`, `{"id":42,"state":"queued"}`,
		`{"id":42,"progress":40,"state":"running"}`, `{"id":42,"progress":80,"state":"running"}`,
		`{"error":"rate limit exceeded"}`,
		`{"id":42,"result":"it was worth the wait","state":"done"}`,
	}
	var looks atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		look := int(looks.Add(1))
		w.Header().Set("Content-Type", "application/json")
		if look == 5 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		}
		fmt.Fprintln(w, answers[min(look, len(answers))-1])
	})
}
