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
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A Target is one operation to wait for.
type Target struct {
	Kind     status.Kind
	Name     string // the configured name, or ""
	Run      *Run   // the settings; nil after Read
	IsStream bool
	Socket   string          // the path of --unix-socket, or ""
	Identity string          // the settings that identify the target in a job log
	Poller   poll.Poller     // without the limits of the group
	Learns   *learn.Recorder // nil without --learn
}

// A Reader reads the target of the operands, or several targets, such as the entries of a file. It reads the
// common parts of several targets once.
type Reader struct {
	run     *Run // the common settings
	process Env
	Several bool
	List    *elementList   // nil without --each
	file    *targets.File  // nil if the operands are the targets
	texts   []targets.Text // texts with placeholders for the entries
	repeats int            // the number of repeated targets

	shared     map[string]*Target         // targets without URL or command, by kind and settings
	transports map[string]*http.Transport // by connection settings
	dials      *atomic.Int64              // dials of all transports
	programs   map[string]bool            // programs that can run
	names      map[string]int             // how often each name was used
	nested     *poll.Command              // common to all commands; nil before the first command

	Kinds   []status.Kind
	Targets []*Target
	missing error  // the error of the first program that cannot run
	Advice  string // about such a program
}

// mostShared is how many common parts are kept. If each entry of a file has its own settings, the settings of all
// entries would otherwise stay in memory.
const mostShared = 100

func NewReader(s *Run, process Env) *Reader {
	return &Reader{
		run: s, process: process, Several: s.IsSeveral(),
		shared:     make(map[string]*Target),
		transports: make(map[string]*http.Transport),
		dials:      new(atomic.Int64),
		programs:   make(map[string]bool),
		names:      make(map[string]int),
	}
}

// Read reads and checks all targets, and stores them in Targets. A program that cannot run is a [poll.Error],
// after all other errors.
func (r *Reader) Read() (err error) {
	if r.run.Each != "" {
		if r.List, err = r.run.ReadList(); err != nil {
			return err
		}
	}
	if r.run.Targets != "" {
		if r.texts, err = r.run.readTexts(); err != nil {
			return err
		}
	}
	template, err := r.readTemplate()
	if err != nil {
		return err
	}
	entries, err := r.readEntries(template)
	if err != nil {
		return err
	}
	var batches [][]string // with --each, the keys of each target
	if r.List != nil && r.run.Targets != "" {
		if entries, batches, err = r.batches(entries, template); err != nil {
			return err
		}
	}
	for i, e := range entries {
		t, err := r.readEntry(e)
		if err != nil {
			return err
		}
		switch {
		case r.List == nil:
		case batches == nil:
			t.Poller.Elements = &r.List.Elements
		default:
			t.Poller.Elements = r.List.withKeys(batches[i], t, template)
		}
		if len(batches) > 1 {
			t.Poller.Target = fmt.Sprintf("batch %d of %d", i+1, len(batches))
		}
		t.Run = nil
		r.Targets = append(r.Targets, t)
	}
	if !r.Several {
		return nil
	}
	return cmp.Or(r.refuseUnused(), r.missing)
}

// Repeated returns a note on targets that were given more than once, or "".
func (r *Reader) Repeated() string {
	if r.repeats == 0 {
		return ""
	}
	return words.Count(r.repeats, "target") + " given again: each is waited for once"
}

// readEntry returns the target of e.
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
	if s := t.Run; r.run.IsLogged() && s.HTTP.Follow != "" && keepsEnviron(t.Poller.Probe) {
		return nil, argv.Usagef("%s: the job log keeps the URL that it builds, and $ENV would put a secret into it", s.Origin("follow")).
			Hint("headers are not kept: -H 'Authorization: Bearer ...'")
	}
	t.Poller.Target = r.nameOf(t)
	if err := r.checkProgram(t); err != nil {
		return nil, located(place, err)
	}
	return t, r.learn(t, e)
}

// readShared returns the common parts of all targets of a kind with equal settings: all except the URL or the
// command. place is the place of the first of these targets, for errors.
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
	if r.run.IsLogged() { // checked on r.run: an entry's own timeout removes Slice from s, but the log still has the entry
		t.Identity = fmt.Sprintf("%q", s.identity(kind))
	}
	if len(r.shared) == mostShared {
		clear(r.shared)
	}
	r.shared[key] = t
	return t, nil
}

// specOf returns the Run of a target with the settings of the command line, the preset and the entry. It
// returns the common Run if settings is empty.
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

// nameOf returns a unique name of t: its configured name, or else its URL or program. A repeated name gets a
// number.
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

// checkProgram checks the program of a command. It stores the first program that cannot run in r.missing,
// since all other errors come first.
func (r *Reader) checkProgram(t *Target) error {
	c, ok := t.Poller.Probe.(*poll.Command)
	if !ok || r.programs[c.Args[0]] {
		return nil
	}
	missing, advice, err := r.process.CheckProgram(*c)
	switch {
	case err != nil:
		return err
	case missing == nil: // on Windows a batch file rejects some arguments, so each command is checked
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

// readSchedule sets the schedules, --retry-after and the timeouts of t.
func (r *Reader) readSchedule(t *Target) error {
	p, s := &t.Poller, t.Run
	if t.Kind != status.KindTCP {
		check := func(x *expr.Expr) error {
			if s.Each != "" && (x.Reads("element") || x.Reads("gone")) {
				return argv.Usagef("with --each it is read from the whole answer, and not from an element").
					Hint("the longest wait of all elements: --retry-after 'jq: [.items[].wait] | max'")
			}
			return cmp.Or(MayShow(x), Applies(x, t.Kind, s.Each != ""))
		}
		waits, err := s.Values("retry-after", s.RetryAfter, check)
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

// learn loads the past runs of t for --learn, after all other settings are valid. An entry's own --learn names
// its history. With several targets, {} in the common --learn becomes the entry's item or the target's name.
func (r *Reader) learn(t *Target, e *targets.Entry) error {
	learning, origin, rank := t.Run.Learning, t.Run.Origin("learn"), t.Run.Rank("learn")
	name := learning.Learn
	isShared := r.Several && rank != argv.Entry
	lacks := isShared && r.List == nil && !strings.Contains(name, "{}")
	switch {
	case name == "" || lacks && rank == argv.Variable: // the variable is meant for single targets
		return nil
	case lacks:
		return argv.Usagef("%s %s: several targets need {} in it", origin, name).
			Hint("each then has its own history: %s %s-{}", origin, name)
	case isShared, !r.Several && strings.Contains(name, "{}"):
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
	if t.Learns = recorder; recorder.Model != nil {
		p := &t.Poller
		p.Resend = p.Schedule
		p.Schedule, p.Throttled = t.Run.Waits.Learned(recorder.Model, p.Throttled)
	}
	return nil
}

// refuseUnused returns a usage error for typed flags that apply to no target.
func (r *Reader) refuseUnused() error {
	if len(r.Targets) == 0 {
		return nil
	}
	var kinds argv.Kinds
	for _, kind := range r.Kinds {
		kinds |= bitOf(kind)
	}
	if kinds == ofTCP { // only TCP addresses: no target can use conditions on responses
		if err := r.process.ReadRulesOf(&Target{Kind: status.KindTCP, Run: r.run}); err != nil {
			return err
		}
	}
	learns := slices.ContainsFunc(r.Targets, func(t *Target) bool { return t.Learns != nil })
	_, err := r.run.resolved(kinds, argv.Typed, learns)
	return err
}
