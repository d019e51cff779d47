package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/cli/run"
	"github.com/pollcli/poll/internal/httpscript"
)

// slowly is a stdout with a slow reader.
type slowly struct{ bytes.Buffer }

func (w *slowly) Write(p []byte) (int, error) {
	time.Sleep(50 * time.Millisecond)
	return w.Buffer.Write(p)
}

// The deadline does not cut off the results of targets that end at the deadline.
func TestSeveral_linesAtTheDeadline(t *testing.T) {
	next, err := httpscript.InTurn([]string{fmt.Sprintf("200\n\n{\"state\":\"running\",\"log\":%q}", strings.Repeat("x", 1<<20))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	process, _ := processOf(t, `poll -q --timeout 500ms --interval 50ms --rate 0 --until '.state=="done"' http://a.test/1 http://a.test/2 http://a.test/3 http://a.test/4`)
	var out slowly
	process.Streams.Out = &out
	code := (&bubble{t: t, servers: map[string]*httpscript.Server{"a": httpscript.New(next)}}).run(process)
	if lines := strings.Count(out.String(), "\n"); code != run.ExitTimeout || lines != 4 {
		t.Errorf("have exit code %d and %d lines, want %d and 4", code, lines, run.ExitTimeout)
	}
}
