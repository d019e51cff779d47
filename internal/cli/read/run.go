// Package read turns a command line into a [Run] and its targets. It also reads environment variables, presets and
// the entries of a targets file. It does not send requests or print anything.
//
// The files:
//
//	flags.go     the table of flags: names, help texts, parsers; manual.txt has more
//	run.go       Run: the settings of a wait, with their defaults
//	waits.go     schedules: strategy, jitter, limits, the default timeout
//	operands.go  URL or command: the kind of target; misplaced flags, missing programs
//	env.go       files, stdin, and expressions as values of flags
//	presets.go   presets by name or from a file, and their settings
//	entries.go   the entries of a targets file; lists, with --each and --id
//	target.go    a target from an entry: its name, its schedule
//	probe.go     the request or command: body, connection, proxy, credentials
//	headers.go   header fields, and their renewal from files
//	rules.go     the conditions of a target, with --gone, --accept and --preset
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

// A Run holds the settings of a wait. Settings that do not depend on the kind of target are stored directly in
// values of the library's types, such as Poller. The other fields are interpreted later: their meaning depends on
// the kind or number of targets, or on a file. A Run is never changed: With returns a new Run.
type Run struct {
	*argv.Line                 // the operands and settings, including the settings of a target's entry
	preset     *presets.Preset // the preset of --preset; nil without the flag

	Poller  poll.Poller // without Probe and schedules
	HTTP    poll.HTTP
	Command poll.Command
	Connect connect.Options
	Group   poll.Group
	Fleet   fleet.Options
	UI      ui.Config
	Output  ui.Output

	Gone   bool
	Preset string

	Waits    Waits
	Learning learn.Flags

	Timeout time.Duration // 0 means no timeout
	Slice   time.Duration // the time limit of a run that a later run continues (--slice), which replaces Timeout; 0 without --slice
	Pid     []int

	Targets, Each   string
	Batch, Expect   int
	Any, Resume     bool
	AtLeast         argv.Share
	ParallelMaxHost int // 0 means the default
	Joblog, Share   string

	Cookie               []string
	UserAgent            string
	Netrc, NoConditional bool

	Grace                           time.Duration
	Stdin, ShowStderr, PassExitCode bool

	Name       string
	ResultFile string
	Color      term.ColorMode
}

// New returns a Run with default settings. Its command line is not parsed yet.
func New() *Run {
	s := &Run{Line: argv.NewLine(&argv.Command{Flags: WaitFlags()})}
	return s.With(nil, nil)
}

// With returns a Run with the operands of s. Its settings are the defaults, overridden by settings. The preset may
// be nil.
func (s *Run) With(settings argv.Settings, preset *presets.Preset) *Run {
	line := *s.Line
	line.Settings = settings
	made := &Run{
		Line: &line, preset: preset,
		Timeout: DefaultTimeout, Grace: DefaultGrace, Poller: poll.Poller{AttemptTimeout: defaultAttempt},
		Batch: 1, Expect: 1, Group: poll.Group{Parallel: defaultParallel}, Fleet: fleet.Options{PerSecond: defaultRate},
	}
	settings.Apply(made, &made.Waits, &made.Learning)
	made.Timeout = cmp.Or(made.Slice, made.Timeout)
	return made
}

// The kinds of targets, as bits for [argv.Flag.For].
const (
	ofHTTP    = argv.Kinds(1 << status.KindHTTP)
	ofTCP     = argv.Kinds(1 << status.KindTCP)
	ofCommand = argv.Kinds(1 << status.KindCommand)
	OfAll     = ofHTTP | ofTCP | ofCommand
)

// IsSeveral reports whether the command line may describe several targets. It is true with --targets and --each,
// even if they name a single target.
func (s *Run) IsSeveral() bool {
	return s.Targets != "" || s.Each != "" || !s.IsCommand && len(s.Operands) > 1
}

// hasPlaceholder reports whether the URL or the command contains placeholders, which the entries of --targets
// replace.
func (s *Run) hasPlaceholder() bool {
	if !s.IsCommand {
		return len(s.Operands) > 0 && strings.Contains(s.Operands[0], "{")
	}
	return slices.ContainsFunc(s.Operands, func(arg string) bool { return strings.Contains(arg, targets.Item) })
}

// TargetsFile returns the name of the --targets file for messages. It returns "stdin" for "-".
func (s *Run) TargetsFile() string {
	if s.Targets == "-" {
		return "stdin"
	}
	return s.Targets
}

// IsLogged reports whether the run keeps a job log, either with --joblog or with --slice.
func (s *Run) IsLogged() bool { return s.Joblog != "" || s.Slice > 0 }

// keepsEnviron reports whether --follow builds a URL from environment variables. A job log would store such a URL.
func keepsEnviron(request *poll.HTTP) bool {
	first, _ := request.Plan().Resume(nil)
	return first.(interface{ KeepsEnviron() bool }).KeepsEnviron()
}

// identity returns the settings that distinguish a target from the targets of other command lines, by flag name. A
// job log resumes a target only if these settings are the same:
//
//   - the flags of the group Conditions, except --success-threshold, --error-threshold and --detail
//   - --follow, --each, --id and, if the command line may describe several targets, --name
//   - for HTTP, the flags that determine how poll reaches the server, and the fields of the request's header
//   - the environment variables that expressions in these flags read
//
// The result contains no limits. It also contains no values that are renewed, such as tokens: a changed token must
// not make a new target.
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
		parts[name] = []string{s.LookupEnv.Get(names[1] + names[2])}
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
		if strings.HasPrefix(line, "@") { // the file is read again, and may change
			parts["header"][i] = "@"
		}
	}
	if parts["preset"] != nil && s.preset.File != "" { // the ID changes with the file's content
		parts["preset"] = []string{s.preset.ID()}
	}
	return parts
}

// environName matches environment variables in expressions: $ENV.NAME and $ENV["NAME"], and in jq also env.NAME.
var environName = words.Pattern(`(?:\$ENV|\benv)\s*(?:\.\s*(\w+)|\.?\s*\[?\s*["']([^"']+))`)
