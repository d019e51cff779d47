package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/connect"
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
	process Process
	several bool
	list    *elementList  // nil without --each
	file    *targets.File // nil if the operands are the targets
	repeats int           // targets that repeat others

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

func newReader(s *Spec, process Process) *targetReader {
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

// readEntries reads what is to be waited for: a command, the URLs among the operands, or the
// entries of a file.
func (r *targetReader) readEntries(template *targets.Template) ([]*targets.Entry, error) {
	if r.run.Targets != "" {
		return r.readFile(template)
	}
	name := r.run.Name
	if r.several { // the job log has the name of all
		name = ""
	}
	if r.run.IsCommand {
		return []*targets.Entry{{Name: name, Command: r.run.Operands}}, nil
	}
	var entries []*targets.Entry
	given := make(map[string]bool)
	for _, operand := range r.run.Operands {
		page := fmt.Sprint(connect.PageOf(operand))
		if given[page] {
			r.repeats++
			continue
		}
		given[page] = true
		entries = append(entries, &targets.Entry{Name: name, URL: operand})
	}
	return entries, nil
}

// repeated says how many targets were given more than once, "" if none was.
func (r *targetReader) repeated() string {
	if r.repeats == 0 {
		return ""
	}
	return words.Count(r.repeats, "target") + " given again: each is waited for once"
}

// placeOf returns where a target is given, for errors about it: FILE:LINE, or the URL among several; "" if the target
// stands alone.
func (r *targetReader) placeOf(e *targets.Entry) string {
	switch {
	case !r.several || r.list != nil:
		return ""
	case r.file == nil:
		return poll.HTTP{URL: e.URL}.Target() + ": "
	}
	return fmt.Sprintf("%s:%d: ", r.file.Name, e.Line)
}

// located adds the place of a target to an error about it.
func located(place string, err error) error {
	if err == nil || place == "" {
		return err
	}
	return argv.Usagef("%s%w", place, err)
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

// withEntry returns what is given with the settings of an entry.
func (s *Spec) withEntry(place string, settings []targets.Setting) (given argv.Settings, err error) {
	given = s.Settings
	for _, setting := range settings {
		f, origin := s.Flags.Named(setting.Flag), place+setting.Flag
		switch {
		case f == nil || f.Hidden:
			return given, argv.Usagef("%s: an entry cannot have this key", origin).
				Meant(strings.TrimLeft(setting.Flag, "-"), append(s.Flags.Shown(), "name", "url", "command")).
				Hint("an entry has a name, a url or a command, fields for {.field} of the URL, and flags such as until and timeout")
		case f.WholeRun:
			return given, argv.Usagef("%s: it applies to all targets", origin).Hint("give it on the command line: --%s", setting.Flag)
		case len(setting.Texts) > 1 && !f.Many:
			return given, argv.Usagef("%s: it has one value", origin)
		}
		for _, text := range setting.Texts {
			if given, err = given.With(f, text, origin, argv.Entry); err != nil {
				return given, err
			}
		}
	}
	return given, nil
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
		alone := targetReader{run: r.run, process: r.process}
		if err := alone.readRules(&target{kind: status.KindTCP, spec: r.run}); err != nil {
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

// readFile reads the targets file, with what its entries fill.
func (r *targetReader) readFile(template *targets.Template) ([]*targets.Entry, error) {
	if r.run.Targets == "-" && r.process.Streams.InIsTerminal {
		return nil, argv.Usagef("%s - reads stdin, which is a terminal", r.run.Origin("targets")).
			Hint("kubectl get jobs -o name | poll --targets - ...")
	}
	if err := refuseStdinTwice(r.run.Line); err != nil {
		return nil, err
	}
	text, err := r.process.readFile(r.run.Targets, targets.MaxSize)
	if err != nil {
		return nil, argv.Usagef("%s: %w", r.run.Origin("targets"), err).Advise("open " + r.run.Targets)
	}
	r.file, err = targets.Read(text, targets.Config{Name: r.run.Targets, Template: template, Keys: r.list != nil})
	if e, ok := errors.AsType[*targets.Error](err); ok {
		return nil, argv.Usagef("%w", e).Hint("%s", e.Hint)
	}
	r.repeats = r.file.Repeats
	return r.file.Entries, err
}

// readTemplate reads the URL or the command that entries fill, nil if there is none.
func (r *targetReader) readTemplate() (t *targets.Template, err error) {
	switch {
	case r.run.Targets == "" || len(r.run.Operands) == 0 || r.run.Each != "" && !r.run.hasPlaceholder():
		return nil, nil // with --each, the entries are keys of the answer
	case r.run.IsCommand:
		t, err = targets.ParseCommand(r.run.Operands)
	case len(r.run.Operands) > 1:
		return nil, argv.Usagef("%d URLs are given, but entries of %s fill one URL", len(r.run.Operands), r.run.Origin("targets")).
			Hint("put the URLs into the file, too")
	default:
		t, err = targets.ParseURL(r.run.Operands[0])
	}
	if err == nil && r.run.Each != "" {
		err = t.Batch(r.run.Batch)
	}
	for _, field := range t.Fields() {
		if f := r.run.Flags.Named(field); f != nil && !f.Hidden && !f.WholeRun {
			return nil, argv.Usagef("{.%[1]s} could be a field or the flag --%[1]s", field).Hint("call the field something else, in the URL and in the file")
		}
	}
	if e, ok := errors.AsType[*targets.Error](err); ok {
		wrong := argv.Usagef("%w", e).Hint("%s", e.Hint)
		if r.run.IsCommand && r.run.Dashes && !r.run.hasPlaceholder() {
			wrong.Hint("a program to run on SUCCESS: poll --targets %s ... && %s", r.run.Targets, programName(r.run.Operands[0]))
		}
		return nil, wrong
	}
	return t, err
}

// targetsFile returns what the file of --targets is called.
func (s *Spec) targetsFile() string {
	if s.Targets == "-" {
		return "stdin"
	}
	return s.Targets
}
