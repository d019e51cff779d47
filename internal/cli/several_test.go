package cli

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/httpscript"
	"github.com/pollcli/poll/poll"
)

// slowly is a stdout that is read slowly, but is read.
type slowly struct{ bytes.Buffer }

func (w *slowly) Write(p []byte) (int, error) {
	time.Sleep(50 * time.Millisecond)
	return w.Buffer.Write(p)
}

// The deadline does not cut off the lines of targets that end there.
func TestSeveral_linesAtTheDeadline(t *testing.T) {
	next, err := httpscript.InTurn([]string{fmt.Sprintf("200\n\n{\"state\":\"running\",\"log\":%q}", strings.Repeat("x", 1<<20))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	process, _ := processOf(t, `poll -q --timeout 500ms --interval 50ms --rate 0 --until '.state=="done"' http://a.test/1 http://a.test/2 http://a.test/3 http://a.test/4`)
	var out slowly
	process.Streams.Out = &out
	code := (&bubble{t: t, servers: map[string]*httpscript.Server{"a": httpscript.New(next)}}).run(process)
	if lines := strings.Count(out.String(), "\n"); code != ExitTimeout || lines != 4 {
		t.Errorf("have exit code %d and %d lines, want %d and 4", code, lines, ExitTimeout)
	}
}

// The flags that limit attempts set the fields of the group. Programs have a limit of their own.
func TestNewGroup_limits(t *testing.T) {
	t.Parallel()
	processors := runtime.GOMAXPROCS(0)
	for line, want := range map[string]string{
		"":                                       fmt.Sprint("50 6 ", processors, " 50"),
		"--parallel-max 77 --rate 0":             "77 77 77 0",
		"--parallel-max-host 3 --rate 2/s":       "50 3 3 2",
		"--parallel-max 9 --parallel-max-host 2": "9 2 2 50",
	} {
		s, err := lineOf(t, append(strings.Fields(line), "http://h/1", "http://h/2"), nil)
		if err != nil {
			t.Fatal(err)
		}
		g := newGroup(s)
		have := fmt.Sprint(g.Parallel, " ", g.ParallelPlace("http://h"), " ", g.ParallelPlace("sh"), " ", g.Limiter.(*poll.Pacer).PerSecond)
		if have != want {
			t.Errorf("%s: have %s, want %s", line, have, want)
		}
	}
}

// A list may be empty only with --expect 0, which is -1 in the library.
func TestReadList_expect(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]int{"": 0, "--expect=0": -1, "--expect=3": 3} {
		s, err := lineOf(t, append(strings.Fields(flag), "--each=.", "--until=.x", "http://h"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if list, err := s.readList(); err != nil || list.Expect != want {
			t.Errorf("%s: have %v, %v, want %d", flag, list.Expect, err, want)
		}
	}
}
