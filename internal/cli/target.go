package cli

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

// A target is one operation to wait for, as the command line or an entry of a file says.
type target struct {
	kind     status.Kind
	name     string // that its user gives it, "" for none
	spec     *Spec  // its settings; nil once it is read
	isStream bool
	socket   string          // of --unix-socket; "" without one
	identity string          // with --joblog, those of its settings that make it this target
	poller   poll.Poller     // without the limits of the whole
	learns   *learn.Recorder // nil without --learn
}

// A targetReader reads targets: the one that the operands name, or several, the entries of a file
// among them. What several have in common is read once.
type targetReader struct {
	run     *Spec // what is given for all
	process Env
	several bool
	list    *elementList   // nil without --each
	file    *targets.File  // nil if the operands are the targets
	texts   []targets.Text // that the entries of the file fill
	repeats int            // targets that repeat others

	shared     map[string]*target         // all but what targets look at, by kind and settings
	transports map[string]*http.Transport // by what is said of connections
	dials      *atomic.Int64              // of all transports
	programs   map[string]bool            // that can be run
	names      map[string]int             // how often each was given
	nested     *poll.Command              // what all commands have in common; nil until there is one

	kinds   []status.Kind
	targets []*target
	missing error  // of the first program that cannot be run
	advice  string // about such a program
}

func newReader(s *Spec, process Env) *targetReader {
	return &targetReader{
		run: s, process: process, several: s.isSeveral(),
		shared:     make(map[string]*target),
		transports: make(map[string]*http.Transport),
		dials:      new(atomic.Int64),
		programs:   make(map[string]bool),
		names:      make(map[string]int),
	}
}

// isSeveral reports whether the command line is for several targets, though it may turn
// out to name one.
func (s *Spec) isSeveral() bool {
	return s.Targets != "" || s.Each != "" || !s.IsCommand && len(s.Operands) > 1
}

