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

// An Env holds the parts of the process that the reading of a command line uses.
type Env struct {
	Lookup  func(name string) (value string, ok bool)
	Streams *term.Streams
	// Dial connects to the servers of URLs, for example in a simulated network. If Dial is nil, connections use
	// the real network.
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	Commands []string // the names of the subcommands

	presets *presetCache
}

// NewEnv returns an Env with an empty cache of presets.
func NewEnv(lookup func(name string) (value string, ok bool), streams *term.Streams) Env {
	return Env{Lookup: lookup, Streams: streams, presets: newPresetCache()}
}

// Getenv returns the value of an environment variable, or "" if it is not set.
func (p Env) Getenv(name string) string {
	value, _ := p.Lookup(name)
	return value
}

// Limits on the size of input, since a file may be endless. MaxInput limits a body, a response or a command's
// input. maxLines limits files of headers, logins or presets.
const (
	MaxInput = 256 << 20
	maxLines = 1 << 20
)

// ReadFile reads a file, or stdin for "-". It returns a usage error if there are more than most bytes. most
// must be a whole number of MiB, for the message.
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

// ReadValue returns value, or for @FILE the content of FILE and isFile. "@-" reads stdin and keeps the content
// for the next call. origin names the flag in errors.
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

// refuseStdinTwice returns a usage error if two settings read stdin, since the second setting would read
// nothing.
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
