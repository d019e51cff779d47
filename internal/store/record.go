package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/pollcli/poll/backoff/learn"
)

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

// Runs returns what the records tell of how long runs take, in order, for [learn.Fit].
func Runs(records []Record) []learn.Run {
	var runs []learn.Run
	for _, r := range records {
		runs = append(runs, learn.Run{Lo: r.Lo, Hi: r.Hi, Unfinished: !r.Outcome.Finished()})
	}
	return runs
}
