package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pollcli/poll/poll"
)

// All kinds of stores behave equally.
func TestStore(t *testing.T) {
	t.Parallel()
	for name, serve := range map[string]func(t *testing.T) (where string){
		"directory": func(t *testing.T) string { return filepath.Join(t.TempDir(), "new", "directory") },
		"redis":     func(t *testing.T) string { return serve(t, false).url },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := serve(t)
			t.Run("changes", func(t *testing.T) { testChange(t, where) })
			t.Run("counts", func(t *testing.T) { testCounts(t, where) })
			t.Run("limits", func(t *testing.T) { testLimits(t, where) })
		})
	}
}

// open opens a fleet. Without options the limit is a thousand requests per second. The notes go to the
// channel.
func open(t testing.TB, where string, options ...Options) (*Fleet, chan string) {
	t.Helper()
	notes := make(chan string, 100)
	o := append(options, Options{PerSecond: 1000, Known: true})[0]
	o.Note = func(note string) { notes <- note }
	f := must(Open(where, o))
	t.Cleanup(f.Close)
	f.opened = time.Now().Add(time.Hour) // a call may take as long on a busy machine
	return f, notes
}

// sends makes n requests to an origin, and returns a note or "".
func sends(f *Fleet, notes chan string, n int) string {
	for range n {
		at, _ := f.Next("place", time.Time{})
		time.Sleep(time.Until(at))
	}
	select {
	case note := <-notes:
		return note
	default:
		return ""
	}
}

// awaitUp waits until the fleet uses the store again.
func awaitUp(t *testing.T, f *Fleet) {
	t.Helper()
	for range 1000 {
		if f.change(f.key("test-", "x"), func(*limit, int64) {}) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("it is not shared again")
}

func testChange(t *testing.T, where string) {
	s, _, err := openStore(where, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for _, test := range []struct{ key, old, next string }{
		{"aa", "", ""},
		{"aa", "", "1"},
		{"aa", "1", "1"},
		{"aa", "1", "22\x00\xff"},
		{"ba", "", "2"},
		{"aa", "22\x00\xff", "3"},
		{"aa", "3", "3"},
		{"ca", "", strings.Repeat("long ", 30_000)},
		{"ca", strings.Repeat("long ", 30_000), "short"},
		{"ca", "short", "short"},
	} {
		err := s.change(10*time.Second, prefix+test.key, func(text string, at int64) string {
			if text != test.old || time.Since(time.UnixMicro(at)).Abs() > time.Minute {
				t.Errorf("%.60v: %.60q, %d", test, text, at)
			}
			return test.next
		})
		if err != nil {
			t.Fatalf("%.60v: %v", test, err)
		}
	}
}

// Concurrent changes are never lost.
func testCounts(t *testing.T, where string) {
	const fleets, times = 8, 50
	var counted atomic.Int64
	var all sync.WaitGroup
	for range fleets {
		f, _ := open(t, where)
		all.Go(func() {
			for range times {
				if f.change("count", func(l *limit, now int64) { l.Settle(f.rules, now); l.Here++ }) {
					counted.Add(1)
				}
			}
		})
	}
	all.Wait()
	f, _ := open(t, where)
	f.change("count", func(l *limit, _ int64) {
		if n := counted.Load(); int64(l.Here) < n || l.Here > fleets*times || n == 0 {
			t.Errorf("%v of %d", l.Here, n)
		}
	})
}

// A slot or a wait of one process also applies to the other processes.
func testLimits(t *testing.T, where string) {
	a, notes := open(t, where, Options{PerSecond: 0.1, Known: true})
	b, _ := open(t, where, Options{PerSecond: 0.1, Known: true})
	began := time.Now()
	first, _ := a.Next("place", time.Time{})
	second, closed := b.Next("place", time.Time{})
	if gap := second.Sub(first); gap < 8*time.Second || gap > 20*time.Second+time.Since(began) || closed != "" {
		t.Errorf("the second is %s later, %q", gap, closed)
	}
	if again, _ := b.Next("place", second); again != second {
		t.Errorf("the slot at %s does not hold: %s", second, again)
	}
	a.Done("place", poll.Feedback{Sent: first, Refused: true, Wait: 50 * time.Minute, Reason: "HTTP 429"})
	if at, closed := b.Next("place", second); time.Until(at) < 40*time.Minute || closed != "a server asked another process to wait" {
		t.Errorf("%s, %q", time.Until(at), closed)
	}
	if at, closed := a.Next("place", time.Time{}); time.Until(at) < 40*time.Minute || closed != "HTTP 429" {
		t.Errorf("%s, %q", time.Until(at), closed)
	}
	sent, _ := a.Next("used up", time.Time{})
	a.Done("used up", poll.Feedback{Sent: sent, Reset: time.Minute, Reason: "RateLimit"})
	if at, _ := b.Next("used up", time.Time{}); time.Until(at) < 59*time.Second {
		t.Errorf("after the last request of a minute: %s", time.Until(at))
	}
	if at, _ := b.Next("elsewhere", time.Time{}); time.Until(at) > 0 {
		t.Errorf("elsewhere: %s", time.Until(at))
	}
	if len(notes) > 0 {
		t.Error(<-notes)
	}
}

// An invalid record, of any type, counts as no record, and is replaced.
func TestStore_strangers(t *testing.T) {
	t.Parallel()
	s := serve(t, false)
	dir := t.TempDir()
	conn := s.connect(t)
	forge := map[string]func(key, text string) error{
		dir: func(key, text string) error { return os.WriteFile(filepath.Join(dir, key), []byte(text), 0o600) },
		s.url: func(key, text string) error {
			conn.Do("DEL", key)
			_, err := conn.Do(map[bool]string{true: "LPUSH", false: "SET"}[text == "a list"], key, text)
			return err
		},
	}
	for _, text := range []string{"a list", strings.Repeat("x", 1<<20), `{"v":99,"id":"x"}`} {
		for where, forge := range forge {
			f, notes := open(t, where, Options{PerSecond: 1000, Known: true, Name: text})
			for range 2 {
				at, _ := f.Next("place", time.Time{})
				time.Sleep(time.Until(at))
				check(t, forge(f.key("limit-", "name "+text), text))
				if at, _ := f.Next("place", time.Time{}); time.Until(at) > time.Second {
					t.Errorf("%.20s: a slot in %s", text, time.Until(at))
				}
			}
			if len(notes) > 0 {
				t.Errorf("%.20s: %s", text, <-notes)
			}
		}
	}
}

// After any wrong reply of a server, each process continues alone. It notes the reason once, without a
// password.
func TestRedis_refuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		flags    []string
		user     string
		commands []string
		want     string
	}{
		{"full", nil, "", []string{"CONFIG SET maxmemory 1"}, "(OOM)"},
		{"replica", nil, "", []string{"REPLICAOF 127.0.0.1 1"}, "(READONLY)"},
		{"no password", []string{"--requirepass", "hunter2"}, "", nil, "(NOAUTH)"},
		{"wrong password", []string{"--requirepass", "hunter2"}, ":hunter3@", nil, "(WRONGPASS)"},
		{"no such user", nil, "me:hunter3@", nil, "(WRONGPASS)"},
		{"no rights", nil, "me:hunter2@", []string{"ACL SETUSER me on >hunter2 ~poll-* +eval +evalsha +get +set"}, "(NOPERM)"},
		{"other keys", nil, "me:hunter2@", []string{"ACL SETUSER me on >hunter2 ~other-* +eval +evalsha +get +set +time +del"}, "(NOPERM)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, true, test.flags...)
			for _, c := range test.commands {
				words := strings.Fields(c)
				args := make([]any, 0, 9)
				for _, word := range words[1:] {
					args = append(args, word)
				}
				command(t, s.connect(t), words[0], args...)
			}
			f, notes := open(t, strings.Replace(s.url, "//", "//"+test.user, 1))
			note := sends(f, notes, 20)
			if !strings.Contains(note, test.want) || strings.Contains(note, "hunter") {
				t.Errorf("told %q, want %q", note, test.want)
			}
			if again := sends(f, notes, 3); again != "" {
				t.Errorf("told again: %s", again)
			}
		})
	}
}

