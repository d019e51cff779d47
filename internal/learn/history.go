// Package learn records how long operations take. A [Recorder] observes the wait for an operation, and a [History]
// keeps the durations for later runs.
//
// A history is a file of JSON lines that only its user can read. A process appends a line with a single system
// call, while it holds a lock. If a process is killed at any moment, at most the last line is incomplete. Readers
// skip such a line.
//
// The files:
//
//	history.go   the files of past runs: their names, lines, locks and limits
//	recorder.go  the record of the current run; the flags about learning
package learn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// The limits of a history.
const (
	keptRuns    = 200 // the number of runs that remain in a shortened file; a model is learned from at most half of these runs
	maxLines    = 400 // the number of lines from which a file is shortened
	longestName = 100 // the maximum length of a name in bytes
	extension   = ".jsonl"
)

// A History is a directory of past runs, with one file for each operation. Any number of processes may append to
// it at the same time. The directory need not exist. A wait works without a history, so callers should report an
// error only once, and continue.
type History struct {
	Dir string
}

// CheckName returns an error if name cannot be the name of an operation in a history. Because the name is part of
// a file name, it must have 1 to 100 bytes and no leading dot, and must not contain slashes, backslashes or
// control characters. On Windows, it must also be a valid file name.
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

// List returns the names of the operations in the history, in sorted order. If the directory does not exist, it
// returns nil.
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
	slices.Sort(names) // the files have another order: a-b.jsonl precedes a.jsonl
	return names, nil
}

// path returns the path of the file for the operation called name, which must be valid (see CheckName).
func (h History) path(name string) string { return filepath.Join(h.Dir, name+extension) }

// Append adds the run r to the past runs of the operation called name. If the directory does not exist, Append
// creates it with mode 0700. A new file has mode 0600. If other processes are writing, Append waits for them until
// ctx is done, and their runs are never lost. If Append fails or is killed, only r can be lost.
func (h History) Append(ctx context.Context, name string, r Record) error {
	err := os.MkdirAll(h.Dir, 0o700)
	if err == nil {
		err = h.locked(ctx, name, func(path string) error { return add(path, r.encode()) })
	}
	if err != nil {
		return fmt.Errorf("add to history %s: %w", name, err)
	}
	return nil
}

// Forget removes the past runs of the operation called name. Like Append, it waits for other processes until ctx is
// done. If there are no such runs, the error wraps [fs.ErrNotExist].
func (h History) Forget(ctx context.Context, name string) error {
	if err := h.locked(ctx, name, os.Remove); err != nil {
		return fmt.Errorf("forget history %s: %w", name, err)
	}
	return nil
}

// locked calls f with the path of the file for the operation called name. During the call, no other process writes
// to the directory. The lock is a separate file, because add may replace the file that contains the runs.
func (h History) locked(ctx context.Context, name string, f func(path string) error) error {
	unlock, err := system.Lock(ctx, filepath.Join(h.Dir, ".lock"))
	if err != nil {
		return err
	}
	defer unlock()
	return f(h.path(name))
}

// add appends text, which is a line, to the file at path. If the last line of the file is incomplete, because its
// writer was killed, add starts a new line before text. If the file has become long, add shortens it.
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
		// An error is ignored, because the new run is already in the file. A later run will try again to shorten
		// the file.
		system.WriteFile(path, shortened(append(before, text...)))
	}
	return nil
}

// shortened returns the valid lines of the last keptRuns runs in text.
func shortened(text []byte) (kept []byte) {
	records, _, _ := parse(text)
	for _, r := range records[max(0, len(records)-keptRuns):] {
		kept = append(kept, r.encode()...)
	}
	return kept
}

// readAll returns the content of the file at path. The file has at most a few hundred lines.
func readAll(path string) ([]byte, error) {
	f, err := system.OpenOwn(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// An Outcome states how a run ended.
type Outcome string

// The outcomes. With Timeout or Interrupted, the end of the operation was not observed, and its duration is longer
// than Lo.
const (
	Success     Outcome = "success"
	Failure     Outcome = "failure"
	Timeout     Outcome = "timeout"
	Interrupted Outcome = "interrupted"
)

// Finished reports whether the end of the operation was observed: o is Success or Failure.
func (o Outcome) Finished() bool { return o == Success || o == Failure }

// A Record is one past run.
type Record struct {
	End time.Time // the end of the wait
	// Lo is the age of the operation at the last attempt that found it unfinished, or 0 if there was no such
	// attempt. Hi is the age at the attempt that found it finished, or 0 if the run did not finish. If the
	// duration is known exactly, Lo and Hi are equal.
	Lo, Hi  time.Duration
	Outcome Outcome
}

// A recordLine is the JSON form of a Record. Times are in seconds, as in the events that poll prints.
type recordLine struct {
	End     time.Time `json:"end"`
	Lo      float64   `json:"lo_s"`
	Hi      float64   `json:"hi_s,omitzero"` // missing if the operation did not end
	Outcome Outcome   `json:"outcome"`
}

// encode returns r as a line of the file.
func (r Record) encode() []byte {
	text, _ := json.Marshal(recordLine{r.End.UTC().Truncate(time.Millisecond), r.Lo.Seconds(), r.Hi.Seconds(), r.Outcome}) // never fails
	return append(text, '\n')
}

// decodeRecord returns the record in text, a line of the file. It returns an error if the line is not a valid
// record: if its outcome is unknown, if the end is missing, or if its times contradict each other.
func decodeRecord(text []byte) (Record, error) {
	var l recordLine
	err := json.Unmarshal(text, &l)
	switch {
	case err != nil:
		err = errors.New("not a JSON object of a run")
	case !l.Outcome.Finished() && l.Outcome != Timeout && l.Outcome != Interrupted:
		err = fmt.Errorf("unknown outcome %.20q", string(l.Outcome))
	case l.End.IsZero():
		err = errors.New("end is missing")
	case l.Lo < 0, l.Outcome.Finished() && l.Hi < l.Lo:
		err = fmt.Errorf("a run cannot be between %gs and %gs", l.Lo, l.Hi)
	}
	return Record{End: l.End, Lo: words.Nanoseconds(l.Lo * 1e9), Hi: words.Nanoseconds(l.Hi * 1e9), Outcome: l.Outcome}, err
}

// parse returns the records in text. It skips invalid lines, and returns their number. reason is the error about the
// first of the skipped lines, or nil. Empty lines are valid.
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

// A Past contains the past runs of an operation, and the model that was learned from these runs.
type Past struct {
	Runs     []Record   // all runs, including unfinished ones
	Model    *fit.Model // nil if no run has finished
	Warnings []string   // warnings about lines that were skipped
}

// Fit reads the past runs of the operation called name, oldest first, and learns a model from these runs. If Fit
// skips invalid lines, p contains a warning. If there is no file for the operation, p contains no runs.
func (h History) Fit(name string, o fit.Options) (p Past, err error) {
	text, err := readAll(h.path(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("read history %s: %w", name, err)
	}
	records, skipped, reason := parse(text)
	if p.Runs = records; skipped > 0 {
		p.Warnings = []string{fmt.Sprintf("history %s: %s skipped, the first: %v", name, words.Count(skipped, "line"), reason)}
	}
	var runs []fit.Run
	for _, r := range records {
		runs = append(runs, fit.Run{Lo: r.Lo, Hi: r.Hi, Unfinished: !r.Outcome.Finished()})
	}
	p.Model, _ = fit.Fit(runs, o)
	return p, nil
}
