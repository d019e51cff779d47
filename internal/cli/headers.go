package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/pollcli/poll/internal/argv"
)

// readHeaders reads -H as curl does: "Name: value", "Name;" for an empty value,
// "Name:" for a header not to send, and @FILE for a file with one header per line.
func readHeaders(l *argv.Line, world World) (http.Header, error) {
	r, err := newHeaderReader(l, world, "")
	if err != nil {
		return nil, err
	}
	return r.header()
}

// refresh is the Refresh of a [poll.HTTP].
type refresh = func(ctx context.Context, refused bool) (http.Header, error)

// renewedHeaders reads -H, --oauth2-bearer and -b, and returns what reads their files again;
// nil if they name none that can be read twice.
func (s *Spec) renewedHeaders(world World) (http.Header, refresh, error) {
	r, err := newHeaderReader(s.Line, world, s.Bearer)
	if err != nil {
		return nil, nil, err
	}
	if r.cookies, err = s.cookies(); err != nil {
		return nil, nil, err
	}
	header, err := r.header()
	if err != nil {
		return nil, nil, argv.Usagef("%s: %w", s.Origin("header"), err)
	}
	if slices.ContainsFunc(r.sources, func(s *headerSource) bool { return s.file != "" }) {
		return header, r.renew, nil
	}
	return header, nil, nil
}

// A headerReader reads the files of -H and --oauth2-bearer at each attempt.
type headerReader struct {
	mu      sync.Mutex
	world   World
	sources []*headerSource
	cookies string      // "" for none
	last    http.Header // as it was, with the fields that are no longer in it
}

// A headerSource is a value of -H, or of --oauth2-bearer.
type headerSource struct {
	text     string // good lines, or a token
	isFile   bool   // the lines stand in a file, one each
	isBearer bool
	file     string // that can be read again, "" for none
}

func newHeaderReader(l *argv.Line, world World, bearer string) (*headerReader, error) {
	r := &headerReader{world: world}
	for _, value := range l.Strings("header") {
		if err := r.add(l, "header", value); err != nil {
			return nil, err
		}
	}
	if bearer == "" {
		return r, nil
	}
	return r, r.add(l, "oauth2-bearer", bearer)
}

// add adds the value of a flag.
func (r *headerReader) add(l *argv.Line, flag, value string) error {
	text, isFile, err := r.world.readValue(l, flag, value, maxLines)
	if err != nil {
		return err
	}
	source := &headerSource{text: string(text), isFile: isFile, isBearer: flag == "oauth2-bearer"}
	name := strings.TrimPrefix(value, "@")
	if info, err := os.Stat(name); isFile && name != "-" && err == nil && info.Mode().IsRegular() {
		source.file = name
	}
	if err := source.add(http.Header{}); err != nil {
		if isFile {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return argv.Usagef("%s: %w", l.Origin(flag), err)
	}
	r.sources = append(r.sources, source)
	return nil
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
	if _, said := header["Cookie"]; r.cookies != "" && !said {
		header.Set("Cookie", r.cookies)
	}
	for name := range r.last {
		if _, ok := header[name]; !ok {
			header[name] = nil
		}
	}
	r.last = maps.Clone(header)
	return header, nil
}

// add adds the lines of a source. A header of -H wins over a token.
func (s *headerSource) add(header http.Header) error {
	if s.isBearer {
		token := strings.TrimSpace(s.text)
		if strings.ContainsAny(token, "\r\n\x00") {
			return errors.New("a token is one line")
		}
		if _, said := header["Authorization"]; !said {
			header.Set("Authorization", "Bearer "+token)
		}
		return nil
	}
	lines := []string{s.text}
	if s.isFile {
		lines = strings.FieldsFunc(s.text, func(r rune) bool { return r == '\n' || r == '\r' })
	}
	for _, line := range lines {
		if err := addHeader(header, line); err != nil {
			return err
		}
	}
	return nil
}

// renew returns the headers as they are now. The last content of a file holds while it is
// missing or not written in full, which the error says.
func (r *headerReader) renew(context.Context, bool) (http.Header, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var wrong error
	for _, s := range r.sources {
		if s.file != "" {
			wrong = cmp.Or(s.renew(r.world), wrong)
		}
	}
	header, err := r.header()
	return header, cmp.Or(err, wrong)
}

// renew reads the file again.
func (s *headerSource) renew(world World) error {
	text, err := world.readFile(s.file, maxLines)
	if err != nil {
		return err
	}
	fresh := *s
	fresh.text = string(text)
	switch {
	case strings.TrimSpace(fresh.text) == "":
		return fmt.Errorf("%s is empty", s.file)
	case strings.HasSuffix(s.text, "\n") && !strings.HasSuffix(fresh.text, "\n"):
		return fmt.Errorf("%s: its last line is not complete", s.file)
	}
	if err := fresh.add(http.Header{}); err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	s.text = fresh.text
	return nil
}
