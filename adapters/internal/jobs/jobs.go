// Package jobs has the servers and workers of the adapters' tests: an API that starts jobs and counts requests, and
// workers that the tests kill.
package jobs

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// An API is a server of jobs. POST /NAME starts the job NAME, and GET /NAME returns the state of the job.
type API struct {
	*httptest.Server
	takes time.Duration

	mu            sync.Mutex
	asked         int
	starts, looks map[string]int
	began         map[string]time.Time
}

// NewAPI returns an API whose jobs take the time takes. The API is closed when the test ends. The start of a job whose name
// starts with "storm" takes some time.
func NewAPI(t testing.TB, takes time.Duration) *API {
	a := &API{takes: takes, starts: map[string]int{}, looks: map[string]int{}, began: map[string]time.Time{}}
	a.Server = httptest.NewServer(a)
	t.Cleanup(func() {
		a.CloseClientConnections()
		a.Close()
	})
	return a
}

// ServeHTTP implements [http.Handler].
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.Trim(r.URL.Path, "/")
	done := a.count(r.Method, name)
	switch {
	case r.Method == http.MethodPost:
		if strings.HasPrefix(name, "storm") {
			time.Sleep(200 * time.Millisecond) // so that some workers are killed during the start
		}
		w.Header().Set("Location", "/"+name)
		w.WriteHeader(http.StatusAccepted)
	case done:
		fmt.Fprintf(w, `{"job":%q,"state":"done"}`, name)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// count counts a request, and reports whether the job is done. A job without a POST starts with its first GET.
func (a *API) count(method, name string) (done bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	if method == http.MethodPost {
		a.starts[name]++
	} else {
		a.looks[name]++
	}
	if _, known := a.began[name]; !known {
		a.began[name] = time.Now()
	}
	return time.Since(a.began[name]) >= a.takes
}

// Starts returns the number of POST requests for a job, and Looks the number of other requests.
func (a *API) Starts(name string) int { a.mu.Lock(); defer a.mu.Unlock(); return a.starts[name] }
func (a *API) Looks(name string) int  { a.mu.Lock(); defer a.mu.Unlock(); return a.looks[name] }

// Asked returns the number of requests.
func (a *API) Asked() int { a.mu.Lock(); defer a.mu.Unlock(); return a.asked }

// A Worker is a process of the test's own program.
type Worker struct{ cmd *exec.Cmd }

// StartWorker runs the test's program until the test ends, with env added to the environment. The TestMain of the program
// must recognize the worker by these variables.
func StartWorker(t testing.TB, env ...string) *Worker {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := &Worker{cmd}
	t.Cleanup(w.Kill)
	return w
}

// Kill kills the worker by SIGKILL, unless it was killed before.
func (w *Worker) Kill() {
	if w.cmd.ProcessState == nil {
		_ = w.cmd.Process.Kill()
		_ = w.cmd.Wait()
	}
}

// Storm starts waits, each for a job at its own URL, and kills workers during the waits. It fails the test if a job was
// started twice, or if a wait ends with another error than that the job may have started.
func Storm(t testing.TB, worker func(testing.TB) *Worker, begin func(url string) (end func() error)) {
	t.Helper()
	const count, kills = 60, 10
	api := NewAPI(t, 8*time.Second)
	ends := make(map[string]func() error)
	for i := range count {
		name := fmt.Sprintf("storm%d", i)
		ends[name] = begin(api.URL + "/" + name)
	}
	for range kills {
		killOne(t, api, worker)
	}
	worker(t)
	done, unknown, unsent, wrong := 0, 0, 0, 0
	for name, end := range ends {
		err := end()
		switch {
		case api.Starts(name) > 1:
			wrong++
			t.Errorf("%s was started %d times", name, api.Starts(name))
		case err == nil:
			done++
		case strings.Contains(err.Error(), "may have started"):
			unknown++
			unsent += 1 - api.Starts(name)
		default:
			wrong++
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Logf("%d kills: %d of %d jobs done, %d may have started (%d had not), %d lost or started twice",
		kills, done, count, unknown, unsent, wrong)
}

// killOne starts a worker, and kills it within half a second of its first request, or after
// 3 s without one.
func killOne(t testing.TB, a *API, worker func(testing.TB) *Worker) {
	before, w := a.Asked(), worker(t)
	for end := time.Now().Add(3 * time.Second); a.Asked() == before && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(rand.N(500 * time.Millisecond))
	w.Kill()
}

// Await waits until done returns true. It fails the test if that takes longer than limit. what names the awaited event in
// the message of the failure.
func Await(t testing.TB, limit time.Duration, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, limit)
		}
	}
}

// Serve starts a server that returns body for every request, and returns the URL of the server. The server is closed when
// the test ends.
func Serve(t testing.TB, body string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
	t.Cleanup(s.Close)
	return s.URL
}
