package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/argv"
)

// readHeaders reads -H as curl does: "Name: value", "Name;" for an empty value,
// "Name:" for a header not to send, and @FILE for a file with one header per line.
func readHeaders(l *argv.Line, world World) (http.Header, error) {
	header, _, err := renewedHeaders(l, world)
	return header, err
}

// renewedHeaders reads -H, and returns what reads its files again; nil if it names none
// that can be read twice.
func renewedHeaders(l *argv.Line, world World) (http.Header, refresh, error) {
	r := &headerReader{}
	renewable := false
	for _, value := range l.Strings("header") {
		source := &headerSource{lines: value}
		if name, isFile := strings.CutPrefix(value, "@"); isFile && name != "-" {
			// The state of the file is from before it is read.
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
				source.file, source.state = name, settled(info)
				renewable = true
			}
		}
		text, isFile, err := world.readValue(l, "header", value, maxLines)
		if err != nil {
			return nil, nil, err
		}
		if source.isFile = isFile; isFile {
			source.lines = string(text)
		}
		r.sources = append(r.sources, source)
	}
	header, err := r.header()
	if err != nil {
		return nil, nil, argv.Usagef("%s: %w", l.Origin("header"), err)
	}
	if err := addCredentials(header, l); err != nil {
		return nil, nil, err
	}
	if !renewable {
		return header, nil, nil
	}
	return header, func(_ context.Context, refused bool) (http.Header, error) {
		return r.renew(world, refused)
	}, nil
}

// refresh is the Refresh of a [poll.HTTP].
type refresh = func(ctx context.Context, refused bool) (http.Header, error)

// A headerReader reads the files of -H again when they have changed.
type headerReader struct {
	mu      sync.Mutex
	sources []*headerSource
	problem string // the last one, so that it is told once
}

// A headerSource is a value of -H.
type headerSource struct {
	lines  string      // good ones
	isFile bool        // they stand in a file, one each
	file   string      // that can be read again, "" for none
	state  fs.FileInfo // of the file when lines were read, nil if that does not tell
}

// settled returns the state of a file, nil if a second change could leave it the same:
// times count in steps of up to 2 s.
func settled(info fs.FileInfo) fs.FileInfo {
	if time.Since(info.ModTime()) < 2*time.Second {
		return nil
	}
	return info
}

func (r *headerReader) header() (http.Header, error) {
	header := http.Header{}
	for _, s := range r.sources {
		if err := s.add(header); err != nil {
			return nil, err
		}
	}
	return header, nil
}

func (s *headerSource) add(header http.Header) error {
	lines := []string{s.lines}
	if s.isFile {
		lines = strings.FieldsFunc(s.lines, func(r rune) bool { return r == '\n' || r == '\r' })
	}
	for _, line := range lines {
		if err := addHeader(header, line); err != nil {
			return err
		}
	}
	return nil
}

// renew returns the headers as they are now. What a file said last holds while it is
// missing or not written in full; the error says so the first time, and whenever the
// headers were refused.
func (r *headerReader) renew(world World, refused bool) (http.Header, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var wrong error
	for _, s := range r.sources {
		if s.file == "" {
			continue
		}
		if err := s.renew(world, refused); err != nil {
			wrong = fmt.Errorf("%s: %w", s.file, err)
		}
	}
	problem := ""
	if wrong != nil {
		problem = wrong.Error()
	}
	if problem == r.problem && !refused {
		wrong = nil
	}
	r.problem = problem
	header, err := r.header()
	return header, errors.Join(wrong, err)
}

// renew reads the file again if it has changed, or in any case if it was refused.
func (s *headerSource) renew(world World, refused bool) error {
	info, err := os.Stat(s.file)
	if err != nil {
		return plainly(err)
	}
	same := s.state != nil && os.SameFile(s.state, info) && s.state.ModTime().Equal(info.ModTime()) && s.state.Size() == info.Size()
	switch {
	case same && !refused:
		return nil
	case !info.Mode().IsRegular():
		return errors.New("no longer a regular file")
	}
	text, err := world.readFile(s.file, maxLines)
	if err != nil {
		return plainly(err)
	}
	fresh := headerSource{lines: string(text), isFile: true}
	header := http.Header{}
	switch err := fresh.add(header); {
	case err != nil:
		return err
	case len(header) == 0:
		return errors.New("it is empty")
	case strings.HasSuffix(s.lines, "\n") && !strings.HasSuffix(fresh.lines, "\n"):
		return errors.New("its last line is not complete")
	}
	s.lines, s.state = fresh.lines, settled(info)
	return nil
}

// plainly returns an error without the file's name.
func plainly(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
