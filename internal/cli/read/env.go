package read

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/ui/term"
)

// An Env is what reading a command line needs of the process.
type Env struct {
	Lookup  func(name string) (value string, ok bool)
	Streams *term.Streams
	// Dial connects to the servers of URLs, in a simulated network. Nil means the network's own way.
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	Commands []string // the names of the subcommands

	presets *presetCache
}

// NewEnv returns an Env with an empty cache of presets.
func NewEnv(lookup func(name string) (value string, ok bool), streams *term.Streams) Env {
	return Env{Lookup: lookup, Streams: streams, presets: newPresetCache()}
}

// Getenv returns the value of a variable, "" if it is not set.
func (p Env) Getenv(name string) string {
	value, _ := p.Lookup(name)
	return value
}

// A file may be endless, so reading is limited: for a body, an answer or a
// command's input; and for headers or logins, one per line.
const (
	MaxInput = 256 << 20
	maxLines = 1 << 20
)

// ReadFile reads a file, or stdin for "-". It refuses more than most bytes, which
// is a whole number of MiB.
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

// ReadValue returns a value, or the content of FILE for @FILE.
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
		p.Streams.In = bytes.NewReader(text) // for the next target
	}
	return text, true, nil
}

// refuseStdinTwice returns an error if two settings read stdin: the second would read nothing.
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
