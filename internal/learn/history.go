// Package learn remembers how long operations took: a [Recorder] observes a wait, and a [History] keeps the
// durations for later runs.
//
// A history is JSON lines, for its user alone. A process appends a line in one call while it
// holds a lock, so a process that is killed at any moment leaves at most one torn line, which
// readers drop.
package learn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	fit "github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/words"
)

const (
	keptRuns    = 200 // that a shortened file keeps: twice as many as are learned from
	maxLines    = 400 // before a file is shortened
	longestName = 100 // bytes
	extension   = ".jsonl"
)

// A History is a directory of past runs: a file for each operation, to which any number of
// processes may append at once. The directory need not exist. A wait works without any of
// this: callers report errors once and otherwise ignore them.
type History struct {
	Dir string
}

// CheckName reports what is wrong with the name of a history. It is a file name: 1
// to 100 bytes, no separators or control characters, and no leading dot. On Windows
// it must also be valid there.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the name of a history is empty")
	case len(name) > longestName:
		return fmt.Errorf("the name of a history has %d bytes, at most %d are allowed", len(name), longestName)
	case name[0] == '.':
		return fmt.Errorf("history name %q: must not begin with a dot", name)
	case strings.ContainsAny(name, `/\`):
		return fmt.Errorf("history name %q: must not contain / or \\", name)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("history name %q: must be printable text", name)
	case !filepath.IsLocal(name + extension), runtime.GOOS == "windows" && strings.ContainsAny(name, `*?"<>|`):
		return fmt.Errorf("history name %q: no file can be called that on Windows", name)
	}
	return nil
}

// List returns the names of the histories, sorted; none if the directory does
// not exist.
func (h History) List() ([]string, error) {
	entries, err := os.ReadDir(h.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list histories: %w", err)
	}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), extension)
		if ok && !e.IsDir() && CheckName(name) == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names) // a.jsonl and a-b.jsonl sort differently than a and a-b
	return names, nil
}

// path returns the path of a history's file.
func (h History) path(name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	return filepath.Join(h.Dir, name+extension), nil
}

// Read returns the past runs, oldest first, and a warning if lines were skipped. A
// history that does not exist has no runs.
func (h History) Read(name string) (records []Record, warnings []string, err error) {
	path, err := h.path(name)
	if err != nil {
		return nil, nil, err
	}
	text, err := readAll(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read history %s: %w", name, err)
	}
	records, skipped, reason := parse(text)
	if skipped > 0 {
		warnings = append(warnings, fmt.Sprintf("history %s: %s skipped, the first: %v", name, words.Count(skipped, "line"), reason))
	}
	return records, warnings, nil
}

// Append adds a run, making the directory (mode 0700) and the file (mode 0600) if
// need be. It waits for other processes until ctx is done, and loses none of their
// runs; if it fails or is killed, at most this one is lost.
func (h History) Append(ctx context.Context, name string, r Record) error {
	text, err := r.encode()
	if err == nil {
		err = os.MkdirAll(h.Dir, 0o700)
	}
	if err == nil {
		err = h.locked(ctx, name, func(path string) error { return add(path, text) })
	}
	if err != nil {
		return fmt.Errorf("add to history %s: %w", name, err)
	}
	return nil
}

// Forget removes a history, once no one writes. The error is [fs.ErrNotExist] if
// there is none.
func (h History) Forget(ctx context.Context, name string) error {
	if err := h.locked(ctx, name, os.Remove); err != nil {
		return fmt.Errorf("forget history %s: %w", name, err)
	}
	return nil
}

// locked calls f with the path of a history while no other process writes to the directory. The
// lock has its own file, since the histories get replaced.
func (h History) locked(ctx context.Context, name string, f func(path string) error) error {
	path, err := h.path(name)
	if err != nil {
		return err
	}
	unlock, err := system.Lock(ctx, filepath.Join(h.Dir, ".lock"))
	if err != nil {
		return err
	}
	defer unlock()
	return f(path)
}

