package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// minRuns is how many runs a key needs for evaluation.
const minRuns = 30

// A trace is the content of one file: the runs of each key, in order of start, with
// keys in order of appearance.
type trace struct {
	name string
	keys []series
}

// A series holds the runs of one recurring operation.
type series struct {
	key       string
	starts    []float64 // in seconds since 1970, or numbers that only count
	durations []float64 // in seconds
}

// firstTime is the least start that is a time rather than the number of a build.
const firstTime = 1e9

// started returns when run i started if that is known, else a time after the end of
// all runs before it.
func (s series) started(i int) float64 {
	if s.starts[i] < firstTime {
		return math.Inf(1)
	}
	return s.starts[i]
}

func (s series) median() float64 {
	sorted := slices.Sorted(slices.Values(s.durations))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func openTrace(path string) (trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return trace{}, err
	}
	defer f.Close()
	t, err := readTrace(f)
	if err != nil {
		return trace{}, fmt.Errorf("read %s: %w", path, err)
	}
	t.name = strings.TrimSuffix(filepath.Base(path), ".csv")
	return t, nil
}

// readTrace reads lines of key,start_or_seq,duration_s under a heading. It skips
// runs without a positive duration, and keys with few runs.
func readTrace(r io.Reader) (trace, error) {
	rows := csv.NewReader(r)
	rows.FieldsPerRecord = 3
	if _, err := rows.Read(); err != nil {
		return trace{}, fmt.Errorf("heading: %w", err)
	}
	var t trace
	index := map[string]int{}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return trace{}, err
		}
		line, _ := rows.FieldPos(2)
		start, err := strconv.ParseFloat(row[1], 64)
		if err != nil {
			return trace{}, fmt.Errorf("line %d: start: %w", line, err)
		}
		d, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			return trace{}, fmt.Errorf("line %d: duration: %w", line, err)
		}
		if !(d > 0) {
			continue
		}
		i, ok := index[row[0]]
		if !ok {
			i = len(t.keys)
			index[row[0]] = i
			t.keys = append(t.keys, series{key: row[0]})
		}
		t.keys[i].starts = append(t.keys[i].starts, start)
		t.keys[i].durations = append(t.keys[i].durations, d)
	}
	t.keys = slices.DeleteFunc(t.keys, func(s series) bool { return len(s.durations) < minRuns })
	if len(t.keys) == 0 {
		return trace{}, fmt.Errorf("no key with %d runs", minRuns)
	}
	return t, nil
}
