// Package jobs provides servers and workers for the adapters' tests: an API that starts jobs and counts requests,
// and worker processes that the tests kill.
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

// An API is a server that runs jobs. POST /NAME starts the job called NAME, and GET /NAME returns the job's state.
type API struct {
	*httptest.Server
	takes time.Duration

	mu            sync.Mutex
	asked         int
	starts, looks map[string]int
	began         map[string]time.Time
}

// NewAPI returns an API whose jobs are done once the duration takes has passed since their start. If a job's name
// starts with "storm", the response to its start request is slow. The API is closed at the end of the test.
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

// count counts a request for the job called name, and reports whether the job is done. If the first request for a
// job is a GET, it also starts the job.
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

// Starts returns the number of POST requests for a job. Looks returns the number of other requests for a job.
func (a *API) Starts(name string) int { a.mu.Lock(); defer a.mu.Unlock(); return a.starts[name] }
func (a *API) Looks(name string) int  { a.mu.Lock(); defer a.mu.Unlock(); return a.looks[name] }

// Asked returns the number of requests for all jobs.
func (a *API) Asked() int { a.mu.Lock(); defer a.mu.Unlock(); return a.asked }

// A Worker is a process that runs the test's own executable.
type Worker struct{ cmd *exec.Cmd }

// StartWorker runs the test's executable as a worker until the test ends. It adds env to the environment. The
// executable's TestMain must recognize a worker by these variables.
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

// Kill ends the worker with SIGKILL. It does nothing if the worker has already been killed.
func (w *Worker) Kill() {
	if w.cmd.ProcessState == nil {
		_ = w.cmd.Process.Kill()
		_ = w.cmd.Wait()
	}
}

// Storm tests that killed workers lose no job. It starts many waits with begin, each for its own job, and kills some
// workers during the waits. Then it calls each end function that begin has returned. The test fails if a job was
// started twice. It also fails if a wait returns an error, unless the error reports that the job may have started.
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

// killOne starts a worker. It kills the worker within half a second after the worker's first request, or within
// half a second after 3 s without a request.
func killOne(t testing.TB, a *API, worker func(testing.TB) *Worker) {
	before, w := a.Asked(), worker(t)
	for end := time.Now().Add(3 * time.Second); a.Asked() == before && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(rand.N(500 * time.Millisecond))
	w.Kill()
}

// Await waits until done returns true. The test fails if that takes longer than limit. In the message, what
// describes the condition.
func Await(t testing.TB, limit time.Duration, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, limit)
		}
	}
}

// Serve starts a server that responds to every request with body, and returns the server's URL. The server is
// closed at the end of the test.
func Serve(t testing.TB, body string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
	t.Cleanup(s.Close)
	return s.URL
}
