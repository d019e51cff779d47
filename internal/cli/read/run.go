// Package read reads a command line, environment variables, presets, and the entries of a targets file. It
// returns a [Run] and the targets of the Run. It sends and writes nothing.
package read

import (
	"cmp"
	_ "embed"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/internal/learn"
	"github.com/pollcli/poll/internal/resume"
	"github.com/pollcli/poll/internal/targets"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/fleet"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/presets"
)

// A Run holds the settings of a wait. Some fields are values of the library's types. The meaning of the
// remaining fields depends on the kind or number of targets, or on a file. A Run does not change: With returns
// a new Run.
type Run struct {
	*argv.Line                 // the settings, including the entry's for a target, and the operands
	preset     *presets.Preset // nil without --preset

	Poller  poll.Poller // without a Probe and its schedules
	HTTP    poll.HTTP
	Command poll.Command
	Connect connect.Options
	Group   poll.Group
	Fleet   fleet.Options
	UI      ui.Config
	Output  ui.Output

	Until, ErrorIf, ThrottledIf, NotReadyIf []string
	Detail, RetryAfter, Accept              []string
	Gone                                    bool
	Preset                                  string

	Waits    Waits
	Learning learn.Flags

	Timeout time.Duration // 0 for no timeout
	Slice   time.Duration // replaces Timeout in a wait that a later run continues; 0 without --slice
	Pid     []int

	Targets, Each   string
	ID              []string
	Batch, Expect   int
	Any, Resume     bool
	AtLeast         string
	ParallelMaxHost int // 0 for the default
	Joblog, Share   string

	Header, Bearer, Cookie []string
	UserAgent              string
	Netrc, NoConditional   bool

	Grace                           time.Duration
	Stdin, ShowStderr, PassExitCode bool

	Name        string
	Print, Show []string
	ResultFile  string
	Color       term.ColorMode
}

// New returns a Run with the defaults. Its line is not parsed.
func New() *Run {
	s := &Run{Line: argv.NewLine(&argv.Command{Flags: WaitFlags()})}
	return s.With(nil, nil)
}

// With returns a Run with the same operands, which applies settings to the defaults.
func (s *Run) With(settings argv.Settings, preset *presets.Preset) *Run {
	line := *s.Line
	line.Settings = settings
	made := &Run{
		Line: &line, preset: preset,
		Timeout: DefaultTimeout, Grace: DefaultGrace, Poller: poll.Poller{AttemptTimeout: defaultAttempt},
		Batch: 1, Expect: 1, Group: poll.Group{Parallel: defaultParallel}, Fleet: fleet.Options{PerSecond: defaultRate},
	}
	settings.Apply(made)
	made.Timeout = cmp.Or(made.Slice, made.Timeout)
	return made
}

// The kinds of targets that a flag applies to.
const (
	ofHTTP    = argv.Kinds(1 << status.KindHTTP)
	ofTCP     = argv.Kinds(1 << status.KindTCP)
	ofCommand = argv.Kinds(1 << status.KindCommand)
	OfAll     = ofHTTP | ofTCP | ofCommand
)

// IsSeveral reports whether the command line may name several targets.
func (s *Run) IsSeveral() bool {
	return s.Targets != "" || s.Each != "" || !s.IsCommand && len(s.Operands) > 1
}

// hasPlaceholder reports whether the URL or the command has placeholders for entries.
func (s *Run) hasPlaceholder() bool {
	if !s.IsCommand {
		return len(s.Operands) > 0 && strings.Contains(s.Operands[0], "{")
	}
	return slices.ContainsFunc(s.Operands, func(arg string) bool { return strings.Contains(arg, targets.Item) })
}

// TargetsFile returns the name of the --targets file for messages, "stdin" for "-".
func (s *Run) TargetsFile() string {
	if s.Targets == "-" {
		return "stdin"
	}
	return s.Targets
}

// IsLogged reports whether the run keeps a job log.
func (s *Run) IsLogged() bool { return s.Joblog != "" || s.Slice > 0 }

// keepsEnviron reports whether the URL of --follow contains environment variables.
func keepsEnviron(probe poll.Probe) bool {
	request, ok := probe.(*poll.HTTP)
	if !ok {
		return false
	}
	first, _ := request.Resume(nil)
	return first.(interface{ KeepsEnviron() bool }).KeepsEnviron()
}

// identity returns the settings that distinguish the target from targets of other command lines, by flag name.
// They are the conditions with their environment variables, --follow, --each and --id, and how the server is
// reached. Limits and renewed values, such as tokens, are left out: changing them must not make a new target.
func (s *Run) identity(kind status.Kind) map[string][]string {
	parts := make(map[string][]string)
	for _, set := range s.Settings {
		f := set.Flag
		isPart := f.Group == groupConditions && !slices.Contains([]string{"success-threshold", "error-threshold", "detail"}, f.Name) ||
			f.Name == "follow" || f.Name == "each" || f.Name == "id" || f.Name == "name" && s.IsSeveral() ||
			kind == status.KindHTTP && slices.Contains([]string{"resolve", "connect-to", "unix-socket", "user-agent", "header", "proxy"}, f.Name)
		if isPart {
			parts[f.Name] = append(parts[f.Name], set.Text)
		}
	}
	for _, names := range environName().FindAllStringSubmatch(fmt.Sprint(parts), -1) {
		name := "$ENV." + names[1] + names[2]
		parts[name] = []string{s.Getenv(names[1] + names[2])}
	}
	if parts["proxy"] != nil {
		parts["proxy"] = []string{resume.Page(s.Connect.Proxy)}
	}
	if socket := parts["unix-socket"]; socket != nil {
		socket[0], _ = filepath.Abs(socket[0])
	}
	parts["header"] = slices.DeleteFunc(parts["header"], func(line string) bool {
		name, _, _ := strings.Cut(line, ":")
		return slices.Contains([]string{"Authorization", "Cookie", "Proxy-Authorization"}, http.CanonicalHeaderKey(strings.TrimSpace(name)))
	})
	for i, line := range parts["header"] {
		if strings.HasPrefix(line, "@") { // the file is read again
			parts["header"][i] = "@"
		}
	}
	if parts["preset"] != nil && s.preset.File != "" { // the file may have changed
		parts["preset"] = []string{s.preset.ID()}
	}
	return parts
}

// environName matches variables of the environment in expressions: $ENV.NAME and $ENV["NAME"], and env.NAME in
// jq.
var environName = words.Pattern(`(?:\$ENV|\benv)\s*(?:\.\s*(\w+)|\.?\s*\[?\s*["']([^"']+))`)
