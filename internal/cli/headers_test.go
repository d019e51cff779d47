package cli

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/argv"
)

// A file that looks the same is not read again before an attempt, but after a 401: it may
// have changed within the second that its time counts.
func TestRenewedHeaders(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "token")
	now := time.Now()
	long := now.Add(-time.Hour)
	write := func(text string, changed time.Time) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, changed, changed); err != nil {
			t.Fatal(err)
		}
	}
	write("X-Key: 1\n", long)
	world, _ := worldOf(t, "poll -H @"+name+" -H 'X-Other: x' http://h")
	var again refresh
	command := &argv.Command{Flags: waitFlags(), MaxOperands: argv.Any}
	p := world.program()
	p.Main = command
	command.Run = func(_ context.Context, l *argv.Line) (err error) {
		_, again, err = renewedHeaders(l, world)
		return err
	}
	if _, err := p.Run(t.Context(), world.Args); err != nil {
		t.Fatal(err)
	}
	have := func(refused bool) http.Header {
		t.Helper()
		header, err := again(t.Context(), refused)
		if err != nil {
			t.Error(err)
		}
		return header
	}
	for _, step := range []struct {
		text    string
		changed time.Time
		refused bool
		want    string
	}{
		{"X-Key: 2\n", long, false, "1"},
		{"X-Key: 2\n", long, true, "2"},
		{"X-Key: 33\n", long, false, "33"},
		{"X-Key: 44\n", long.Add(time.Second), false, "44"},
		{"X-Key: 55\n", now, false, "55"},
		{"X-Key: 66\n", now, false, "66"},
	} {
		write(step.text, step.changed)
		header := have(step.refused)
		if header.Get("X-Key") != step.want || header.Get("X-Other") != "x" {
			t.Errorf("%q: have %v, want %s", step.text, header, step.want)
		}
	}
}
