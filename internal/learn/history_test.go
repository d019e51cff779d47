package learn_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	fit "github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/learn"
)

var end = time.Date(2026, 3, 4, 5, 6, 7, 890e6, time.UTC)

// run returns the record of a run that lasted at least number seconds, which identifies the run.
func run(number int) learn.Record {
	lo := time.Duration(number) * time.Second
	return learn.Record{End: end, Lo: lo, Hi: lo + time.Second, Outcome: learn.Success}
}

// numbers returns the numbers with which run made the records.
func numbers(records []learn.Record) []int {
	var list []int
	for _, r := range records {
		list = append(list, int(r.Lo/time.Second))
	}
	return list
}

// read returns the records of the history name, and reports an error if there is a warning.
func read(t *testing.T, s learn.History, name string) []learn.Record {
	t.Helper()
	past, err := s.Fit(name, fit.Options{})
	if err != nil || len(past.Warnings) > 0 {
		t.Errorf("Fit(%q): warnings %q, error %v", name, past.Warnings, err)
	}
	return past.Runs
}

func appendRuns(t *testing.T, s learn.History, name string, records ...learn.Record) {
	t.Helper()
	for _, r := range records {
		check(t, s.Append(t.Context(), name, r))
	}
}

func TestAppendAndRead(t *testing.T) {
	s := learn.History{Dir: filepath.Join(t.TempDir(), "a", "b")}
	want := []learn.Record{
		run(12),
		{End: end, Lo: 1234567891, Hi: 1234567891, Outcome: learn.Failure},
		{End: end, Lo: time.Hour, Outcome: learn.Timeout},
		{End: end, Outcome: learn.Interrupted},
		{End: end, Hi: time.Millisecond, Outcome: learn.Success},
	}
	appendRuns(t, s, "deploy eu", want...)
	have := read(t, s, "deploy eu")
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	text, err := os.ReadFile(filepath.Join(s.Dir, "deploy eu.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	const first = `{"end":"2026-03-04T05:06:07.89Z","lo_s":12,"hi_s":13,"outcome":"success"}` + "\n"
	if !strings.HasPrefix(string(text), first) {
		t.Errorf("file %s\nwant it to begin with %s", text, first)
	}
	if runtime.GOOS == "windows" { // Windows has no file modes
		return
	}
	for path, want := range map[string]fs.FileMode{s.Dir: 0o700, filepath.Join(s.Dir, "deploy eu.jsonl"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("mode of %s = %v, %v, want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

func TestReadSkipsWhatIsNoRun(t *testing.T) {
	good := `{"end":"2026-03-04T05:06:07Z","lo_s":1,"hi_s":2,"outcome":"success","later":"field"}`
	for name, c := range map[string]struct {
		text    string
		runs    int
		warning string
	}{
		"no newline":       {good, 1, ""},
		"torn":             {good + "\n" + good[:40], 1, "history x: 1 line skipped, the first: line 2: not a JSON object of a run"},
		"foreign":          {good + "\n{}\nhello\n[1]\n" + good + "\n", 2, "history x: 3 lines skipped, the first: line 2: unknown outcome \"\""},
		"no end":           {`{"lo_s":1,"hi_s":2,"outcome":"success"}`, 0, "history x: 1 line skipped, the first: line 1: end is missing"},
		"negative":         {`{"end":"2026-03-04T05:06:07Z","lo_s":-1,"outcome":"timeout"}`, 0, "history x: 1 line skipped, the first: line 1: a run cannot be between -1s and 0s"},
		"no hi":            {`{"end":"2026-03-04T05:06:07Z","lo_s":1,"outcome":"failure"}`, 0, "history x: 1 line skipped, the first: line 1: a run cannot be between 1s and 0s"},
		"beyond durations": {`{"end":"2026-03-04T05:06:07Z","lo_s":1,"hi_s":1e300,"outcome":"success"}`, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := learn.History{Dir: t.TempDir()}
			check(t, os.WriteFile(filepath.Join(s.Dir, "x.jsonl"), []byte(c.text), 0o600))
			past, err := s.Fit("x", fit.Options{})
			if have := strings.Join(past.Warnings, "; "); err != nil || len(past.Runs) != c.runs || have != c.warning {
				t.Errorf("Fit: %d runs, warnings %q, error %v, want %d runs, %q", len(past.Runs), have, err, c.runs, c.warning)
			}
		})
	}
}

func TestAppendAfterATornLine(t *testing.T) {
	s := learn.History{Dir: t.TempDir()}
	appendRuns(t, s, "x", run(1), run(2))
	path := filepath.Join(s.Dir, "x.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, torn := range []int{1, 10, len(text) - 1} {
		check(t, os.WriteFile(path, text[:torn], 0o600))
		appendRuns(t, s, "x", run(3))
		past, err := s.Fit("x", fit.Options{})
		if have := numbers(past.Runs); err != nil || len(have) == 0 || have[len(have)-1] != 3 {
			t.Errorf("torn after %d bytes: runs %v, %v, want the last to be 3", torn, have, err)
		}
	}
}

func TestLongFileIsRewritten(t *testing.T) {
	s := learn.History{Dir: t.TempDir()}
	var text bytes.Buffer
	for range 600 {
		text.WriteString("foreign\n")
	}
	path := filepath.Join(s.Dir, "x.jsonl")
	check(t, os.WriteFile(path, text.Bytes(), 0o600))
	appendRuns(t, s, "x", run(0))
	if have := numbers(read(t, s, "x")); !cmp.Equal(have, []int{0}) {
		t.Errorf("runs %v, want [0] and nothing foreign", have)
	}
	for i := 1; i < 700; i++ {
		r := run(i)
		if i%3 == 0 {
			r.Outcome, r.Hi = learn.Timeout, 0
		}
		appendRuns(t, s, "x", r)
	}
	finished, unfinished := 0, 0
	records := read(t, s, "x")
	for _, r := range records {
		if r.Outcome.Finished() {
			finished++
		} else {
			unfinished++
		}
	}
	if last := numbers(records)[len(records)-1]; last != 699 || len(records) > 401 || finished < 100 || unfinished < 50 {
		t.Errorf("%d finished and %d other runs are left, the last is %d", finished, unfinished, last)
	}
	entries, err := os.ReadDir(s.Dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%d files are left, %v, want the history and the lock", len(entries), err)
	}
}

// Runs that processes add at the same time are all kept, even while the file is rewritten.
func TestManyWriters(t *testing.T) {
	const writers, each = 20, 5
	s := learn.History{Dir: t.TempDir()}
	for i := range 350 {
		appendRuns(t, s, "x", run(100_000+i))
	}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				if err := s.Append(t.Context(), "x", run(w*each+i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	have := numbers(read(t, s, "x"))
	slices.Sort(have)
	if len(have) > 300 || have[0] != 0 || have[writers*each-1] != writers*each-1 {
		t.Errorf("%d runs: %v", len(have), have)
	}
}

func TestList(t *testing.T) {
	s := learn.History{Dir: t.TempDir()}
	for _, name := range []string{"b", "a-b", "a", "übung"} {
		appendRuns(t, s, name, run(1))
	}
	names, err := s.List()
	if want := []string{"a", "a-b", "b", "übung"}; err != nil || !cmp.Equal(names, want) {
		t.Errorf("List() = %q, %v, want %q", names, err, want)
	}
}

func TestBadPlaces(t *testing.T) {
	dir := learn.History{Dir: t.TempDir()}
	path := filepath.Join(dir.Dir, "x.jsonl")
	check(t, os.Mkdir(path, 0o700))
	if _, err := dir.Fit("x", fit.Options{}); err == nil {
		t.Error("Fit of a directory: no error")
	}
	for _, s := range []learn.History{dir, {Dir: filepath.Join(path, "file", "sub")}} {
		os.WriteFile(filepath.Join(path, "file"), nil, 0o600)
		if err := s.Append(t.Context(), "x", run(1)); err == nil {
			t.Errorf("Append in %s: no error", s.Dir)
		}
	}
	if runtime.GOOS == "windows" { // on Windows, other names are invalid
		return
	}
	for _, name := range []string{"", ".", "..", ".hidden", "a/b", `a\b`, "a\nb", "a\x00b", "a\xffb", strings.Repeat("x", 101)} {
		if err := learn.CheckName(name); err == nil {
			t.Errorf("CheckName(%q): no error", name)
		}
	}
}

// check ends the test at the first error: the preparation of the test has failed.
func check(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
