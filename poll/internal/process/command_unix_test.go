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
	// A select with two choices takes either.
	wantComplete(t, Command{Args: []string{"sh", "-c", "echo answer; exit 5"}}, 20)
}

// The context may be done while the outputs are waited for: then who holds them
// is stopped, and the answer is complete even so.
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
