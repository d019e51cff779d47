package cli

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// configureURL sets up the probe for an operand with a scheme.
func (in *invocation) configureURL(w *wait, operand string) error {
	for _, name := range []string{"stdin", "foreground", "show-stderr"} {
		if g := in.split.last(name); g != nil && !g.env && !off(g) {
			return usagef("--%s is for a command, and a URL is waited for", name)
		}
	}
	scheme, _, _ := strings.Cut(operand, "://")
	switch strings.ToLower(scheme) {
	case "http", "https":
		return in.configureHTTP(w, operand)
	case "tcp":
		return in.configureTCP(w, operand)
	}
	return usagef("%s:// cannot be waited for: poll knows http, https and tcp", scheme)
}

func (in *invocation) configureTCP(w *wait, operand string) error {
	if err := in.refuseGiven(groupHTTP, "is for http and https, and a TCP address is waited for"); err != nil {
		return err
	}
	u, err := url.Parse(operand)
	if err != nil || u.Hostname() == "" || u.Port() == "" {
		return usagef("a TCP address has a host and a port: tcp://HOST:PORT")
	}
	probe := poll.TCP{Address: net.JoinHostPort(u.Hostname(), u.Port())}
	if err := probe.Check(); err != nil {
		return usagef("%w", err)
	}
	w.kind, w.poller.Probe, w.poller.Target = status.TCP, probe, probe.Target()
	return nil
}

func (in *invocation) configureHTTP(w *wait, operand string) error {
	header, err := in.header()
	if err != nil {
		return err
	}
	probe := poll.HTTP{
		URL:     operand,
		Header:  header,
		MaxBody: in.values.size("max-body", 0),
	}
	if err := probe.Check(); err != nil {
		return usagef("%w", err)
	}
	w.kind, w.poller.Probe, w.poller.Target = status.HTTP, probe, probe.Target()
	return nil
}

// header reads -H as curl does: "Name: value", "Name;" for an empty value, and
// @FILE for a file with one header a line.
func (in *invocation) header() (http.Header, error) {
	header := http.Header{}
	for _, line := range in.values.texts("header") {
		lines := []string{line}
		if file, ok := strings.CutPrefix(line, "@"); ok {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, usagef("%s: %w", in.values.origin("header"), err)
			}
			lines = strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' })
		}
		for _, l := range lines {
			if err := addHeader(header, l); err != nil {
				return nil, usagef("%s: %w", in.values.origin("header"), err)
			}
		}
	}
	return header, nil
}

// addHeader adds a line to header. The line may be a secret, even where it is
// malformed, so an error says nothing of it.
func addHeader(header http.Header, line string) error {
	name, value, ok := strings.Cut(line, ":")
	if bare, empty := strings.CutSuffix(line, ";"); !ok && empty {
		name, ok = bare, true
	}
	name = strings.TrimSpace(name)
	switch {
	case !ok:
		return fmt.Errorf("a header needs a colon: 'Name: value'")
	case name == "":
		return fmt.Errorf("a header needs a name: 'Name: value'")
	case strings.ContainsAny(line, "\r\n\x00"):
		return fmt.Errorf("header %q contains a line break", name)
	}
	header.Add(name, strings.TrimSpace(value))
	return nil
}
