//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pollcli/poll/scripts/internal/proc"
)

// A result is what was measured of a work: the medians of the costs and, behind poll's own, of
// the ratios of each round. What is not installed has neither.
type result struct {
	work
	poll, floor, ratio float64
	peers              []float64 // ratios
}

func (w work) compare(rounds int) (result, error) {
	lines := [][]string{w.poll, w.floor}
	for _, peer := range w.peers {
		lines = append(lines, installed(peer[1:]))
	}
	costs := make([][]float64, len(lines))
	for round := range rounds {
		for i := range lines {
			i = (i + round) % len(lines) // every round begins with another
			if lines[i] == nil {
				continue
			}
			cost, err := w.measure(lines[i])
			if err != nil {
				return result{}, fmt.Errorf("%s: %w", lines[i], err)
			}
			costs[i] = append(costs[i], cost)
		}
	}
	r := result{work: w, poll: median(costs[0]), floor: median(costs[1]), ratio: ratio(costs[0], costs[1])}
	for _, peer := range costs[2:] {
		r.peers = append(r.peers, ratio(costs[0], peer))
	}
	return r, nil
}

// installed returns the line, or nil if it names a program that is not here.
func installed(line []string) []string {
	used := strings.Fields(strings.Join(line, " "))
	for _, name := range []string{"bash", "curl", "jq", "xargs", "parallel", "retry", "recur"} {
		if _, err := exec.LookPath(name); err != nil && slices.Contains(used, name) {
			return nil
		}
	}
	return line
}

func ratio(ours, theirs []float64) float64 {
	var all []float64
	for i := range theirs {
		all = append(all, ours[i]/theirs[i])
	}
	return median(all)
}

// median returns 0 for nothing.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// cpu returns the user and system time of a program and of its children. Its exit code does not matter.
func cpu(line []string) (float64, error) {
	cmd := exec.Command(line[0], line[1:]...)
	if err := cmd.Run(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			return 0, err
		}
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), nil
}

// A measure measures a line once.
type measure func(line []string) (cost float64, err error)

// each measures one of n attempts: what n cost, less what one costs.
func each(n int, whole measure) measure {
	return func(line []string) (float64, error) {
		many, err := whole(fill(line, n))
		if err != nil {
			return 0, err
		}
		one, err := whole(fill(line, 1))
		return (many - one) / float64(n-1), err
	}
}

func fill(line []string, n int) []string {
	filled := slices.Clone(line)
	for i := range filled {
		filled[i] = strings.ReplaceAll(filled[i], "N#", fmt.Sprint(n))
	}
	return filled
}

func per(n float64, whole measure) measure {
	return func(line []string) (float64, error) { cost, err := whole(line); return cost / n, err }
}

func elapsed(line []string) (float64, error) {
	began := time.Now()
	_, err := cpu(fill(line, 1))
	return time.Since(began).Seconds(), err
}

// firstLooks measures the time from the start until the server has been asked for all targets.
func (b *workshop) firstLooks(line []string) (float64, error) {
	b.asked.Store(0)
	cmd := exec.Command(line[0], fill(line[1:], 1)...)
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	for b.asked.Load() < targets && time.Since(began) < time.Minute {
		time.Sleep(time.Millisecond)
	}
	took := time.Since(began).Seconds()
	cmd.Process.Kill()
	cmd.Wait()
	return took, nil
}

func peak(attempts int) measure {
	return func(line []string) (float64, error) {
		line = fill(line, attempts)
		cmd := exec.Command(line[0], line[1:]...)
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		gauge := proc.WatchMemory(cmd.Process.Pid)
		cmd.Wait()
		return float64(gauge.Stop()), nil
	}
}

func bytesOf(line []string) (float64, error) {
	info, err := os.Stat(line[0])
	if err != nil {
		return 0, err
	}
	return float64(info.Size()), nil
}

// stopped measures how long commands that ignore TERM keep a program from ending.
func stopped(line []string) (float64, error) {
	const mark = "POLL_BENCH_MARK=stopped"
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), mark)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	for began := time.Now(); len(proc.Marked(mark)) < 1+2*hanging; time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			cmd.Process.Kill()
			return 0, fmt.Errorf("there are %d processes, not %d", len(proc.Marked(mark)), 1+2*hanging)
		}
	}
	began := time.Now()
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
	took := time.Since(began).Seconds()
	if left := proc.Marked(mark); len(left) > 0 {
		return 0, fmt.Errorf("left behind: %v", left)
	}
	return took, nil
}
