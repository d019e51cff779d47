//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

func learning() []torment {
	return []torment{
		{"learning without a place", learnNowhere},
		{"learning, KILLed at 200 moments", learnKilled},
		{"history of 16 MB of noise", learnNoise},
	}
}

func learnNowhere(s *suite) (string, error) {
	var wrong []error
	for name, env := range map[string][]string{
		"no HOME":           {"PATH=" + os.Getenv("PATH")},
		"HOME is no place":  {"PATH=" + os.Getenv("PATH"), "HOME=/dev/null"},
		"state is no place": {"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "XDG_STATE_HOME=/proc"},
	} {
		e, err := s.wait(wait{env: env, args: args("--interval 1ms --learn torture -- echo done")})
		if err != nil {
			return "", err
		}
		if err := e.expect(0, "note:"); err != nil || e.stdout != "done\n" {
			wrong = append(wrong, fmt.Errorf("%s: stdout %q: %w", name, e.stdout, err))
		}
	}
	return "the run goes on and says so", errors.Join(wrong...)
}

// learnKilled ends writers of one history at any moment, by a signal that cannot
// be caught.
func learnKilled(s *suite) (string, error) {
	dir := s.file("history")
	moments := make(chan time.Duration)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for moment := range moments {
				r, err := s.start(wait{args: args("-q --interval 1ms --learn killed --history", dir, "--", "true")})
				if err != nil {
					continue
				}
				time.Sleep(moment)
				r.Process.Signal(syscall.SIGKILL)
				r.end()
			}
		})
	}
	for range 200 {
		moments <- time.Duration(s.rand.Int64N(int64(40 * time.Millisecond)))
	}
	close(moments)
	wg.Wait()
	before, broken := historyLines(dir)
	e, err := s.run(args("--interval 1ms --learn killed --history", dir, "--", "true")...)
	if err != nil {
		return "", err
	}
	after, _ := historyLines(dir)
	err = e.expect(0)
	if after != before+1 {
		err = errors.Join(err, fmt.Errorf("%d runs before, %d after one more", before, after))
	}
	if broken > 1 {
		err = errors.Join(err, fmt.Errorf("%d lines are broken", broken))
	}
	files, _ := os.ReadDir(dir)
	if len(files) > 2 {
		err = errors.Join(err, fmt.Errorf("%v is left", files))
	}
	return fmt.Sprintf("%d runs remembered, %d lines broken, one more run is learned", before, broken), err
}

// historyLines counts the lines of a history that are whole, and those that are not.
func historyLines(dir string) (whole, broken int) {
	text, _ := os.ReadFile(filepath.Join(dir, "killed.jsonl"))
	for line := range strings.Lines(string(text)) {
		if json.Valid([]byte(line)) {
			whole++
		} else {
			broken++
		}
	}
	return whole, broken
}

func learnNoise(s *suite) (string, error) {
	dir := s.file("noise-history")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	for name, text := range map[string]string{
		"brackets": strings.Repeat("[", 16<<20),
		"lines":    strings.Repeat("\n", 16<<20),
		"objects":  strings.Repeat("{}\n", 5<<20),
		"huge":     strings.Repeat(`{"end":"2026-11-20T12:46:25Z","lo_s":-1e308,"hi_s":1e308,"outcome":"success"}`+"\n", 1<<16),
	} {
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	var wrong []error
	var peak int64
	for _, name := range []string{"brackets", "lines", "objects", "huge"} {
		e, err := s.run(args("--interval 1ms --timeout 20s --learn", name, "--history", dir, "--", "true")...)
		if err != nil {
			return "", err
		}
		peak = max(peak, e.peak)
		if err := errors.Join(e.expect(0), e.within(64)); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
		}
	}
	return fmt.Sprintf("4 kinds: the run goes on, %s resident at most", mebi(peak)), errors.Join(wrong...)
}
