//go:build linux

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func kills() []testCase {
	return []testCase{
		{"INT TERM HUP at 200 random moments", killedByOne},
		{"two signals at 100 random moments", killedByTwo},
		{"deadlines at 100 random moments", deadlines},
	}
}

// A target is a wait that does not end by itself.
type target struct {
	name string
	args []string
}

func targets(url string) []target {
	return []target{
		{"short attempts", args("--immediate --interval 1ms -- false")},
		{"attempts of 5 ms", args("--immediate --interval 1ms --", "sh", "-c", "sleep 0.005; exit 1")},
		{"a group", args("--immediate", shell("sleep 60 & sleep 60 & (sleep 60; true) & wait")...)},
		{"a group that ignores signals", args("--immediate --grace 30ms",
			shell(`trap "" TERM INT HUP; sleep 60 & sleep 60 & wait; sleep 60`)...)},
		{"a group that changes all the time", args("--immediate --grace 200ms",
			shell("while :; do (sleep 60 & sleep 0.002 & wait $!; kill %1) & (exec sleep 0.003); done")...)},
		{"a wait", args("--strategy fixed --base 60s -- true")},
		{"a URL that never answers", args("--immediate", url)},
	}
}

// A kill is a wait ended by a signal, and what was wrong with its end.
type kill struct {
	target   target
	terminal bool // whether the wait has a terminal
	moment   time.Duration
	sig      syscall.Signal
	second   time.Duration // until a second signal, 0 for none
	late     time.Duration // how long it lived after the first signal
	err      error
}

func (s *suite) kill(k *kill) {
	w := wait{args: k.target.args}
	var t *terminal
	if k.terminal {
		if t, k.err = openTerminal(); k.err != nil {
			return
		}
		defer t.close()
		w.stdout, w.stderr, w.attr = t.slave, t.slave, t.attr()
	}
	r, err := s.start(w)
	if err != nil {
		k.err = err
		return
	}
	time.Sleep(k.moment)
	killed := time.Now()
	r.Process.Signal(k.sig)
	if k.second > 0 {
		time.Sleep(k.second)
		r.Process.Signal(syscall.SIGINT)
	}
	e := r.end()
	k.late = time.Since(killed)
	k.err = e.expect(128 + int(k.sig))
	if k.second > 0 && e.signal == syscall.SIGINT {
		k.err = e.expect(128 + int(syscall.SIGINT)) // of two pending signals the system picks one
	}
	if e.signal == 0 {
		k.err = errors.Join(k.err, errors.New("it did not die of the signal"))
	}
	if t != nil {
		k.err = errors.Join(k.err, t.changed())
	}
}

// killMany starts and kills n waits, four at a time.
func (s *suite) killMany(n int, plan func(i int, rand *rand.Rand, targets []target) *kill) (latest time.Duration, err error) {
	silent, url, err := serve("hang")
	if err != nil {
		return 0, err
	}
	defer silent.Close()
	planned := make(chan *kill)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range 4 {
		wg.Go(func() {
			for k := range planned {
				s.kill(k)
				mu.Lock()
				latest = max(latest, k.late)
				if k.err != nil {
					err = errors.Join(err, fmt.Errorf("%s, %s after %s, terminal %v: %w",
						k.target.name, unix.SignalName(k.sig), k.moment, k.terminal, k.err))
				}
				mu.Unlock()
			}
		})
	}
	for i := range n {
		planned <- plan(i, s.rand, targets(url))
	}
	close(planned)
	wg.Wait()
	return latest, err
}

var endings = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

func killedByOne(s *suite) (string, error) {
	latest, err := s.killMany(200, func(i int, rand *rand.Rand, targets []target) *kill {
		return &kill{target: targets[i%len(targets)], terminal: rand.IntN(2) == 0, sig: endings[rand.IntN(len(endings))],
			moment: time.Duration(rand.Int64N(int64(150 * time.Millisecond)))}
	})
	return fmt.Sprintf("200 deaths by the signal, nobody left, terminal as before; %s at most", latest.Round(10*time.Millisecond)), err
}

func killedByTwo(s *suite) (string, error) {
	latest, err := s.killMany(100, func(i int, rand *rand.Rand, targets []target) *kill {
		stubborn := target{"a group that ignores signals, grace 20s", args("--immediate --grace 20s",
			shell(`trap "" TERM INT HUP; sleep 60 & sleep 60 & wait; sleep 60`)...)}
		return &kill{target: stubborn, terminal: rand.IntN(2) == 0, sig: syscall.SIGTERM,
			moment: time.Duration(rand.Int64N(int64(100 * time.Millisecond))),
			second: 1 + time.Duration(rand.Int64N(int64(100*time.Millisecond)))}
	})
	if latest > 10*time.Second {
		err = errors.Join(err, fmt.Errorf("the second signal did not hurry: %s", latest))
	}
	return fmt.Sprintf("100 deaths by one of them, nobody left; %s at most, not the grace of 20s", latest.Round(10*time.Millisecond)), err
}

func deadlines(s *suite) (string, error) {
	var wrong []error
	var latest time.Duration
	group := `trap "" TERM; sleep 60 & sleep 60 & wait; sleep 60`
	for range 100 {
		timeout := time.Millisecond + time.Duration(s.rand.Int64N(int64(100*time.Millisecond)))
		attempt := time.Millisecond + time.Duration(s.rand.Int64N(int64(50*time.Millisecond)))
		e, err := s.run(append([]string{"--immediate", "--interval", "1ms", "--grace", "10ms", "--timeout", timeout.String(),
			"--attempt-timeout", attempt.String()}, shell(group)...)...)
		if err != nil {
			return "", err
		}
		latest = max(latest, e.took-timeout)
		if err := e.expect(124); err != nil {
			wrong = append(wrong, fmt.Errorf("timeout %s, attempt timeout %s: %w", timeout, attempt, err))
		}
	}
	return fmt.Sprintf("100 times exit 124, nobody left, %s late at most", latest.Round(10*time.Millisecond)), errors.Join(wrong...)
}
