//go:build unix

package process

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestCommandCompleteBeforeTheEnd(t *testing.T) {
	t.Parallel()
	// A select with two ready cases picks a case at random, so one run proves nothing.
	wantComplete(t, Command{Args: []string{"sh", "-c", "echo answer; exit 5"}}, 20)
}

// If the context is done while other processes hold the outputs open, these processes are stopped. The result of the
// program is still complete.
func TestCommandStoppedWithHeldOutputs(t *testing.T) {
	t.Parallel()
	for _, held := range []string{"sleep 3600 & ", "(trap '' TERM; sleep 3600) & "} {
		c := Command{Args: []string{"sh", "-c", held + "echo answer; exit 5"}, Grace: time.Second}
		group := wantComplete(t, c, 1)
		list, err := exec.Command("ps", "-A", "-o", "pgid=,stat=").Output()
		if err != nil {
			t.Skip("no ps")
		}
		for line := range strings.Lines(string(list)) {
			var pgid int
			var stat string
			if fmt.Sscan(line, &pgid, &stat); pgid == group && !strings.HasPrefix(stat, "Z") {
				t.Errorf("%s: a process of the group is left: %s", held, stat)
			}
		}
	}
}
