//go:build torture && linux

package torture

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/httpscript"
)

// An office starts an operation by POST /I, and answers at /I/status: done at its eighth look.
type office struct {
	mu     sync.Mutex
	starts map[string]int // by path
	looks  map[string]int
}

func (o *office) answer(t *testing.T) func(httpscript.Request) *httpscript.Answer {
	running, done := answer(t, `200:{"state":"running"}`), answer(t, `200:{"state":"done"}`)
	return func(r httpscript.Request) *httpscript.Answer {
		o.mu.Lock()
		defer o.mu.Unlock()
		path, isStatus := strings.CutSuffix(r.URI, "/status")
		if !isStatus {
			o.starts[path]++
			return answer(t, "202,Location="+path+"/status")
		}
		if o.looks[path]++; o.looks[path] < 8 {
			return running
		}
		return done
	}
}

// Runs with a job log are killed at 200 random moments, and go on: no operation is started twice,
// and each is waited for, but for those that may have started as poll was killed.
func TestResumed(t *testing.T) {
	random := random(t)
	kills := 0
	for n := 0; kills < 200; n++ {
		t.Run(fmt.Sprint("round ", n), func(t *testing.T) {
			o := &office{starts: map[string]int{}, looks: map[string]int{}}
			url := serve(t, o.answer(t))
			log := filepath.Join(t.TempDir(), "joblog")
			args := words("-q -X POST --timeout 20s --interval 10ms --rate 0 --until .state==\"done\" --resume --joblog " + log)
			for i := range [...]int{1, 12}[n%2] {
				args = append(args, fmt.Sprint(url, "/", i))
			}
			begun := kills
			for {
				w := start(t, nil, args...)
				if kills < begun+25 {
					time.AfterFunc(below(random, 70*time.Millisecond), func() { w.Process.Kill() })
				}
				if e := w.finish(t); e.signal != syscall.SIGKILL {
					o.check(t, e, log)
					return
				}
				kills++
			}
		})
	}
}

// check compares the end of the last run, and the log, with what the office was asked.
func (o *office) check(t *testing.T, e ended, log string) {
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if e.code != 0 && !(e.code == 1 && strings.Contains(string(text), "may have started")) {
		t.Errorf("exit code %d: %s", e.code, e.stderr)
	}
	unsure := strings.Count(string(text), "may have started")
	for path, n := range o.starts {
		if n > 1 {
			t.Errorf("%s was started %d times", path, n)
		}
		if o.looks[path] < 8 {
			unsure--
		}
	}
	if unsure < 0 {
		t.Errorf("operations that were started have not ended: %v of %v\n%s", o.looks, o.starts, text)
	}
}
