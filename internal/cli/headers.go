package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
		name, isFile := strings.CutPrefix(value, "@")
		if info, err := os.Stat(name); isFile && name != "-" && err == nil && info.Mode().IsRegular() {
			source.file, renewable = name, true
			if err := source.read(context.Background(), world); err != nil {
				return nil, nil, argv.Usagef("%s: %s: %w", l.Origin("header"), name, err)
			}
		} else {
			text, _, err := world.readValue(l, "header", value, maxLines)
			if err != nil {
				return nil, nil, err
			}
			source.lines = string(text)
		}
		source.isFile = isFile
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
	return header, func(ctx context.Context, refused bool) (http.Header, error) {
		return r.renew(ctx, world, refused)
	}, nil
}

// refresh is the Refresh of a [poll.HTTP].
type refresh = func(ctx context.Context, refused bool) (http.Header, error)

// A headerReader reads the files of -H again when they have changed.
type headerReader struct {
	mu      sync.Mutex
	sources []*headerSource
	last    http.Header // as it was, with the fields that are no longer in it
	problem string      // the last one, so that it is told once
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

// header returns the header. A field that is no longer in it has no values, so that it is
// not sent.
func (r *headerReader) header() (http.Header, error) {
	header := http.Header{}
	for _, s := range r.sources {
		if err := s.add(header); err != nil {
			return nil, err
		}
	}
	for name := range r.last {
		if _, ok := header[name]; !ok {
			header[name] = nil
		}
	}
	r.last = maps.Clone(header)
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
func (r *headerReader) renew(ctx context.Context, world World, refused bool) (http.Header, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var wrong error
	for _, s := range r.sources {
		if s.file == "" {
			continue
		}
		if err := s.renew(ctx, world, refused); err != nil {
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
func (s *headerSource) renew(ctx context.Context, world World, refused bool) error {
	info, err := os.Stat(s.file)
	switch {
	case err != nil:
		return plainly(err)
	case s.state != nil && isSame(s.state, info) && !refused:
		return nil
	case !info.Mode().IsRegular():
		return errors.New("no longer a regular file")
	}
	fresh := headerSource{file: s.file, isFile: true}
	if err := fresh.read(ctx, world); err != nil {
		return plainly(err)
	}
	header := http.Header{}
	switch err := fresh.add(header); {
	case err != nil:
		return err
	case len(header) == 0:
		return errors.New("it is empty")
	case strings.HasSuffix(s.lines, "\n") && !strings.HasSuffix(fresh.lines, "\n"):
		return errors.New("its last line is not complete")
	}
	s.lines, s.state = fresh.lines, fresh.state
	return nil
}

// moment is how long a file must not have changed to be read: it may be half-written.
const moment = 50 * time.Millisecond

// read reads the file once nobody writes it, for which it waits for a second at most.
func (s *headerSource) read(ctx context.Context, world World) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Second, errors.New("it is being written"))
	defer cancel()
	for {
		before, err := os.Stat(s.file)
		text, unread := world.readFile(s.file, maxLines)
		after, gone := os.Stat(s.file)
		if err := cmp.Or(err, unread, gone); err != nil {
			return err
		}
		if age := time.Since(before.ModTime()); isSame(before, after) && (age < 0 || age >= moment) {
			s.lines, s.state = string(text), settled(before)
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(moment):
		}
	}
}

// isSame reports whether a file is the same and has not changed.
func isSame(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// plainly returns an error without the file's name.
func plainly(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
