//go:build unix

package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

const isDone = `.state=="done"`

// thing has many wait for one thing.
func (s *suite) thing() (string, bool, error) { return s.oneThing(s.url(), pick(s, 60, 1000)) }

func (s *suite) directory() (string, bool, error) {
	return s.oneThing(filepath.Join(s.dir, "shared"), pick(s, 40, 200))
}

func (s *suite) oneThing(where string, n int) (string, bool, error) {
	lasts := pick(s, 8*time.Second, time.Minute)
	one := newAPI(&api{takes: 20 * time.Millisecond})
	defer one.Close()
	one.done = time.Now().Add(lasts)
	s.processes(1, 0, func(int) []string { return []string{"-q", "--until", isDone, one.URL + "/thing"} })

	all := newAPI(&api{takes: 20 * time.Millisecond})
	defer all.Close()
	all.done = time.Now().Add(lasts)
	args := func(int) []string {
		return []string{"-q", "--share", where, "--share-answers", "thing", "--until", isDone, all.URL + "/thing"}
	}
	real := min(50, n/2)
	others := make(chan []end)
	go func() { others <- inProcess(n-real, time.Second, args) }()
	ends := append(s.processes(real, time.Second, args), <-others...)
	failed, first := failures(ends, 0)
	at := make([]time.Duration, len(ends))
	for i, e := range ends {
		at[i] = e.at.Sub(ends[0].at)
	}
	slices.Sort(at)
	seen := fmt.Sprintf("%d waits asked %d times, one alone %d times; all saw the end within %s of the first, half within %s; %d failed%s",
		n, all.count(), one.count(), words(at[len(at)-1]-at[0]), words(at[len(at)/2]-at[0]), failed, first)
	// Whether one more look comes before the end is chance.
	return seen, failed == 0 && float64(all.count()) <= 1.2*float64(one.count())+1, nil
}

func words(d time.Duration) string { return d.Round(time.Millisecond).String() }

// limit is what a limit of 20 a second, or another rate, with that burst is to many processes.
type limit struct {
	flags  []string
	rate   float64
	after  time.Duration
	extend bool
	most   float64 // the largest share that may be refused
	least  float64 // the smallest share that has to be used
}

func (s *suite) underLimit(l limit) (string, bool, error) {
	rate := cmp.Or(l.rate, 20)
	n, lasts := pick(s, 20, 100), pick(s, 15*time.Second, time.Minute)
	a := newAPI(&api{rate: rate, after: l.after, extend: l.extend})
	defer a.Close()
	ends := s.processes(n, time.Second, func(i int) []string {
		url := fmt.Sprintf("%s/limited/%d", a.URL, i)
		return append([]string{"-q", "--interval", "500ms", "--timeout", lasts.String(), "--until", isDone, url}, l.flags...)
	})
	failed, first := failures(ends, 124, 4)
	refused := float64(a.denied) / float64(max(1, a.served+a.denied))
	used := float64(a.served) / (rate * lasts.Seconds())
	seen := fmt.Sprintf("%d processes: %.1f%% refused (%d), %.0f%% used; %d ended otherwise than by their time%s",
		n, 100*refused, a.denied, 100*used, failed, first)
	return seen, failed == 0 && refused <= l.most && used >= l.least, nil
}

func (s *suite) known() (string, bool, error) {
	return s.underLimit(limit{flags: []string{"--share", s.url(), "--rate", "20/s"}, most: 0, least: 0.9})
}

func (s *suite) learned() (string, bool, error) {
	return s.underLimit(limit{flags: []string{"--share", s.url()}, after: 5 * time.Second, most: 0.01, least: pick(s, 0.3, 0.7)})
}

func (s *suite) slow() (string, bool, error) {
	return s.underLimit(limit{flags: []string{"--share", s.url()}, rate: 5, after: 5 * time.Second, most: pick(s, 0.1, 0.02), least: pick(s, 0.3, 0.7)})
}

func (s *suite) extended() (string, bool, error) {
	return s.underLimit(limit{flags: []string{"--share", s.url()}, after: 5 * time.Second, extend: true, most: 0.01, least: pick(s, 0.3, 0.7)})
}

func (s *suite) unshared() (string, bool, error) {
	return s.underLimit(limit{after: 5 * time.Second, most: 1})
}
