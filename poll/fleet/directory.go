package fleet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/lockedfile"
	"github.com/pollcli/poll/internal/pace"
)

// recordSize is the size of a file: a record, and spaces up to the newline at the end, so
// that one write leaves nothing of the record before it.
const recordSize = 512

const limitSuffix = ".limit"

// A directory has each record in a file, under a lock, for the processes of one user on
// one machine: steps are taken on its clock.
type directory string

func (d directory) connect(context.Context) error {
	if err := lockedfile.MakeDirectory(string(d)); err != nil {
		return err
	}
	d.sweep()
	return nil
}

func (d directory) step(ctx context.Context, key string, r pace.Rules, c pace.Call) (reply pace.Reply, err error) {
	path := filepath.Join(string(d), key+limitSuffix)
	f, closeIt, err := lockedfile.OpenLocked(ctx, path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return reply, err
	}
	defer func() { err = errors.Join(err, closeIt()) }()
	var buffer [recordSize + 1]byte
	n, err := f.ReadAt(buffer[:], 0)
	if err != nil && err != io.EOF {
		return reply, err
	}
	state, _ := pace.Parse(recordIn(buffer[:n]))
	reply = state.Step(r, time.Now().UnixMicro(), c)
	if c.Op == pace.Look {
		return reply, nil
	}
	if n > recordSize { // with more behind it, no record would be read again
		if err := f.Truncate(recordSize); err != nil {
			return reply, err
		}
	}
	return reply, write(f, state.Record())
}

// recordIn returns the record in a file, "" if it is not whole.
func recordIn(file []byte) string {
	if len(file) != recordSize || file[recordSize-1] != '\n' {
		return ""
	}
	return string(bytes.TrimRight(file[:recordSize-1], " "))
}

func write(f *os.File, record []byte) error {
	file := bytes.Repeat([]byte(" "), recordSize)
	copy(file, record)
	file[recordSize-1] = '\n'
	_, err := f.WriteAt(file, 0)
	return err
}

func (d directory) list(context.Context) ([]record, error) {
	if err := lockedfile.CheckDirectory(string(d)); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, err
	}
	var records []record
	for _, entry := range entries {
		key, ok := strings.CutSuffix(entry.Name(), limitSuffix)
		if !ok || !entry.Type().IsRegular() {
			continue
		}
		f, err := lockedfile.OpenOwn(filepath.Join(string(d), entry.Name()), os.O_RDONLY)
		if err != nil { // it is gone, or somebody else's
			continue
		}
		file, err := io.ReadAll(io.LimitReader(f, recordSize+1))
		f.Close()
		if err != nil {
			continue
		}
		records = append(records, record{key: key, text: recordIn(file), now: time.Now().UnixMicro()})
	}
	return records, nil
}

func (d directory) close() {}
