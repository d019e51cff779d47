//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/scripts/internal/proc"
)

func crowds() []torment {
	return []torment{
		{"10,000 command attempts, in process", commandsInProcess},
		{"10,000 HTTP attempts, in process", requestsInProcess},
		{"100,000 HTTP attempts", requests},
	}
}

// leaks runs a probe many times in this process and counts the goroutines and
// descriptors that are left.
func leaks(probe poll.Probe, attempts int) (string, error) {
	warm := poll.Poller{Probe: probe, Schedule: backoff.Fixed(0), MaxAttempts: 20}
	warm.Run(context.Background())
	goroutines, files := settled(0), proc.Descriptors(os.Getpid())
	p := warm
	p.MaxAttempts = attempts
	began := time.Now()
	outcome, err := p.Run(context.Background())
	if !errors.Is(err, poll.AttemptsExhausted) || outcome.Attempts != attempts {
		return "", fmt.Errorf("%d attempts: %w", outcome.Attempts, err)
	}
	took := time.Since(began)
	moreGoroutines, moreFiles := settled(goroutines)-goroutines, proc.Descriptors(os.Getpid())-files
	said := fmt.Sprintf("%s each; %d goroutines and %d descriptors more than before",
		(took / time.Duration(attempts)).Round(time.Microsecond), moreGoroutines, moreFiles)
	if moreGoroutines > 0 || moreFiles > 0 {
		return said, errors.New("a leak")
	}
	return said, nil
}

// settled is the number of goroutines, once those that are about to end have.
func settled(want int) int {
	for range 100 {
		if runtime.NumGoroutine() <= want {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return runtime.NumGoroutine()
}

func commandsInProcess(*suite) (string, error) {
	return leaks(poll.Command{Args: []string{"false"}}, 10_000)
}

func requestsInProcess(*suite) (string, error) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	return leaks(poll.HTTP{URL: server.URL}, 10_000)
}

// requests watches memory, descriptors and threads of the program while it makes
// 100,000 attempts: what it needs after the first 10,000 must do for all.
func requests(s *suite) (string, error) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(pending))
	}))
	defer server.Close()
	const attempts = 100_000
	r, err := s.start(wait{args: args("-q --interval 0 --timeout 55s --max-attempts", strconv.Itoa(attempts), "--until", `.state=="done"`, server.URL)})
	if err != nil {
		return "", err
	}
	resident, files, err := watch(r)
	e := r.end()
	if err != nil {
		return "", err
	}
	early, late := resident[len(resident)/10:len(resident)/4], resident[len(resident)*3/4:]
	said := fmt.Sprintf("%s each, %s resident at most, %s more than early on, %d descriptors",
		(e.took / attempts).Round(time.Microsecond), mebi(e.peak), mebi(highest(late)-highest(early)), files)
	err = errors.Join(e.expect(3), e.within(32))
	if highest(late) > highest(early)+4<<20 {
		err = errors.Join(err, errors.New("the memory grows"))
	}
	if files > 20 {
		err = errors.Join(err, errors.New("the descriptors grow"))
	}
	return said, err
}

// watch samples a run until it ends.
func watch(r *running) (resident []int64, files int, err error) {
	pid := r.Process.Pid
	for {
		now := proc.Memory(pid, "VmRSS")
		if now == 0 {
			break
		}
		resident = append(resident, now)
		files = max(files, proc.Descriptors(pid))
		time.Sleep(20 * time.Millisecond)
	}
	if len(resident) < 40 {
		return nil, 0, fmt.Errorf("it ended after %d samples: %s", len(resident), r.stderr.String())
	}
	return resident, files, nil
}

func highest(of []int64) (top int64) {
	for _, n := range of {
		top = max(top, n)
	}
	return top
}
