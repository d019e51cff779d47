//go:build linux

package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pollcli/poll/scripts/internal/proc"
)

// A result has the measurements of a work: the medians of the costs, and of the ratios of each
// round.
type result struct {
	work
	poll, floor, ratio, toPeer float64
}

func (w work) compare() (result, error) {
	var ours, floors, ratios, peers []float64
	for round := range rounds {
		costs := make([]float64, 3)
		for i := range costs {
			i = (i + round) % 3 // every round begins with another
			line := [][]string{w.poll, w.floor, installed(w.peer)}[i]
			if line == nil {
				continue
			}
			cost, err := w.measure(line)
			if err != nil {
				return result{}, fmt.Errorf("%s: %w", line, err)
			}
			costs[i] = cost
		}
		ours, floors, ratios = append(ours, costs[0]), append(floors, costs[1]), append(ratios, costs[0]/costs[1])
		peers = append(peers, costs[0]/costs[2])
	}
	return result{work: w, poll: median(ours), floor: median(floors), ratio: median(ratios), toPeer: median(peers)}, nil
}

// installed returns the line of a program, nil if the program is not installed.
func installed(line []string) []string {
	if len(line) > 0 {
		if _, err := exec.LookPath(line[0]); err == nil {
			return line
		}
	}
	return nil
}

// median returns the one in the middle of an odd number of values.
func median(values []float64) float64 {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

// cpu returns the user and system time of a program and of its children. Its exit code does not matter.
func cpu(line []string) (float64, error) {
	cmd := exec.Command(line[0], line[1:]...)
	err := cmd.Run()
	if cmd.ProcessState == nil { // it could not be run
		return 0, err
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), nil
}

// A measure measures a line once.
type measure func(line []string) (cost float64, err error)

// each measures one of n attempts: the cost of n attempts, less the cost of one attempt.
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

func fill(line []string, n int) (filled []string) {
	for _, word := range line {
		filled = append(filled, strings.ReplaceAll(word, "N#", fmt.Sprint(n)))
	}
	return filled
}

// firstLooks measures the time from the start until the server has been asked for all targets.
func (b *workshop) firstLooks(line []string) (float64, error) {
	b.asked.Store(0)
	cmd := exec.Command(line[0], fill(line[1:], 1)...)
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	for b.asked.Load() < int64(b.targets) && time.Since(began) < time.Minute {
		time.Sleep(time.Millisecond)
	}
	took := time.Since(began).Seconds()
	cmd.Process.Kill()
	cmd.Wait()
	return took, nil
}

// known measures how long after the line that decides a program ends. The line, which it prints, says when it was
// written.
func known(line []string) (float64, error) {
	out, err := exec.Command(line[0], line[1:]...).Output()
	now := time.Now().UnixNano()
	_, text, _ := strings.Cut(string(out), `"at":`)
	text, _, _ = strings.Cut(text, "}")
	at, wrong := strconv.ParseInt(text, 10, 64)
	return float64(now-at) / 1e9, cmp.Or(err, wrong)
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
func (b *workshop) stopped(line []string) (float64, error) {
	const mark = "POLL_BENCH_MARK=stopped"
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), mark)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	for began := time.Now(); len(proc.Marked(mark)) < 1+2*b.hanging; time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			cmd.Process.Kill()
			return 0, fmt.Errorf("there are %d processes, not %d", len(proc.Marked(mark)), 1+2*b.hanging)
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
