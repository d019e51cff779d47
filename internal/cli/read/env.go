package read

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"regexp"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
	"github.com/pollcli/poll/status/presets"
)

// An Env holds the parts of the process that reading a command line requires.
type Env struct {
	Lookup  argv.Lookup
	Streams *term.Streams
	// Dial connects to servers, for example in a simulated network. If Dial is nil, poll connects over the real
	// network.
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	Commands []string // the names of the subcommands

	presets *presetCache
}

// NewEnv returns an Env that has not read any presets yet.
func NewEnv(lookup argv.Lookup, streams *term.Streams) Env {
	return Env{Lookup: lookup, Streams: streams, presets: &presetCache{make(map[string]*presets.Preset), make(map[compilation]*status.Preset)}}
}

// Limits for the size of input, in bytes. They are necessary because reading a file such as a device may never end.
// MaxInput limits a request body, a response or the stdin of a command. maxLines limits a file of headers, passwords
// or presets.
const (
	MaxInput = 256 << 20
	maxLines = 1 << 20
)

// ReadFile reads the file called name, or stdin if name is "-". most is the maximum length of the content in bytes.
// Longer content is a usage error. most must be a multiple of 1 MiB, because the message gives the limit in MiB.
func (p Env) ReadFile(name string, most int64) ([]byte, error) {
	r := p.Streams.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		r = file
	}
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if int64(len(text)) > most {
		if name == "-" {
			name = "stdin"
		}
		return nil, argv.Usagef("%s is larger than %d MiB, the most that poll reads", name, most>>20)
	}
	return text, err
}

// ReadValue returns value as text. If value has the form @FILE, ReadValue instead returns the content of FILE, and
// true for isFile. For "@-", it reads stdin, and keeps the content so that the next call reads it again. In errors,
// origin names the flag. most is the maximum length, as for [Env.ReadFile].
func (p Env) ReadValue(l *argv.Line, origin, value string, most int64) (text []byte, isFile bool, err error) {
	name, isFile := strings.CutPrefix(value, "@")
	if !isFile {
		return []byte(value), false, nil
	}
	if err := refuseStdinTwice(l); name == "-" && err != nil {
		return nil, true, err
	}
	if text, err = p.ReadFile(name, most); err != nil {
		return nil, true, argv.Usagef("%s: %w", origin, err)
	}
	if name == "-" {
		p.Streams.In = bytes.NewReader(text) // the next target reads the same content
	}
	return text, true, nil
}

// refuseStdinTwice returns a usage error if two settings read stdin, because the second would find it empty.
func refuseStdinTwice(l *argv.Line) error {
	var readers []string
	for _, s := range l.Settings {
		if s.Flag.FromFile && s.Text == "@-" || s.Flag.Name == "targets" && s.Text == "-" {
			readers = append(readers, s.Origin+" "+s.Text)
		}
	}
	if len(readers) > 1 {
		return argv.Usagef("%s and %s would both read stdin", readers[0], readers[1]).Hint("put one of them into a file")
	}
	return nil
}

// MayShow returns a usage error if poll must not show the value of e. This is the case if e reads environment
// variables, which may hold secrets, or if e reads no part of a response, so that its value never changes.
func MayShow(e *expr.Expr) error {
	switch {
	case e.Reads("ENV"):
		return argv.Usagef("%s reads the environment, which may hold secrets and is not shown", e)
	case !e.Reads():
		return argv.Usagef("%s is the same for every response", e)
	}
	return nil
}

// Values compiles texts, the values of the flag called flag, as expressions. It calls check with each expression,
// and returns the first error.
func (s *Run) Values(flag string, texts []string, check func(*expr.Expr) error) (list []*expr.Expr, err error) {
	for _, text := range texts {
		e, err := CompileValue(s.Line, flag, text)
		if err != nil {
			return nil, err
		}
		if err := check(e); err != nil {
			return nil, BadExpression(s.Origin(flag), err)
		}
		list = append(list, e)
	}
	return list, nil
}

// CompileValue compiles text, a value of the flag called flag, as an expression.
func CompileValue(l *argv.Line, flag, text string) (*expr.Expr, error) {
	e, err := expr.CompileValue(text, expr.WithEnviron(l.LookupEnv))
	if err != nil {
		return nil, BadExpression(l.Origin(flag), err)
	}
	return e, nil
}

// Applies returns a usage error if x reads a variable that targets of the given kind never set, because the value of
// x could then never change. If element is true, x is evaluated for each element of --each instead of for the whole
// response.
func Applies(x *expr.Expr, kind status.Kind, element bool) error {
	of := map[bool]string{true: "element", false: "response"}[element]
	for name := range strings.FieldsSeq("gone element . [] isjson body unchanged name exit stdout stderr status event header") {
		if !x.Reads(name) {
			continue
		}
		if wrong, hint := argv.Advice("reads " + name + " " + kind.String() + " " + of); wrong != "" {
			return argv.Usagef("%s", wrong).Hint("%s", hint)
		}
	}
	return nil
}

// BadExpression returns a usage error for an invalid expression. The error wraps err, and starts with origin, the
// name of the flag or of another source of the expression.
func BadExpression(origin string, err error) error {
	if e, ok := errors.AsType[*expr.Error](err); ok {
		_, hint := argv.Advice(strings.TrimLeft(origin[strings.LastIndex(origin, " ")+1:], "-") + " " + e.Source)
		e.Hint = cmp.Or(hint, e.Hint)
		return argv.Usagef("%s, %w", origin, e) // the message of e starts with the column
	}
	return argv.Usagef("%s: %w", origin, err)
}

// find returns the leftmost match of pattern in text and the match's groups, or nil if nothing matches. It compiles
// pattern on each call, because most runs do not need pattern at all.
func find(pattern, text string) []string { return regexp.MustCompile(pattern).FindStringSubmatch(text) }

// located returns err with the prefix place. If place is "", it returns err unchanged.
func located(place string, err error) error {
	if err == nil || place == "" {
		return err
	}
	return argv.Usagef("%s%w", place, err)
}
