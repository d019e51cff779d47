package resume

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

func openLog(t testing.TB, path string) *file {
	t.Helper()
	l, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func check(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

var began = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// key returns the key of an element, nil for the target itself.
func key(of []string) *string {
	if len(of) == 0 {
		return nil
	}
	return &of[0]
}

func ended(id string, of ...string) entry {
	return entry{ID: id, Key: key(of), Name: "name", Exit: new(1), State: poll.State{
		Start: began, Began: began, Attempts: 3, Status: status.Error, Reason: "HTTP 404", Ending: poll.Failed, Elapsed: time.Minute,
	}}
}

func waiting(id string, of ...string) entry {
	e := entry{ID: id, Key: key(of), State: poll.State{Start: began, Attempts: 2, Sent: 1, Status: status.NotReady}}
	e.State.Position = []byte(`{"at":"x"}`)
	return e
}

func starting(id string) entry {
	return entry{ID: id, State: poll.State{Start: began, Attempts: 1, Starting: true}}
}

// sample writes a log with lines of every kind. The last line about a target or element holds: y continues after its end.
func sample(t testing.TB, path string) (l *file, want map[string]entry) {
	t.Helper()
	l = openLog(t, path)
	check(t, l.start(starting("a")))
	l.write(waiting("a"))
	l.write(ended("a"))
	check(t, l.start(starting("b")))
	for _, e := range []entry{waiting("list"), waiting("of", "x"), ended("of", "x"), ended("of", "y"), waiting("of", "y"), ended("of", "")} {
		l.write(e)
	}
	return l, map[string]entry{
		"a": ended("a"), "b": starting("b"), "list": waiting("list"),
		"of/x": ended("of", "x"), "of/y": waiting("of", "y"), "of/": ended("of", ""),
	}
}

// allKnown returns all that is known of the targets of the sample.
func allKnown(l *file) map[string]entry {
	all := make(map[string]entry)
	add := func(name string, e entry) {
		e.Event, e.At = "", time.Time{}
		all[name] = e
	}
	for _, id := range []string{"a", "b", "list"} {
		if e, is := l.past(id); is {
			add(id, e)
		}
	}
	for s, e := range l.newest {
		if s.id == "of" {
			add("of/"+s.key, e)
		}
	}
	return all
}

// hasMode reports whether a file has a mode, which none has on Windows.
func hasMode(info fs.FileInfo, mode fs.FileMode) bool {
	return runtime.GOOS == "windows" || info.Mode().Perm() == mode
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	l, want := sample(t, path)
	check(t, l.close(false))
	l = openLog(t, path)
	defer l.close(false)
	if diff := cmp.Diff(want, allKnown(l), cmp.AllowUnexported(poll.State{})); diff != "" {
		t.Errorf("known (-want +have):\n%s", diff)
	}
	if _, is := l.past("of"); is {
		t.Error("an element is taken for a target")
	}
	if info, err := os.Stat(path); err != nil || !hasMode(info, 0o600) {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// People read the file.
func TestTheFormOfALog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	l := openLog(t, path)
	e := ended(sum("target"))
	e.Exit = new(0)
	l.write(e)
	check(t, l.close(false))
	text, err := os.ReadFile(path)
	check(t, err)
	lines := strings.Split(string(text), "\n")
	const want = `^\{"event":"end","at":"2[^"]*Z","id":"34a04005bcaf206eec990bd9637d9fdb","name":"name","exit":0,"state":\{`
	if lines[0] != `{"joblog":4}` || !regexp.MustCompile(want).MatchString(lines[1]) {
		t.Errorf("%s", text)
	}
}

// A file that is no job log stays as it is.
func TestFilesThatAreNoJobLog(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	l, _ := sample(t, good)
	check(t, l.close(false))
	text, err := os.ReadFile(good)
	check(t, err)
	first, rest, _ := strings.Cut(string(text), "\n")
	for content, want := range map[string]string{
		"precious\n":                      "run.jsonl is not a job log of this version of poll: its first line differs",
		`{"joblog":4` + first:             "is not a job log",
		`{"joblog":3,"salt":"00"}` + "\n": "is not a job log",
		strings.Repeat("x", 2<<20):        "is not a job log",
		first + "\n\n":                    "run.jsonl:2: not a line of a job log",
		first + "\n" + "x\n" + rest:       "run.jsonl:2: not a line of a job log",
		string(text) + "\x00\x00\n":       "run.jsonl:12: not a line",
		first + "\n" + `{"event":"end","id":"a","state":{"v":3}}` + "\n":  "run.jsonl:2: a line for \"end\" that makes no sense",
		first + "\n" + `{"event":"wait","id":"a","state":{"v":9}}` + "\n": "run.jsonl:2: not a line",
		first + "\n" + `{"event":"wait","state":{"v":3}}` + "\n":          "run.jsonl:2: a line for \"wait\" that makes no sense",
	} {
		path := filepath.Join(dir, "run.jsonl")
		check(t, os.WriteFile(path, []byte(content), 0o640))
		_, err := openFile(path)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, want %q", content, err, want)
		}
		after, err := os.ReadFile(path)
		info, _ := os.Stat(path)
		if err != nil || string(after) != content || !hasMode(info, 0o640) {
			t.Errorf("%.80q: has become %.80q, %v", content, after, info.Mode())
		}
		check(t, os.Remove(path))
	}
}

// A start is the last word until its answer is known, or until it has failed.
func TestAStartStays(t *testing.T) {
	unsent := entry{ID: "a", State: poll.State{Start: began, Attempts: 1}}
	unsent.State.Position = []byte(`{"start_due":true}`)
	refused, again, failed := unsent, starting("a"), ended("a")
	refused.State.Sent, again.State.Sent, again.State.Attempts, failed.State.Sent = 1, 1, 2, 1
	for name, test := range map[string]struct {
		write func(l *file)
		want  entry
		lines int
	}{
		"what it was before":  {func(l *file) { l.write(unsent) }, starting("a"), 2},
		"its answer was lost": {func(l *file) { l.write(starting("a")); l.write(starting("a")) }, starting("a"), 2},
		"refused":             {func(l *file) { l.write(refused) }, refused, 3},
		"sent again":          {func(l *file) { l.write(refused); check(t, l.start(again)); l.write(refused) }, again, 4},
		"failed":              {func(l *file) { l.write(failed) }, failed, 3},
	} {
		path := filepath.Join(t.TempDir(), "run.jsonl")
		l := openLog(t, path)
		check(t, l.start(starting("a")))
		test.write(l)
		check(t, l.close(false))
		text, err := os.ReadFile(path)
		check(t, err)
		if lines := bytes.Count(text, []byte("\n")); lines != test.lines {
			t.Errorf("%s: %d lines, want %d", name, lines, test.lines)
		}
		l = openLog(t, path)
		l.write(unsent)
		check(t, l.close(false))
		l = openLog(t, path)
		if diff := cmp.Diff(test.want, allKnown(l)["a"], cmp.AllowUnexported(poll.State{})); diff != "" {
			t.Errorf("%s (-want +have):\n%s", name, diff)
		}
		check(t, l.close(false))
	}
}

// Where a file says it, too, a wait does not take the place of a start.
func TestAStartStaysWhenItIsRead(t *testing.T) {
	const header = `{"joblog":4}` + "\n"
	const start = `{"event":"start","id":"a","state":{"v":3,"attempts":1,"starting":true}}` + "\n"
	const wait = `{"event":"wait","id":"a","state":{"v":3,"session":{"start_due":true}}}` + "\n"
	path := filepath.Join(t.TempDir(), "run.jsonl")
	check(t, os.WriteFile(path, []byte(header+start+wait), 0o600))
	l := openLog(t, path)
	defer l.close(false)
	if have := allKnown(l)["a"]; !have.State.Starting {
		t.Errorf("%+v", have)
	}
}

// Whatever a file holds, and wherever it is cut off, a log takes it as it is up to a whole line, be it
// without its line break, and continues after it, or it leaves the file alone.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "run.jsonl")
	l, _ := sample(f, path)
	check(f, l.close(false))
	sampled, err := os.ReadFile(path)
	check(f, err)
	for size := range len(sampled) + 1 {
		if size%7 == 0 || bytes.Contains(sampled[max(0, size-2):min(len(sampled), size+2)], []byte("\n")) { // within a line, one end is like the next
			f.Add(sampled[:size])
		}
	}
	const header = `{"joblog":4}` + "\n"
	f.Add([]byte(header + `{"event":"end","id":"a","key":"k","exit":1,"state":{"v":3,"ending":"failed","status":"ERROR"}}` + "\n"))
	f.Add([]byte("precious"))
	f.Add([]byte(`{"joBlog":4}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "run.jsonl")
		check(t, os.WriteFile(path, text, 0o600))
		l, err := openFile(path)
		if err == nil {
			l.write(ended("new"))
			check(t, l.close(false))
			again, err := openFile(path)
			check(t, err)
			if e, is := again.past("new"); !is || !e.State.Ended() {
				t.Fatalf("the end is not known")
			}
			check(t, again.close(false))
		}
		after, readErr := os.ReadFile(path)
		whole := text[:bytes.LastIndexByte(text, '\n')+1]
		if line := append(slices.Clone(text), '\n'); bytes.HasPrefix(sampled, line) {
			whole = line
		}
		if readErr != nil || err != nil && !bytes.Equal(after, text) || err == nil && !bytes.HasPrefix(after, whole) {
			t.Errorf("%v: %q has become %q", err, text, after)
		}
	})
}

func TestPlacesThatAreNoFile(t *testing.T) {
	dir := t.TempDir()
	check(t, os.Mkdir(filepath.Join(dir, "dir"), 0o700), os.Symlink("elsewhere", filepath.Join(dir, "link")))
	wrong := map[string]string{"dir": "is a directory", "link": "is a symbolic link, not a regular file", "no/such/place": "no such file or directory"}
	if runtime.GOOS == "windows" {
		wrong["no/such/place"] = filepath.FromSlash("no/such/place: ") // and its own words
	}
	if info, err := os.Lstat(filepath.Join(dir, "link")); err != nil || info.Mode().Type() != fs.ModeSymlink {
		delete(wrong, "link") // as under Wine
	}
	for name, want := range wrong {
		if _, err := openFile(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "elsewhere")); err == nil {
		t.Error("a link was followed")
	}
}

// A log is removed before another process can have it, and a file of another that has taken its name
// stays.
func TestRemove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	check(t, l.start(starting("a")), l.close(true))
	next := openLog(t, path)
	if len(next.newest) > 0 {
		t.Error("the next one knows what was removed")
	}
	check(t, os.Remove(path), os.WriteFile(path, []byte("another's"), 0o600), next.close(true))
	if text, err := os.ReadFile(path); string(text) != "another's" {
		t.Errorf("have %q and %v", text, err)
	}
}

// A compacted log has the same content, in one line for each target and element. The next process opens the
// new file, also if it has opened the old one before.
func TestCompact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	check(t, os.WriteFile(path+".new", []byte("of a process that was killed"), 0o600))
	l, want := sample(t, path)
	for range 20 {
		l.write(waiting("list"))
		l.write(waiting("of", "y"))
	}
	l.write(ended("list"))
	want["list"] = ended("list")
	opened, err := make(chan *file), error(nil)
	go func() {
		var next *file
		for next == nil {
			next, err = openFile(path) // which waits for a moment
			if err != nil && !strings.Contains(err.Error(), "another process uses") {
				break
			}
		}
		opened <- next
	}()
	l.compact()
	check(t, l.close(false))
	if l = <-opened; l == nil {
		t.Fatal(err)
	}
	defer l.close(false)
	if diff := cmp.Diff(want, allKnown(l), cmp.AllowUnexported(poll.State{})); diff != "" {
		t.Errorf("known (-want +have):\n%s", diff)
	}
	text, err := os.ReadFile(path)
	check(t, err)
	if lines := bytes.Count(text, []byte("\n")); lines != 1+len(want) {
		t.Errorf("%d lines for %d entries:\n%s", lines, len(want), text)
	}
	if info, err := os.Stat(path); err != nil || !hasMode(info, 0o600) {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// After a start, a failure ends the wait, and not the operation.
func TestLog_Fate(t *testing.T) {
	open, ended := poll.State{}, poll.State{Ending: poll.Failed}
	for _, test := range []struct {
		how   poll.Ending
		of    poll.Outcome // of its worst target
		kept  poll.State
		lacks bool // the file lacks an entry
		want  Fate
	}{
		{how: poll.Succeeded, want: Over},
		{how: poll.Succeeded, of: poll.Outcome{Ending: poll.Cancelled, Unfinished: true}, want: Over},
		{how: poll.Succeeded, lacks: true, want: Over},
		{how: poll.Failed, of: poll.Outcome{Ending: poll.Failed}, kept: ended, want: Over},
		{how: poll.Failed, of: poll.Outcome{Ending: poll.Failed}, kept: open, want: Kept},
		{how: poll.Failed, of: poll.Outcome{Ending: poll.Failed, Unfinished: true}, kept: open, want: Warned},
		{how: poll.Failed, of: poll.Outcome{Ending: poll.Cancelled, Unfinished: true}, kept: open, want: Warned},
		{how: poll.Failed, of: poll.Outcome{Ending: poll.Failed, Unfinished: true}, kept: open, lacks: true, want: Kept},
		{how: poll.Failed, of: poll.Outcome{Ending: poll.Failed}, kept: ended, lacks: true, want: Kept},
		{how: poll.CannotRun, of: poll.Outcome{Ending: poll.CannotRun}, kept: open, want: Over},
		{how: poll.CannotRun, of: poll.Outcome{Ending: poll.Cancelled, Unfinished: true}, kept: open, want: Warned},
		{how: poll.TimedOut, want: Kept},
		{how: poll.TimedOut, of: poll.Outcome{Ending: poll.TimedOut, Unfinished: true}, want: Kept},
		{how: poll.ThrottledTooLong, want: Kept},
		{how: poll.AttemptsExhausted, want: Kept},
		{how: poll.Interrupted, of: poll.Outcome{Ending: poll.Interrupted, Unfinished: true}, want: Kept},
	} {
		l := &Log{file: openLog(t, filepath.Join(t.TempDir(), "log")), worst: fateOfTarget(&test.of, test.kept)}
		defer l.file.close(false)
		if test.lacks {
			l.file.err = errLost
		}
		if have := l.Fate(test.how); have != test.want {
			t.Errorf("%+v: have %d", test, have)
		}
	}
}

func TestLog_reject(t *testing.T) {
	const earlier, others, another, abandoned = "earlier run", "other targets", "differs from", "nobody has continued"
	for _, test := range []struct {
		known
		resumes, isSlice bool
		want             string // a part of the error; "" for none
	}{
		{known: known{isEmpty: true, isOther: true}},
		{known: known{isEmpty: true, isOther: true, isAbandoned: true}, isSlice: true},
		{known: known{}, want: earlier},
		{known: known{}, resumes: true},
		{known: known{isOther: true}, resumes: true, want: others},
		{known: known{}, isSlice: true},
		{known: known{isAbandoned: true}, isSlice: true, want: abandoned},
		{known: known{isOther: true}, isSlice: true, want: another},
		{known: known{isOther: true, isAbandoned: true}, isSlice: true, want: another},
	} {
		l := &Log{Options: Options{Resume: test.resumes}, file: &file{path: "log"}}
		if test.isSlice {
			l.Slice = time.Minute
		}
		err := l.reject(test.known)
		if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: have %v", test, err)
		}
	}
}
