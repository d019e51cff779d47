package cli

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/internal/argv"
)

// headersOf reads the header of a line, and returns what reads it again.
func headersOf(t *testing.T, line string) (header http.Header, again refresh, err error) {
	t.Helper()
	world, _ := worldOf(t, line)
	p := world.program()
	p.Main = &argv.Command{Flags: waitFlags(), MaxOperands: argv.Any, Run: func(_ context.Context, l *argv.Line) (err error) {
		header, again, err = renewedHeaders(l, world)
		return err
	}}
	_, err = p.Run(t.Context(), world.Args)
	return header, again, err
}

// A file that is being written is read once that has ended, at the start and later. While it
// does not end, what it said last holds.
func TestHeadersThatAreBeingWritten(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		t.Helper()
		now := time.Now()
		next := name + ".next" // a file has the time of the bubble when the reader sees it
		if err := cmp.Or(os.WriteFile(next, []byte(text), 0o600), os.Chtimes(next, now, now), os.Rename(next, name)); err != nil {
			t.Error(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		const line = "poll -H @token http://h"
		writeLater := func(text string) { time.AfterFunc(moment/2, func() { write(text) }) }
		want := func(header http.Header, err error, key string) {
			t.Helper()
			if have := header.Get("X-Key"); have != key || err != nil {
				t.Errorf("have %q and %v, want %q", have, err, key)
			}
		}
		write("X-Ke")
		writeLater("X-Key: 1")
		header, again, err := headersOf(t, strings.Replace(line, "token", name, 1))
		want(header, err, "1")
		write("")
		writeLater("X-Key: 2")
		header, err = again(t.Context(), false)
		want(header, err, "2")

		stop := make(chan struct{})
		defer close(stop)
		go func() {
			for {
				write("X-Key: half")
				select {
				case <-stop:
					return
				case <-time.After(moment / 2):
				}
			}
		}()
		time.Sleep(moment)
		began := time.Now()
		header, err = again(t.Context(), false)
		if took := time.Since(began); header.Get("X-Key") != "2" || err == nil || !strings.HasSuffix(err.Error(), "it is being written") || took > 2*time.Second {
			t.Errorf("while it is written for ever: %v and %v after %v", header, err, took)
		}
		short, cancel := context.WithTimeout(t.Context(), moment)
		defer cancel()
		began = time.Now()
		if header, _ = again(short, true); header.Get("X-Key") != "2" || time.Since(began) > moment {
			t.Errorf("a short attempt: %v after %v", header, time.Since(began))
		}
	})
}

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
	_, again, err := headersOf(t, "poll -H @"+name+" -H 'X-Other: x' http://h")
	if err != nil {
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
	// A field that is removed from the file has no values, and is not sent.
	write("Authorization: new\n", now.Add(-time.Minute))
	header := have(false)
	if values, named := header["X-Key"]; !named || len(values) != 0 || header.Get("Authorization") != "new" {
		t.Errorf("have %v, want no X-Key", header)
	}
}