// A problem with the directory is noted once, and each process continues alone.
func TestDirectory_fails(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(dir string) error{
		"a file in its place": func(dir string) error {
			return os.WriteFile(dir, nil, 0o600)
		},
		"others may write to it": func(dir string) error {
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return os.Chmod(dir, 0o777)
		},
	} {
		dir := filepath.Join(t.TempDir(), "shared")
		f, notes := open(t, dir)
		if note := sends(f, notes, 3); note != "" {
			t.Errorf("%s: %s", name, note)
		}
		if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("the mode of the directory is %v, %v", info, err)
		}
		check(t, os.RemoveAll(dir))
		check(t, spoil(dir))
		if note := sends(f, notes, 3); !strings.Contains(note, "continues alone") {
			t.Errorf("%s: told %q", name, note)
		}
		if note := sends(f, notes, 3); note != "" {
			t.Errorf("%s: told again: %s", name, note)
		}
		os.RemoveAll(dir)
		awaitUp(t, f) // the request creates the directory again
	}
}

// Only records that are unchanged for a long time are removed.
func TestDirectory_sweeps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, notes := open(t, dir)
	sends(f, notes, 1)
	key := f.key("limit-", "place place")
	old := time.Now().Add(-3 * recordTTL)
	mine := filepath.Join(dir, "mine")
	check(t, os.WriteFile(mine, nil, 0o600))
	os.Chtimes(mine, old, old)
	locks, _ := filepath.Glob(filepath.Join(dir, "*"+lockSuffix))
	for _, lock := range locks {
		os.Chtimes(lock, old, old)
	}
	open(t, dir)
	if entries, _ := os.ReadDir(dir); len(entries) != 3 {
		t.Errorf("have %v", entries)
	}
	os.Chtimes(filepath.Join(dir, key), old, old)
	open(t, dir)
	// Locks stay: if a lock in use were removed, a second file of the same name would be a second lock.
	if entries, _ := os.ReadDir(dir); len(entries) != 2 || len(locks) != 1 {
		t.Errorf("have %v", entries)
	}
}

// There are only a few different locks, so that locks need not be removed.
func TestDirectory_locks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, notes := open(t, dir)
	for n := range 1000 {
		f.Next(fmt.Sprint("place ", n), time.Time{})
	}
	locks, _ := filepath.Glob(filepath.Join(dir, "*"+lockSuffix))
	if len(locks) > 256 || len(notes) > 0 {
		t.Errorf("have %d locks of 1,000 records, and %d notes", len(locks), len(notes))
	}
}
