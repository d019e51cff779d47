//go:build unix

package main

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pollcli/poll/poll/fleet"
)

// cost compares waits that share with those that do not, and counts how many slots are taken
// a second.
func (s *suite) cost() (string, bool, error) {
	n := pick(s, 200, 2000)
	a := newAPI(&api{})
	defer a.Close()
	look := func(flags ...string) time.Duration {
		a.done = time.Now().Add(time.Hour)
		began := time.Now()
		inProcess(1, 0, func(int) []string {
			return append([]string{"-q", "--interval", "1us", "--max-attempts", fmt.Sprint(n), "--until", isDone, a.URL + "/thing"}, flags...)
		})
		return time.Since(began) / time.Duration(n)
	}
	var alone, limited, answers []time.Duration
	for range 5 {
		alone = append(alone, look())
		limited = append(limited, look("--share", s.url(), "--share-answers", "none", "--rate", "0"))
		answers = append(answers, look("--share", s.url(), "--rate", "0"))
	}
	slices.Sort(alone)
	slices.Sort(limited)
	slices.Sort(answers)
	takes, err := s.takes(pick(s, time.Second, 3*time.Second))
	if err != nil {
		return "", false, err
	}
	more := limited[2] - alone[2]
	return fmt.Sprintf("an attempt takes %s, %s more with a shared limit, %s more with shared answers, too; %.0f slots a second are taken by 50",
		alone[2], more, answers[2]-alone[2], takes), true, nil
}

// takes returns how many slots a second 50 take together.
func (s *suite) takes(lasts time.Duration) (float64, error) {
	const n = 50
	counts := make([]int, n)
	var all sync.WaitGroup
	end := time.Now().Add(lasts)
	for i := range n {
		f, err := fleet.Open(s.url(), fleet.Options{})
		if err != nil {
			return 0, err
		}
		defer f.Close()
		all.Go(func() {
			for time.Now().Before(end) {
				f.Next("place", time.Time{})
				counts[i]++
			}
		})
	}
	all.Wait()
	sum := 0
	for _, c := range counts {
		sum += c
	}
	return float64(sum) / lasts.Seconds(), nil
}
