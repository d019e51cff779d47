//go:build linux

package main

import (
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// crowdAnswer is what each of many targets answers.
var crowdAnswer = []byte(`{"state":"pending","note":"` + strings.Repeat("x", 300-29) + `"}`)

// visits are the requests at many targets, as their server saw them.
type visits struct {
	url string // of a target, without its number

	mu   sync.Mutex
	all  []visit
	more *sync.Cond
}

// A visit is one request: when it came, and when it was answered.
type visit struct {
	path           string
	came, answered time.Time
}

func newVisits() *visits {
	v := &visits{}
	v.more = sync.NewCond(&v.mu)
	return v
}

func (v *visits) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	one := visit{path: r.URL.Path, came: time.Now()}
	w.Header().Set("Content-Type", "application/json")
	w.Write(crowdAnswer)
	one.answered = time.Now()
	v.mu.Lock()
	v.all = append(v.all, one)
	v.mu.Unlock()
	v.more.Broadcast()
}

// A visitor is a program that looks at many targets.
type visitor struct {
	*exec.Cmd
	*visits
	began time.Time
}

// watch starts a program, and ends it after what is measured.
func (v *visits) watch(line []string, measure func(*visitor) error) error {
	v.mu.Lock()
	v.all = v.all[:0]
	v.mu.Unlock()
	r := &visitor{quiet(line...), v, time.Now()}
	if err := r.Start(); err != nil {
		return err
	}
	err := measure(r)
	r.Process.Kill()
	r.Wait()
	time.Sleep(50 * time.Millisecond) // for its last requests
	return err
}

func quiet(line ...string) *exec.Cmd { return exec.Command(line[0], line[1:]...) }

// seen waits for n requests.
func (r *visitor) seen(n int) error {
	const patience = 30 * time.Second
	late := false
	timer := time.AfterFunc(patience, func() {
		r.mu.Lock()
		late = true
		r.mu.Unlock()
		r.more.Broadcast()
	})
	defer timer.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.all) < n {
		if late {
			return fmt.Errorf("%d of %d requests after %s", len(r.all), n, patience)
		}
		r.more.Wait()
	}
	return nil
}

// nth returns when the nth request came.
func (r *visitor) nth(n int) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.SortedFunc(slices.Values(r.all), byArrival)[n-1].came
}

func byArrival(a, b visit) int { return a.came.Compare(b.came) }

// late returns how long after the interval since a target's last answer each request
// came, sorted.
func (r *visitor) late(interval time.Duration) []time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	var late []time.Duration
	last := map[string]time.Time{}
	for _, v := range slices.SortedFunc(slices.Values(r.all), byArrival) {
		if answered, ok := last[v.path]; ok {
			late = append(late, v.came.Sub(answered)-interval)
		}
		last[v.path] = v.answered
	}
	slices.Sort(late)
	return late
}
