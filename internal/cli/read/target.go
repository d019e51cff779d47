package read

import (
	"cmp"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/learn"
	"github.com/pollcli/poll/internal/targets"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A Target is one operation that poll waits for.
type Target struct {
	Kind     status.Kind
	Name     string // the name that the user has given, or ""
	Run      *Run   // the settings; nil after [Reader.Read]
	IsStream bool
	Socket   string      // the path of --unix-socket, or ""
	Identity string      // the settings that identify the target in a job log; "" without a job log
	Poller   poll.Poller // without the limits that apply to the whole group
}

// A Reader reads the targets of a run from the operands and from the --targets file. If many targets have the same
// settings, it reads these settings once.
type Reader struct {
	run     *Run // the settings of the run, without the settings of entries
	process Env
	Several bool
	List    *elementList   // the settings of --each; nil without --each
	config  targets.Config // how the --targets file is read; the zero value without --targets
	file    *targets.File  // nil without --targets
	Repeats int            // the number of repeated targets, which the Reader leaves out

	shared     map[string]*Target         // targets without their URL or command, by kind and settings
	transports map[string]*http.Transport // the shared transports, by connection settings
	dials      *atomic.Int64              // the number of connections that all transports have made
	programs   map[string]bool            // programs that are known to run
	names      map[string]int             // how often each name has been used
	nested     *poll.Command              // the grace period and environment of all commands

	Kinds   []status.Kind
	Targets []*Target
	Learns  map[int]*learn.Recorder // record the run for --learn, by target number; a single target and a whole list have the number 0
	missing error                   // the error for the first program that cannot run, or nil
	Advice  string                  // a hint on that program, or ""
}

// mostShared is the maximum number of targets in Reader.shared. If each entry of a large file has different
// settings, keeping all of them would waste memory.
const mostShared = 100

func NewReader(s *Run, process Env) *Reader {
	return &Reader{
		run: s, process: process, Several: s.IsSeveral(), nested: nestedCommand(process, s.Grace), Learns: make(map[int]*learn.Recorder),
		shared:     make(map[string]*Target),
		transports: make(map[string]*http.Transport),
		dials:      new(atomic.Int64),
		programs:   make(map[string]bool),
		names:      make(map[string]int),
	}
}

// Read reads and checks all targets, and stores them in r.Targets. With several targets, a program that cannot run
// is reported as a [poll.Error] after all other checks have succeeded.
func (r *Reader) Read() (err error) {
	if r.run.Each != "" {
		if r.List, err = r.run.ReadList(); err != nil {
			return err
		}
	}
	entries, err := r.readEntries()
	if err != nil {
		return err
	}
	for i, e := range entries {
		t, err := r.readEntry(e)
		if err != nil {
			return err
		}
		if r.List != nil {
			t.Poller.Elements = r.List.withKeys(e.Keys, t, r.config.Template)
		}
		if r.List != nil && len(entries) > 1 {
			t.Poller.Target = fmt.Sprintf("batch %d of %d", i+1, len(entries))
		}
		t.Run = nil
		r.Targets = append(r.Targets, t)
	}
	if !r.Several {
		return nil
	}
	return cmp.Or(r.refuseUnused(), r.missing)
}

// readEntry returns the target that the entry e describes.
func (r *Reader) readEntry(e *targets.Entry) (t *Target, err error) {
	kind, place := status.KindCommand, r.placeOf(e)
	if e.Command == nil {
		if kind, err = kindOfURL(e.URL); err != nil {
			return nil, located(place, err)
		}
	}
	if !slices.Contains(r.Kinds, kind) {
		r.Kinds = append(r.Kinds, kind)
	}
	shared, err := r.readShared(kind, place, e.Settings)
	if err != nil {
		return nil, err
	}
	t = new(*shared)
	t.Name, t.Poller.Rand = e.Name, t.Run.Waits.Rand(len(r.Targets))
	if err := r.setRequest(t, e, place); err != nil {
		return nil, err
	}
	if request, ok := t.Poller.Probe.(*poll.HTTP); ok && r.run.IsLogged() && request.Follow != "" && keepsEnviron(request) {
		return nil, argv.Usagef("%s: the job log keeps the URL that it builds, and $ENV would put a secret into it", t.Run.Origin("follow")).
			Hint("the job log keeps no headers: -H 'Authorization: Bearer ...'")
	}
	t.Poller.Target = r.nameOf(t)
	if err := r.checkProgram(t); err != nil {
		return nil, located(place, err)
	}
	return t, r.learn(t, e)
}

// readShared returns a target that lacks only its URL or command. All targets of the same kind and with equal
// settings share the result. In errors, place locates the first of these targets.
func (r *Reader) readShared(kind status.Kind, place string, settings []targets.Setting) (*Target, error) {
	key := fmt.Sprintf("%d%q", kind, settings)
	if known := r.shared[key]; known != nil {
		return known, nil
	}
	s, err := r.specOf(kind, place, settings)
	if err != nil {
		return nil, err
	}
	t := &Target{Kind: kind, Run: s, IsStream: s.HTTP.Stream, Socket: s.Connect.UnixSocket, Poller: s.Poller}
	for _, step := range []func(*Target) error{r.readProbe, readAccept, r.readRules, checkStream, checkThreshold, r.readSchedule} {
		if err := step(t); err != nil {
			return nil, err
		}
	}
	if r.run.IsLogged() { // r.run and not s: an entry's own timeout removes Slice from s, but the job log still contains the entry
		t.Identity = fmt.Sprintf("%q", s.identity(kind))
	}
	if len(r.shared) == mostShared {
		clear(r.shared)
	}
	r.shared[key] = t
	return t, nil
}

// specOf returns the settings of a target. They come from the command line, from the preset, and from the target's
// entry. settings are the settings of the entry. If settings is empty, specOf returns r.run.
func (r *Reader) specOf(kind status.Kind, place string, settings []targets.Setting) (s *Run, err error) {
	s = r.run
	if len(settings) == 0 {
		return s, nil
	}
	given, err := s.withEntry(place, settings)
	if err != nil {
		return nil, err
	}
	if s = s.With(given, s.preset); s.Rank("preset") == argv.Entry {
		if s, err = r.process.WithPreset(s, bitOf(kind), argv.Entry); err != nil {
			return nil, err
		}
	}
	return s.resolved(bitOf(kind), argv.Entry, true)
}

// nameOf returns a unique name for t. It is the name that the user has given, or else the URL or the program. If
// the name is already used, nameOf appends a number in parentheses.
func (r *Reader) nameOf(t *Target) string {
	name := t.Name
	if named, ok := t.Poller.Probe.(interface{ Target() string }); ok && name == "" {
		name = named.Target()
	}
	unique := name
	for r.names[unique] > 0 {
		r.names[name]++
		unique = fmt.Sprintf("%s (%d)", name, r.names[name])
	}
	r.names[unique]++
	return unique
}

// checkProgram checks whether t's program can run, if t is a command. It returns usage errors, but it stores the
// error for the first program that cannot run in r.missing, because Read reports all usage errors first.
func (r *Reader) checkProgram(t *Target) error {
	c, ok := t.Poller.Probe.(*poll.Command)
	if !ok || r.programs[c.Args[0]] {
		return nil
	}
	missing, advice, err := r.process.CheckProgram(*c)
	switch {
	case err != nil:
		return err
	case missing == nil: // on Windows, every command is checked, because a batch file rejects some arguments
		r.programs[c.Args[0]] = runtime.GOOS != "windows"
	case r.missing == nil:
		o := poll.Outcome{Target: t.Poller.Target, Ending: poll.CannotRun, Reason: missing.Reason,
			Observation: &status.Observation{Kind: status.KindCommand, Failure: missing}}
		if r.Advice = advice; advice != "" {
			o.Reason += "; " + advice
		}
		r.missing = &poll.Error{Outcome: o}
	}
	return nil
}

// readSchedule sets t's schedules, timeouts and --retry-after expression.
func (r *Reader) readSchedule(t *Target) error {
	p, s := &t.Poller, t.Run
	if t.Kind != status.KindTCP {
		check := func(x *expr.Expr) error {
			if s.Each != "" && (x.Reads("element") || x.Reads("gone")) {
				return argv.Usagef("with --each, the wait is read from the whole response, not from an element").
					Hint("the longest wait of all elements: --retry-after 'jq: [.items[].wait] | max'")
			}
			return t.fits(x)
		}
		waits, err := s.Values("retry-after", s.Texts("retry-after"), check)
		if err != nil {
			return err
		}
		for _, x := range waits {
			p.RetryAfter = x
		}
	}
	p.Schedule, p.Throttled = s.Waits.Resolved(backoff.DefaultBase, backoff.DefaultMaxWait).Schedules()
	p.Immediate, p.InitialDelay = s.Waits.AtOnce(), s.Waits.InitialDelay
	if t.Kind == status.KindCommand && !s.Has("attempt-timeout") {
		p.AttemptTimeout = 0
	}
	if s.Rank("timeout") == argv.Entry {
		p.Timeout = s.Timeout
	}
	return nil
}

// learn loads t's past runs if --learn is set. It is called last, when all other settings are known to be valid. A
// --learn in the target's own entry names the history directly. In any other --learn, {} is replaced with the
// entry's item or else the target's name, and several targets need the {}.
func (r *Reader) learn(t *Target, e *targets.Entry) error {
	learning, origin, rank := t.Run.Learning, t.Run.Origin("learn"), t.Run.Rank("learn")
	name := learning.Learn
	isOne := !r.Several || r.List != nil // whether the run has one history
	lacks := !isOne && rank != argv.Entry && !strings.Contains(name, "{}")
	switch {
	case name == "" || lacks && rank == argv.Variable: // an environment variable without {} is meant for single targets
		return nil
	case lacks:
		return argv.Usagef("%s %s: several targets need {} in it", origin, name).
			Hint("each then has its own history: %s %s-{}", origin, name)
	case rank != argv.Entry:
		item := strings.NewReplacer("/", "-", `\`, "-").Replace(cmp.Or(e.Item, t.Poller.Target))
		learning.Learn = strings.ReplaceAll(name, "{}", item)
		if err := learn.CheckName(learning.Learn); err != nil {
			return argv.Usagef("%s: %w", origin, err)
		}
	}
	recorder, err := learning.Recorder(t.Run.Line, t.Run.Waits.LearnOptions(learning), r.List != nil, CompileValue)
	if err != nil {
		return err
	}
	n := 0
	if !isOne {
		n = len(r.Targets) + 1
	}
	if r.Learns[n] = recorder; recorder.Model != nil {
		p := &t.Poller
		p.Resend = p.Schedule
		p.Schedule, p.Throttled = t.Run.Waits.Learned(recorder.Model, p.Throttled)
	}
	return nil
}

// refuseUnused returns a usage error for flags on the command line that apply to none of the targets.
func (r *Reader) refuseUnused() error {
	if len(r.Targets) == 0 {
		return nil
	}
	var kinds argv.Kinds
	for _, kind := range r.Kinds {
		kinds |= bitOf(kind)
	}
	if kinds == ofTCP { // with only TCP targets, conditions on responses apply to no target
		if err := r.process.ReadRulesOf(&Target{Kind: status.KindTCP, Run: r.run}); err != nil {
			return err
		}
	}
	_, err := r.run.resolved(kinds, argv.Typed, len(r.Learns) > 0)
	return err
}