// read reads and checks all targets.
func (r *targetReader) read() (err error) {
	if r.run.Each != "" {
		if r.list, err = r.run.readList(); err != nil {
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
	var batches [][]string // with --each, the keys that each target is about
	if r.list != nil && r.run.Targets != "" {
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
		case r.list == nil:
		case batches == nil:
			t.poller.Elements = &r.list.Elements
		default:
			t.poller.Elements = r.list.withKeys(batches[i], t, template)
		}
		if len(batches) > 1 {
			t.poller.Target = fmt.Sprintf("batch %d of %d", i+1, len(batches))
		}
		t.spec = nil
		r.targets = append(r.targets, t)
	}
	if !r.several {
		return nil
	}
	return cmp.Or(r.refuseUnused(), r.missing)
}

// repeated says how many targets were given more than once, "" if none was.
func (r *targetReader) repeated() string {
	if r.repeats == 0 {
		return ""
	}
	return words.Count(r.repeats, "target") + " given again: each is waited for once"
}

// readEntry reads a target.
func (r *targetReader) readEntry(e *targets.Entry) (t *target, err error) {
	kind, place := status.KindCommand, r.placeOf(e)
	if e.Command == nil {
		if kind, err = kindOfURL(e.URL); err != nil {
			return nil, located(place, err)
		}
	}
	if !slices.Contains(r.kinds, kind) {
		r.kinds = append(r.kinds, kind)
	}
	shared, err := r.readShared(kind, place, e.Settings)
	if err != nil {
		return nil, err
	}
	t = new(*shared)
	t.name, t.poller.Rand = e.Name, t.spec.Waits.Rand(len(r.targets))
	if err := r.setRequest(t, e, place); err != nil {
		return nil, err
	}
	if s := t.spec; r.run.isLogged() && s.HTTP.Follow != "" && keepsEnviron(t.poller.Probe) {
		return nil, argv.Usagef("%s: the job log keeps the URL that it builds, and $ENV would put a secret into it", s.Origin("follow")).
			Hint("headers are not kept: -H 'Authorization: Bearer ...'")
	}
	t.poller.Target = r.nameOf(t)
	if err := r.checkProgram(t); err != nil {
		return nil, located(place, err)
	}
	return t, r.learn(t, e)
}

// readShared returns what all targets of a kind with these settings share: all but what they look
// at. The first of them is at a place.
func (r *targetReader) readShared(kind status.Kind, place string, settings []targets.Setting) (*target, error) {
	key := fmt.Sprintf("%d%q", kind, settings)
	if known := r.shared[key]; known != nil {
		return known, nil
	}
	s, err := r.specOf(kind, place, settings)
	if err != nil {
		return nil, err
	}
	t := &target{kind: kind, spec: s, isStream: s.HTTP.Stream, socket: s.Connect.UnixSocket, poller: s.Poller}
	for _, step := range []func(*target) error{r.readProbe, readAccept, r.readRules, checkStream, r.readSchedule} {
		if err := step(t); err != nil {
			return nil, err
		}
	}
	if r.run.isLogged() { // an entry with a timeout of its own has no --slice, and is in the log nevertheless
		t.identity = fmt.Sprintf("%q", s.identity(kind))
	}
	r.shared[key] = t
	return t, nil
}

// specOf returns what is given for a target by the run and an entry.
func (r *targetReader) specOf(kind status.Kind, place string, settings []targets.Setting) (s *Spec, err error) {
	s = r.run
	if len(settings) == 0 {
		return s, nil
	}
	given, err := s.withEntry(place, settings)
	if err != nil {
		return nil, err
	}
	if s = s.with(given, s.preset); s.Rank("preset") == argv.Entry {
		if s, err = r.process.withPreset(s, bitOf(kind), argv.Entry); err != nil {
			return nil, err
		}
	}
	check := checkFor(bitOf(kind), argv.Entry)
	check.Entries = s.Flags
	given, err = s.Resolved(check)
	return s.with(given, s.preset), err
}

// nameOf returns what a target is called: as its user says, or by its URL or program, with
// a number if others are called so.
func (r *targetReader) nameOf(t *target) string {
	name := t.name
	if named, ok := t.poller.Probe.(interface{ Target() string }); ok && name == "" {
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

// checkProgram checks the program of a command.
func (r *targetReader) checkProgram(t *target) error {
	c, ok := t.poller.Probe.(*poll.Command)
	if !ok || r.programs[c.Args[0]] {
		return nil
	}
	missing, advice, err := r.process.checkProgram(*c)
	switch {
	case err != nil:
		return err
	case missing == nil: // on Windows it may be a batch file, which the arguments have to be fit for
		r.programs[c.Args[0]] = runtime.GOOS != "windows"
	case r.missing == nil:
		o := poll.Outcome{Target: t.poller.Target, Ending: poll.CannotRun, Reason: missing.Reason,
			Observation: &status.Observation{Kind: status.KindCommand, Failure: missing}}
		if r.advice = advice; advice != "" {
			o.Reason += "; " + advice
		}
		r.missing = &poll.Error{Outcome: o}
	}
	return nil
}

// readSchedule reads the waits, and the limits of attempts.
func (r *targetReader) readSchedule(t *target) error {
	p, s := &t.poller, t.spec
	if t.kind != status.KindTCP {
		check := func(x *expr.Expr) error {
			if s.Each != "" && (x.Reads("element") || x.Reads("gone")) {
				return argv.Usagef("with --each it is read from the whole answer, and not from an element").
					Hint("the longest wait of all elements: --retry-after 'jq: [.items[].wait] | max'")
			}
			return cmp.Or(mayShow(x), applies(x, t.kind, s.Each != ""))
		}
		waits, err := s.values("retry-after", s.RetryAfter, check)
		if err != nil {
			return err
		}
		for _, x := range waits {
			p.RetryAfter = x
		}
	}
	p.Schedule, p.Throttled = s.Waits.Resolved(backoff.DefaultBase, backoff.DefaultMaxWait).Schedules()
	p.Immediate, p.InitialDelay = s.Waits.AtOnce(), s.Waits.InitialDelay
	if t.kind == status.KindCommand && !s.Has("attempt-timeout") {
		p.AttemptTimeout = 0
	}
	if s.Rank("timeout") == argv.Entry {
		p.Timeout = s.Timeout
	}
	return nil
}

// learn reads the past runs of a target, once everything else is found valid. Of several, the
// name of each one's history is that of its entry, or that of --learn with the item or the
// target's name for {}.
func (r *targetReader) learn(t *target, e *targets.Entry) error {
	learning, origin, rank := t.spec.Learning, t.spec.Origin("learn"), t.spec.Rank("learn")
	name := learning.Learn
	isShared := r.several && rank != argv.Entry
	lacks := isShared && r.list == nil && !strings.Contains(name, "{}")
	switch {
	case name == "" || lacks && rank == argv.Variable: // which is meant for one target
		return nil
	case lacks:
		return argv.Usagef("%s %s: several targets need {} in it", origin, name).
			Hint("each then has its own history: %s %s-{}", origin, name)
	case isShared, !r.several && strings.Contains(name, "{}"):
		item := strings.NewReplacer("/", "-", `\`, "-").Replace(cmp.Or(e.Item, t.poller.Target))
		learning.Learn = strings.ReplaceAll(name, "{}", item)
		if err := learn.CheckName(learning.Learn); err != nil {
			return argv.Usagef("%s: %w", origin, err)
		}
	}
	recorder, err := learning.Recorder(t.spec.Line, t.spec.Waits, r.list != nil, compileValue)
	if err != nil {
		return err
	}
	if t.learns = recorder; recorder.Model != nil {
		p := &t.poller
		p.Resend = p.Schedule
		p.Schedule, p.Throttled = t.spec.Waits.Learned(recorder.Model, p.Throttled)
	}
	return nil
}

// refuseUnused refuses flags that were typed and are for none of the targets.
func (r *targetReader) refuseUnused() error {
	if len(r.targets) == 0 {
		return nil
	}
	var kinds argv.Kinds
	for _, kind := range r.kinds {
		kinds |= bitOf(kind)
	}
	if kinds == ofTCP { // conditions on answers are for others, if there are any
		if err := r.process.readRulesOf(&target{kind: status.KindTCP, spec: r.run}); err != nil {
			return err
		}
	}
	learns := slices.ContainsFunc(r.targets, func(t *target) bool { return t.learns != nil })
	check := checkFor(kinds, argv.Typed)
	if learns {
		check.Entries = r.run.Flags
	}
	_, err := r.run.Resolved(check)
	return err
}
