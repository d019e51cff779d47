//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An entry is one way of doing the work of a contest. The first entry of a contest
// is poll.
type entry struct {
	name string
	// needs is a program; without it the entry is skipped.
	needs string
	cost  func() (float64, error)
}

// A contest is a list of entries that take turns.
type contest struct {
	what    string // is measured; may be empty
	unit    func(cost float64) string
	entries []entry
}

// polls returns the entry of poll and, where there is one, that of the build before.
func (w *workshop) polls(name string, cost func(poll string) func() (float64, error)) []entry {
	entries := []entry{{name, w.poll, cost(w.poll)}}
	if w.before != "" {
		entries = append(entries, entry{name + ", the build before", w.before, cost(w.before)})
	}
	return entries
}

// print measures, and prints a row per entry.
func (c contest) print(w io.Writer, rounds int) error {
	fmt.Fprintf(w, "| %s | cost | poll / it |\n|---|---|---|\n", c.what)
	costs := make([][]float64, len(c.entries))
	for round := range rounds {
		for i := range c.entries {
			// Every round begins with another entry.
			i = (i + round) % len(c.entries)
			if c.entries[i].needs == "" {
				continue
			}
			cost, err := c.entries[i].cost()
			if err != nil {
				return fmt.Errorf("%s: %w", c.entries[i].name, err)
			}
			costs[i] = append(costs[i], cost)
		}
	}
	for i, e := range c.entries {
		if e.needs == "" {
			fmt.Fprintf(w, "| %s | not here | |\n", e.name)
			continue
		}
		ratio := ""
		if i > 0 {
			ratio = fmt.Sprintf("**%.2f**", median(ratios(costs[0], costs[i])))
		}
		fmt.Fprintf(w, "| %s | %s | %s |\n", e.name, c.unit(median(costs[i])), ratio)
	}
	return nil
}

// ratios divides what was measured in the same round.
func ratios(ours, theirs []float64) []float64 {
	all := make([]float64, len(ours))
	for i := range ours {
		all[i] = ours[i] / theirs[i]
	}
	return all
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}

// cpu runs a program to its end, whatever its exit code, and returns the user and
// system time of it and its children in seconds.
func cpu(line ...string) (float64, error) {
	cmd := exec.Command(line[0], line[1:]...)
	if err := cmd.Run(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			return 0, err
		}
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), nil
}

// once returns a function that measures the cost of one run, as the mean of n.
func once(n int, line ...string) func() (float64, error) {
	return func() (float64, error) {
		sum := 0.0
		for range n {
			cost, err := cpu(line...)
			if err != nil {
				return 0, err
			}
			sum += cost
		}
		return sum / float64(n), nil
	}
}

// each returns a function that measures the cost of one of n attempts, minus that
// of a run with one attempt. N# in the line stands for the number of attempts.
func each(n int, line ...string) func() (float64, error) {
	with := func(count int) []string {
		filled := slices.Clone(line)
		for i, word := range filled {
			filled[i] = strings.ReplaceAll(word, "N#", fmt.Sprint(count))
		}
		return filled
	}
	return func() (float64, error) {
		many, err := cpu(with(n)...)
		if err != nil {
			return 0, err
		}
		one, err := cpu(with(1)...)
		return (many - one) / float64(n-1), err
	}
}

// further returns a function that measures the cost of a look after the first one, as the
// mean of so many looks.
func further(looks int, line func(looks string) []string) func() (float64, error) {
	return func() (float64, error) {
		many, err := cpu(line(strconv.Itoa(looks))...)
		if err != nil {
			return 0, err
		}
		one, err := cpu(line("1")...)
		return (many - one) / float64(looks-1), err
	}
}

func milliseconds(seconds float64) string { return fmt.Sprintf("%.2f ms", seconds*1e3) }
func microseconds(seconds float64) string { return fmt.Sprintf("%.1f µs", seconds*1e6) }

func kibibytes(bytes float64) string { return fmt.Sprintf("%.2f KiB", bytes/(1<<10)) }
func mebibytes(bytes float64) string { return fmt.Sprintf("%.1f MiB", bytes/(1<<20)) }

func percent(share float64) string { return fmt.Sprintf("%.1f%%", share*100) }

func duration(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Millisecond).String()
}
