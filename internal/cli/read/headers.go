package read

import (
	"cmp"
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

// A headerReader builds the request headers from the values of -H, --oauth2-bearer and -b. It can read the files
// that these values name again for each attempt.
type headerReader struct {
	mu      sync.Mutex
	process Env
	sources []*headerSource
	cookies string      // the value of the Cookie header; "" without cookies
	last    http.Header // the previous result; fields that were removed map to nil
}

// A headerSource is one value of -H or --oauth2-bearer.
type headerSource struct {
	flag   string
	text   string
	isFile bool   // whether text is the content of a file
	file   string // the regular file to read again, or ""
}

// refresh is the type of [poll.HTTP.Refresh], which renews the headers before a request.
type refresh = func(r *http.Request, refused bool) (http.Header, error)

// ReadHeaders builds the request header from the values of -H and --oauth2-bearer in l, and from cookies. As in
// curl, a line has the form "Name: value", "Name;" for an empty value, or "Name:" to suppress a header that poll
// would send. The value @FILE names a file with one header per line. The result renew reads these files again,
// except files that are not regular. If there is no regular file, renew is nil.
func ReadHeaders(l *argv.Line, process Env, cookies string) (header http.Header, renew refresh, err error) {
	r := &headerReader{process: process, cookies: cookies}
	err = cmp.Or(r.add(l, "header"), r.add(l, "oauth2-bearer"))
	if slices.ContainsFunc(r.sources, func(s *headerSource) bool { return s.file != "" }) {
		renew = r.renew
	}
	return r.header(), renew, err
}

// add reads the values of the flag called flag, and appends a source for each value.
func (r *headerReader) add(l *argv.Line, flag string) error {
	for _, value := range l.Texts(flag) {
		text, isFile, err := r.process.ReadValue(l, l.Origin(flag), value, maxLines)
		if err != nil {
			return err
		}
		source := &headerSource{flag: flag, text: string(text), isFile: isFile}
		name := strings.TrimPrefix(value, "@")
		if info, err := os.Stat(name); isFile && name != "-" && err == nil && info.Mode().IsRegular() {
			source.file = name
		}
		if err := source.addTo(http.Header{}); err != nil {
			if isFile {
				err = fmt.Errorf("%s: %w", name, err)
			}
			return argv.Usagef("%s: %w", l.Origin(flag), err)
		}
		r.sources = append(r.sources, source)
	}
	return nil
}

// addTo adds the lines of s to header. It does not add a token if header has an Authorization field. If a line is
// malformed, addTo returns an error.
func (s *headerSource) addTo(header http.Header) error {
	text := strings.TrimPrefix(s.text, "\ufeff") // a byte order mark
	if _, isGiven := header["Authorization"]; s.flag == "oauth2-bearer" {
		token := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "Bearer "))
		switch {
		case strings.ContainsAny(token, "\r\n\x00"):
			return errors.New("a token is one line")
		case isGiven:
			return nil
		}
		return addHeader(header, "Authorization: Bearer "+token)
	}
	lines := []string{text}
	if s.isFile {
		lines = strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	}
	for _, line := range lines {
		if err := addHeader(header, line); err != nil {
			return err
		}
	}
	return nil
}

// header returns the current request header. A header given with -H takes precedence over a token and over
// cookies. If the previous result has a field that the current header lacks, the field maps to nil, so that it is
// no longer sent.
func (r *headerReader) header() http.Header {
	header := http.Header{}
	for _, s := range r.sources {
		_ = s.addTo(header) // cannot fail: the lines are valid
	}
	if _, said := header["Cookie"]; r.cookies != "" && !said {
		header.Set("Cookie", r.cookies)
	}
	for name := range r.last {
		if _, said := header[name]; !said {
			header[name] = nil
		}
	}
	r.last = maps.Clone(header)
	return header
}

// renew reads the files again, and returns the request header. If a file is missing or incomplete, renew uses the
// file's previous content, and also returns an error that describes the problem.
func (r *headerReader) renew(*http.Request, bool) (http.Header, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var wrong error
	for _, s := range r.sources {
		if s.file != "" {
			wrong = cmp.Or(s.renew(r.process), wrong)
		}
	}
	return r.header(), wrong
}

// renew reads the file of s again. If the file cannot be read, or is empty, incomplete or malformed, it returns an
// error and keeps the previous content.
func (s *headerSource) renew(process Env) error {
	content, err := process.ReadFile(s.file, maxLines)
	text := string(content)
	switch {
	case err != nil:
		return err
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("%s is empty", s.file)
	case strings.HasSuffix(s.text, "\n") && !strings.HasSuffix(text, "\n"):
		return fmt.Errorf("%s: its last line is not complete", s.file)
	}
	next := *s
	next.text = text
	if err := next.addTo(http.Header{}); err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	*s = next
	return nil
}

// addHeader parses line and adds it to header. Its errors do not contain the value, because even a malformed line
// may be a secret.
func addHeader(header http.Header, line string) error {
	name, value, ok := strings.Cut(line, ":")
	bare, empty := strings.CutSuffix(line, ";")
	if empty = empty && !ok; empty {
		name = bare
	}
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	key := http.CanonicalHeaderKey(name)
	switch {
	case !ok && !empty:
		return argv.Usagef("a header needs a colon: 'Name: value'").Hint("--oauth2-bearer @FILE sends a token from a file")
	case key == "Authorization" && slices.Contains([]string{"Bearer", "Basic", "Token"}, value):
		return argv.Usagef("the header Authorization has nothing after %s", value).Hint("is a variable of the shell not set? Are the quotes around the header missing?")
	case name == "":
		return fmt.Errorf("a header needs a name: 'Name: value'")
	case strings.ContainsAny(line, "\r\n\x00"):
		return fmt.Errorf("header %q contains a line break", name)
	case value != "" || empty:
		header.Add(name, value)
	case header[key] == nil:
		header[key] = nil // suppresses the header, even if poll would send it by default
	}
	return nil
}
