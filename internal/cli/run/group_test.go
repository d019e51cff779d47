package run

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/pollcli/poll/poll"
)

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
		g := newGroup(waitOf(t, "", append(strings.Fields(line), "http://h/1", "http://h/2")...).spec)
		have := fmt.Sprint(g.Parallel, " ", g.ParallelPlace("http://h"), " ", g.ParallelPlace("sh"), " ", g.Limiter.(*poll.Pacer).PerSecond)
		if have != want {
			t.Errorf("%s: have %s, want %s", line, have, want)
		}
	}
}
