// Package read reads a command line: its words, the variables of the environment, presets, and the entries of a targets
// file. It returns a [Run], and the targets of a Run. It sends and writes nothing.
package read

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/internal/learn"
	"github.com/pollcli/poll/internal/targets"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/fleet"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/presets"
)

// A Run holds the settings of a wait: the values of the library's own types, and fields whose meaning depends on the kind
// of a target, on the number of targets, or on a file. A Run does not change. With returns another one.
type Run struct {
	*argv.Line                 // the settings, of a target with those of its entry, and the operands
	preset     *presets.Preset // of --preset

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

	Timeout time.Duration // 0 for none
	Slice   time.Duration // the Timeout of a wait that the next run goes on with; 0 for none
	Pid     []int

	Targets, Each   string
	ID              []string
	Batch, Expect   int
	Any, Resume     bool
	AtLeast         string
	ParallelMaxHost int // 0 for the default
	Joblog, Share   string

	Data                   []part
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

// New returns a Run of the defaults, with a line that is not parsed yet.
func New() *Run {
	s := &Run{Line: argv.NewLine(&argv.Command{Flags: WaitFlags()})}
	return s.With(nil, nil)
}

// With returns a Run of the same operands: it applies the settings to the defaults.
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

// The kinds of targets that a flag is about.
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

// hasPlaceholder reports whether entries fill the URL or the command.
func (s *Run) hasPlaceholder() bool {
	if !s.IsCommand {
		return len(s.Operands) > 0 && strings.Contains(s.Operands[0], "{")
	}
	return slices.ContainsFunc(s.Operands, func(arg string) bool { return strings.Contains(arg, targets.Item) })
}

// TargetsFile returns the name of the file of --targets for messages.
func (s *Run) TargetsFile() string {
	if s.Targets == "-" {
		return "stdin"
	}
	return s.Targets
}

// IsLogged reports whether a job log is kept.
func (s *Run) IsLogged() bool { return s.Joblog != "" || s.Slice > 0 }
