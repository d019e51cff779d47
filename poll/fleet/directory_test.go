package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/lockedfile"
	"github.com/pollcli/poll/internal/pace"
)

func TestDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "shared")
	var mu sync.Mutex
	var slots []time.Time
	var all sync.WaitGroup
	for range 10 {
		f, notes := share(t, dir)
		l := &Limiter{Fleet: f, PerSecond: 100_000}
		all.Go(func() {
			for range 20 {
				slot := l.Reserve("place")
				mu.Lock()
				slots = append(slots, slot.At)
				mu.Unlock()
			}
		})
		defer func() {
			select {
			case note := <-notes:
				t.Error(note)
			default:
			}
		}()
	}
	all.Wait()
	f, _ := share(t, dir)
	limits, err := f.List(t.Context())
	if err != nil || len(limits) != 1 || limits[0].Key != f.Key("place") {
		t.Fatalf("%+v, %v", limits, err)
	}
	l := &Limiter{Fleet: f}
	slot := l.Reserve("place")
	l.Confirm(slot)
	l.Throttled(slot, time.Minute)
	limits, err = f.List(t.Context())
	if err != nil || limits[0].Closed < 50*time.Second || limits[0].PerSecond == 0 {
		t.Errorf("%+v, %v", limits, err)
	}
}

// Steps of many at once are taken one after the other.
func TestDirectory_loses(t *testing.T) {
	t.Parallel()
	dir := directory(t.TempDir())
	began := time.Now()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				if _, err := dir.step(ctx, "a", pace.Rules{Most: 1, Horizon: horizon}, pace.Call{Op: pace.Reserve}); err != nil {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	all.Wait()
	records, err := dir.list(t.Context())
	if err != nil || len(records) != 1 {
		t.Fatalf("%+v, %v", records, err)
	}
	state, ok := pace.Parse(records[0].text)
	newest := time.UnixMicro(state.Last).Add(-799 * time.Second) // if it is the 800th
	if early, late := began.Add(-time.Second), time.Now().Add(time.Second); !ok || newest.Before(early) || newest.After(late) {
		t.Errorf("the newest of 800 slots is at %s: %q", time.UnixMicro(state.Last), records[0].text)
	}
}

// Only its user may read what is shared, and nobody finds a text of the caller's there.
func TestDirectory_tellsNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shared")
	f, _ := share(t, dir)
	l := &Limiter{Fleet: f, Key: func(place string) string { return place + " Bearer hunter2" }}
	slot := l.Reserve("https://api.example.com:443")
	l.Throttled(slot, time.Minute)
	sharesSecrets(f, "https://api.example.com", "Bearer hunter2")
	var all bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		all.WriteString(strings.TrimPrefix(path, dir) + "\n")
		if entry.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil || !strings.Contains(all.String(), limitSuffix) {
		t.Fatalf("%s, %v", &all, err)
	}
	if !strings.Contains(all.String(), answerSuffix) {
		t.Errorf("no answer in %q", &all)
	}
	tellsNothing(t, all.String(), "example", "hunter2", "Bearer", "body", "etag", "hereafter")
}

// What others have put into the directory, or cut off, is a place of which nothing is known.
func TestDirectory_forged(t *testing.T) {
	t.Parallel()
	record := string((&pace.State{Now: 1, Version: 1, Closed: pace.Forever}).Record())
	file := func(record string) string { return record + strings.Repeat(" ", recordSize-1-len(record)) + "\n" }
	for name, test := range map[string]struct {
		text   string
		closed bool
	}{
		"whole":           {file(record), true},
		"empty":           {"", false},
		"cut off":         {file(record)[:400], false},
		"longer":          {file(record) + " ", false},
		"no newline":      {strings.TrimSuffix(file(record), "\n") + " ", false},
		"another version": {file("1" + record[1:]), false},
		"no record":       {file("hello"), false},
		"huge":            {strings.Repeat(file(record), 10_000), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			f, notes := share(t, dir)
			path := filepath.Join(dir, f.Key("place")+limitSuffix)
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			l := &Limiter{Fleet: f}
			left := time.Until(l.Reserve("place").At)
			if closed := left > 59*time.Minute; closed != test.closed || left > time.Hour {
				t.Errorf("the next slot is in %s", left)
			}
			if len(notes) > 0 {
				t.Error(<-notes)
			}
		})
	}
}

// Whatever is wrong with a directory, each process goes on alone, and says so once.
func TestDirectory_fails(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		damage func(t *testing.T, path string)
		want   string
	}{
		{"a directory in the file's place", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "is a directory"},
		{"a symbolic link", func(t *testing.T, path string) {
			if err := os.Symlink("/etc/hostname", path); err != nil || runtime.GOOS == "windows" {
				t.Skip("no links of that kind here:", err)
			}
		}, "not a regular file"},
		{"somebody who keeps the lock", func(t *testing.T, path string) {
			_, unlock, err := lockedfile.OpenLocked(t.Context(), path, os.O_RDWR|os.O_CREATE)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { unlock() })
		}, "another process holds"},
		{"a file in the directory's place", func(t *testing.T, path string) {
			dir := filepath.Dir(path)
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dir, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a directory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "shared")
			f, notes := share(t, dir)
			<-f.reached
			test.damage(t, filepath.Join(dir, f.Key("place")+limitSuffix))
			if runtime.GOOS == "windows" && test.want == "not a directory" {
				test.want = "shared" // it has other words for it
			}
			if note := sends(t, f, notes, 5); !strings.Contains(note, test.want) {
				t.Errorf("told %q, want %q", note, test.want)
			}
			if again := sends(t, f, notes, 5); again != "" {
				t.Errorf("told again: %s", again)
			}
		})
	}
}

