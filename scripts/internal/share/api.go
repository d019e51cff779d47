//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"
)

// An api is what is waited for. At /thing is one thing that is done after a while, below
// /limited/ are many that never are, behind one limit.
type api struct {
	*httptest.Server
	takes  time.Duration // for an answer
	done   time.Time     // when the thing is
	rate   float64       // of the limit, and its burst; 0 for none
	after  time.Duration // what a refusal asks for, 0 for nothing
	extend bool          // asking while it is closed prolongs that

	mu             sync.Mutex
	began          time.Time
	asked          []time.Time
	peers          []string // who has asked
	tokens         float64
	last, closed   time.Time
	served, denied int
}

func newAPI(a *api) *api {
	a.began, a.tokens, a.last = time.Now(), a.rate, time.Now()
	a.Server = httptest.NewServer(a)
	return a
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/thing" {
		a.limited(w)
		return
	}
	a.mu.Lock()
	a.asked = append(a.asked, time.Now())
	a.peers = append(a.peers, r.RemoteAddr)
	state := "running"
	if time.Now().After(a.done) {
		state = "done"
	}
	a.mu.Unlock()
	time.Sleep(a.takes)
	fmt.Fprintf(w, `{"state":%q}`, state)
}

func (a *api) limited(w http.ResponseWriter) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.tokens = min(a.rate, a.tokens+a.rate*now.Sub(a.last).Seconds())
	a.last = now
	isClosed := now.Before(a.closed)
	if a.tokens >= 1 && !isClosed {
		a.tokens--
		a.served++
		fmt.Fprint(w, `{"state":"running"}`)
		return
	}
	a.denied++
	if a.after > 0 {
		if a.extend || !isClosed {
			a.closed = now.Add(a.after)
		}
		w.Header().Set("Retry-After", strconv.Itoa(int(a.after.Seconds())))
	}
	w.WriteHeader(http.StatusTooManyRequests)
}

// count returns how often the thing was asked for.
func (a *api) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.asked)
}

// since returns how often the thing was asked for between two moments.
func (a *api) between(from, to time.Time) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, at := range a.asked {
		if at.After(from) && at.Before(to) {
			n++
		}
	}
	return n
}
