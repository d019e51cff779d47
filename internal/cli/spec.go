package cli

import (
	"cmp"
	_ "embed"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/plan"
	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/fleet"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/presets"
)

// A Spec is all that a wait is told: in the types that do it, and what becomes of that only with the
// kind of a target, their number, or a file. Nobody changes it after that: to give more, or less, makes
// another one.
type Spec struct {
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

	Waits    plan.Waits
	Learning plan.Learning

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
	Quiet       bool
	ResultFile  string
	Color       term.ColorMode
}

// newSpec returns a spec of the defaults, with a line that is not read yet.
func newSpec() *Spec {
	s := &Spec{Line: argv.NewLine(&argv.Command{Flags: flagTable()})}
	return s.with(nil, nil)
}

// with returns a spec of the same operands that has some settings.
func (s *Spec) with(settings argv.Settings, preset *presets.Preset) *Spec {
	line := *s.Line
	line.Settings = settings
	made := &Spec{
		Line: &line, preset: preset,
		Timeout: plan.DefaultTimeout, Grace: defaultGrace, Poller: poll.Poller{AttemptTimeout: defaultAttempt},
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
	ofAll     = ofHTTP | ofTCP | ofCommand
)