// add writes a line at the end of the file, on a line of its own even if the last
// writer was killed midway, and shortens a long file.
func add(path string, text []byte) error {
	before, err := readAll(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(before) > 0 && !bytes.HasSuffix(before, []byte("\n")) {
		text = append([]byte("\n"), text...)
	}
	f, err := system.OpenOwn(path, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	if err := errors.Join(system.WriteAt(f, text, int64(len(before))), f.Close()); err != nil {
		return err
	}
	if bytes.Count(before, []byte("\n")) >= maxLines {
		// The run is in the file by now. If it cannot be shortened, as in a
		// read-only directory, that is left to a later run.
		system.WriteFile(path, shortened(append(before, text...)))
	}
	return nil
}

// shortened returns the lines of the last runs in a text.
func shortened(text []byte) (kept []byte) {
	records, _, _ := parse(text)
	for _, r := range records[max(0, len(records)-keptRuns):] {
		line, _ := r.encode() // which parse has checked
		kept = append(kept, line...)
	}
	return kept
}

// readAll returns the content of a file, which has a few hundred lines at most.
func readAll(path string) ([]byte, error) {
	f, err := system.OpenOwn(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// An Outcome is how a run ended.
type Outcome string

// The outcomes. A run that timed out or was interrupted is known to last longer
// than Lo.
const (
	Success     Outcome = "success"
	Failure     Outcome = "failure"
	Timeout     Outcome = "timeout"
	Interrupted Outcome = "interrupted"
)

// Finished reports whether the operation itself ended.
func (o Outcome) Finished() bool { return o == Success || o == Failure }

// A Record is one past run.
type Record struct {
	End time.Time // of the wait
	// Lo is the age of the operation at the last attempt that saw it unfinished, 0 if
	// there was none; Hi at the attempt that saw the end. They are equal if the
	// duration is known exactly. An unfinished run has no Hi.
	Lo, Hi  time.Duration
	Outcome Outcome
}

// recordLine is the form of a record in the file: seconds, as in poll's events.
type recordLine struct {
	End     time.Time `json:"end"`
	Lo      float64   `json:"lo_s"`
	Hi      float64   `json:"hi_s,omitzero"` // of an operation that ended
	Outcome Outcome   `json:"outcome"`
}

func (r Record) encode() ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(recordLine{r.End.UTC().Truncate(time.Millisecond), r.Lo.Seconds(), r.Hi.Seconds(), r.Outcome})
	return append(text, '\n'), err
}

func decodeRecord(text []byte) (Record, error) {
	var l recordLine
	if err := json.Unmarshal(text, &l); err != nil {
		return Record{}, errors.New("not a JSON object of a run")
	}
	r := Record{End: l.End, Lo: seconds(l.Lo), Hi: seconds(l.Hi), Outcome: l.Outcome}
	return r, r.check()
}

func (r Record) check() error {
	switch {
	case !r.Outcome.Finished() && r.Outcome != Timeout && r.Outcome != Interrupted:
		return fmt.Errorf("unknown outcome %.20q", string(r.Outcome))
	case r.End.IsZero():
		return errors.New("end is missing")
	case r.Lo < 0, r.Outcome.Finished() && r.Hi < r.Lo:
		return fmt.Errorf("a run between %v and %v makes no sense", r.Lo, r.Hi)
	}
	return nil
}

// parse returns the records of a text, the number of invalid lines, and what is
// wrong with the first of them.
func parse(text []byte) (records []Record, skipped int, reason error) {
	number := 0
	for l := range bytes.Lines(text) {
		number++
		l = bytes.TrimSpace(l)
		if len(l) == 0 {
			continue
		}
		r, err := decodeRecord(l)
		if err == nil {
			records = append(records, r)
			continue
		}
		if skipped++; skipped == 1 {
			reason = fmt.Errorf("line %d: %w", number, err)
		}
	}
	return records, skipped, reason
}

// seconds converts to a duration, saturating.
func seconds(s float64) time.Duration {
	if ns := math.Round(s * 1e9); ns < math.MaxInt64 {
		return time.Duration(max(ns, math.MinInt64))
	}
	return math.MaxInt64
}

// A Past holds the past runs of an operation.
type Past struct {
	Runs     []Record   // also runs without an end
	Model    *fit.Model // nil without a run that finished
	Warnings []string   // about skipped lines
}

// Fit reads the past runs of an operation, and fits a model to them.
func (h History) Fit(name string, o fit.Options) (p Past, err error) {
	p.Runs, p.Warnings, err = h.Read(name)
	var runs []fit.Run
	for _, r := range p.Runs {
		runs = append(runs, fit.Run{Lo: r.Lo, Hi: r.Hi, Unfinished: !r.Outcome.Finished()})
	}
	p.Model, _ = fit.Fit(runs, o)
	return p, err
}