// A directory that is removed is made again.
func TestDirectory_removed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shared")
	f, notes := share(t, dir)
	sends(t, f, notes, 1)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if note := sends(t, f, notes, 1); !strings.Contains(note, dir) {
		t.Errorf("told %q", note)
	}
	awaitUp(t, f)
	sends(t, f, notes, 1)
	if limits, err := f.List(t.Context()); err != nil || len(limits) != 1 {
		t.Errorf("%+v, %v", limits, err)
	}
}

// Answers that nobody can be waiting for are removed, and nothing else is.
func TestDirectory_sweeps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := time.Now().Add(-2 * stale)
	for name, age := range map[string]time.Time{
		"old" + answerSuffix: old, "old" + answerSuffix + ".lock": old, "new" + answerSuffix: time.Now(), "old" + limitSuffix: old, "old.txt": old,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, age, age); err != nil {
			t.Fatal(err)
		}
	}
	f, _ := share(t, dir)
	<-f.reached
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	if have := strings.Join(left, " "); err != nil || have != "new.answer old.limit old.txt" {
		t.Errorf("left %s, %v", have, err)
	}
}

// What is no record, or has a name that no record has, is not listed.
func TestDirectory_listsRecords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, _ := share(t, dir)
	<-f.reached
	hostile := f.Key("place")[4:] + "\x1b[2J"
	if runtime.GOOS == "windows" { // no name has control characters there
		hostile = f.Key("place")[4:] + "[[2J"
	}
	for name, mode := range map[string]os.FileMode{f.Key("place"): 0o600, f.Key("unreadable"): 0, "cc": 0o600, hostile: 0o600} {
		file, err := os.OpenFile(filepath.Join(dir, name+limitSuffix), os.O_WRONLY|os.O_CREATE, mode)
		if err == nil {
			err = errors.Join(write(file, (&pace.State{Now: 1, Version: 1}).Record()), file.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := 1
	if _, err := os.ReadFile(filepath.Join(dir, f.Key("unreadable")+limitSuffix)); err == nil {
		want = 2 // root reads all
	}
	if limits, err := f.List(t.Context()); err != nil || len(limits) != want {
		t.Errorf("%+v, %v", limits, err)
	}
}

// A look makes no file: what is removed meanwhile stays so.
func TestDirectory_looks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	looks := 0
	at, err := directory(dir).swap(t.Context(), "thing", guess{}, func(s sheet) *edit {
		looks++
		return nil
	})
	left, globbed := filepath.Glob(filepath.Join(dir, "*"))
	if err = errors.Join(err, globbed); err != nil || looks != 1 || at == 0 || len(left) > 0 {
		t.Errorf("looked %d times, at %d: %v, %v", looks, at, left, err)
	}
}

// A change is seen even if the time of the file does not show it.
func TestDirectory_sees(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	asker := newWaiter(open1(t, dir), "thing", every(time.Second)).question
	news := make(chan struct{}, 1)
	q := open1(t, dir).Question([]byte("thing"), time.Now().Add(-time.Hour), func() { news <- struct{}{} })
	for i := range 20 {
		if turn := asker.Claim(time.Second, true); !turn.Ask {
			t.Fatalf("%+v", turn)
		}
		if i == 0 {
			q.Claim(0, true)
		}
		asker.Answered(fmt.Appendf(nil, "%02d", i), time.Second)
		<-news
		if turn := q.Claim(time.Second, false); string(turn.Answer) != fmt.Sprintf("%02d", i) {
			t.Fatalf("%+v", turn)
		}
	}
}

// BenchmarkDirectory takes slots in several processes' stead.
func BenchmarkDirectory(b *testing.B) { benchmark(b, b.TempDir()) }

// Whatever is in the file of a place, it can be listed, and the next step leaves a record.
func FuzzDirectory(f *testing.F) {
	where := f.TempDir()
	fl, _ := share(f, where)
	path := filepath.Join(where, fl.Key("place")+limitSuffix)
	(&Limiter{Fleet: fl}).Reserve("place")
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:recordSize-1])
	f.Add(append(whole, '\n'))
	f.Add(bytes.Repeat([]byte(" "), recordSize))
	f.Fuzz(func(t *testing.T, file []byte) {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		limits, err := fl.List(t.Context())
		if err != nil || len(limits) > 1 {
			t.Errorf("%q is listed as %+v, %v", file, limits, err)
		}
		reply, err := directory(where).step(t.Context(), fl.Key("place"), pace.Rules{Most: 5, Horizon: horizon}, pace.Call{Op: pace.Reserve})
		left, _ := os.ReadFile(path)
		if _, ok := pace.Parse(recordIn(left)); err != nil || !ok || reply.At < 0 || reply.Closed < 0 {
			t.Errorf("%q is followed by %+v, %v, and %q", file, reply, err, left)
		}
	})
}
