package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/plan"
	"github.com/pollcli/poll/internal/targets"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A target is one operation to wait for, as the command line or an entry of a file says.
type target struct {
	kind     status.Kind
	name     string         // that its user gives it, "" for none
	spec     *Spec          // its settings, of which the Line is that of all
	identity string         // with --joblog, those of its settings that make it this target
	poller   poll.Poller    // without the limits of the whole
	learns   *plan.Recorder // nil without --learn
}

// A reader reads targets: the one that the operands name, or several, the entries of a file
// among them. What several have in common is read once.
type reader struct {
	*Spec   // which an entry fills while it is read
	world   World
	several bool
	list    *list         // nil without --each
	file    *targets.File // nil if the operands are the targets
	again   int           // targets that repeat others

	bases      map[string]*target         // all but what targets look at, by kind and settings
	transports map[string]*http.Transport // by what is said of connections
	programs   map[string]bool            // that can be run
	names      map[string]int             // how often each was given
	nested     *poll.Command              // what all commands have in common; nil until there is one

	kinds   []status.Kind
	targets []*target
	missing error  // of the first program that cannot be run
	advice  string // about such a program
}

func newReader(s *Spec, world World) *reader {
	return &reader{
		Spec: s, world: world, several: s.isSeveral(),
		bases:      make(map[string]*target),
		transports: make(map[string]*http.Transport),
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
func (r *reader) read() (err error) {
	if r.Each != "" {
		if r.list, err = r.readList(); err != nil {
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
	if r.list != nil && r.Targets != "" {
		if entries, batches, err = r.batches(entries, template); err != nil {
			return err
		}
	}
	for i, e := range entries {
		t, err := r.readEntry(e)
		if err != nil {
			return r.locate(e, err)
		}
		switch {
		case r.list == nil:
		case batches == nil:
			t.poller.Elements = &r.list.Elements
		default:
			t.poller.Elements = r.list.some(batches[i], t, template)
		}
		if len(batches) > 1 {
			t.poller.Target = fmt.Sprintf("batch %d of %d", i+1, len(batches))
		}
		r.targets = append(r.targets, t)
	}
	if !r.several {
		return nil
	}
	return cmp.Or(r.refuseUnused(), r.missing)
}

// readEntries reads what is to be waited for: a command, the URLs among the operands, or the
// entries of a file.
func (r *reader) readEntries(template *targets.Template) ([]*targets.Entry, error) {
	switch {
	case r.Targets != "":
		return r.readFile(template)
	case r.IsCommand:
		return []*targets.Entry{{Name: r.Name, Command: r.Operands}}, nil
	}
	var entries []*targets.Entry
	given := make(map[string]bool)
	for _, operand := range r.Operands {
		if given[operand] {
			r.again++
			continue
		}
		given[operand] = true
		entries = append(entries, &targets.Entry{Name: r.Name, URL: operand})
	}
	return entries, nil
}

// repeated says how many targets were given more than once, "" if none was.
func (r *reader) repeated() string {
	if r.again == 0 {
		return ""
	}
	return words.Count(r.again, "target") + " given again: each is waited for once"
}

// locate adds to an error about an entry where that stands, unless it is about the command line.
func (r *reader) locate(e *targets.Entry, err error) error {
	text := err.Error()
	switch {
	case !r.several || r.list != nil:
		return err
	case r.file == nil:
		return argv.Usagef("%s: %w", poll.HTTP{URL: e.URL}.Target(), err)
	case strings.HasPrefix(text, "--") || strings.HasPrefix(text, "POLL_"):
		return err
	}
	return argv.Usagef("%s:%d: %w", r.file.Name, e.Line, err)
}

// readEntry reads a target. The settings of one among several hold meanwhile.
func (r *reader) readEntry(e *targets.Entry) (t *target, err error) {
	kind := status.KindCommand
	if e.Command == nil {
		if kind, err = kindOfURL(e.URL); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(r.kinds, kind) {
		r.kinds = append(r.kinds, kind)
	}
	if r.several {
		before, restore := *r.Spec, r.Save()
		defer func() {
			*r.Spec = before
			restore()
		}()
	}
	base, err := r.base(kind, e.Settings)
	if err != nil {
		return nil, err
	}
	t = new(*base)
	t.name = e.Name
	if err := r.aim(t, e); err != nil {
		return nil, err
	}
	if (r.Joblog != "" || r.Slice > 0) && r.Follow != "" && keepsEnviron(t.poller.Probe) {
		return nil, argv.Usagef("%s: the job log keeps the URL that it builds, and $ENV would put a secret into it", r.Origin("follow")).
			Hint("headers are not kept: -H 'Authorization: Bearer ...'")
	}
	t.poller.Target = r.nameOf(t)
	if err := r.checkProgram(t); err != nil {
		return nil, err
	}
	return t, r.learn(t, e)
}

// base returns what all targets of a kind with these settings have in common: all but what they
// look at.
func (r *reader) base(kind status.Kind, settings []targets.Setting) (*target, error) {
	key := fmt.Sprintf("%d%q", kind, settings)
	known := r.bases[key]
	if err := r.set(settings); known != nil || err != nil {
		return known, err
	}
	if r.Flag("preset").Rank() == argv.Entry {
		if err := r.usePreset(r.world, bitOf(kind), argv.Entry); err != nil {
			return nil, err
		}
	}
	if err := r.Settle(bitOf(kind), argv.Entry, unfit); err != nil {
		return nil, err
	}
	t := &target{kind: kind}
	for _, step := range []func(*target) error{r.readProbe, r.readRules, r.readSchedule} {
		if err := step(t); err != nil {
			return nil, err
		}
	}
	t.spec = new(*r.Spec)
	if r.Joblog != "" || r.Slice > 0 {
		t.identity = fmt.Sprintf("%q", r.identity(kind))
	}
	r.bases[key] = t
	return t, nil
}

// set sets the flags that an entry sets for itself.
func (r *reader) set(settings []targets.Setting) error {
	for _, s := range settings {
		f := r.Flag(s.Flag)
		switch {
		case f == nil || f.Hidden:
			return argv.Usagef("%s: an entry has no such key", s.Flag).
				Meant(strings.TrimLeft(s.Flag, "-"), append(r.Command.Flags.Shown(), "name", "url", "command")).
				Hint("it has a name, a url or a command, fields for {.field} of the URL, and flags such as until and timeout")
		case f.WholeRun:
			return argv.Usagef("%s: it is for all targets", s.Flag).Hint("give it on the command line: --%s", s.Flag)
		case len(s.Texts) > 1 && !f.Many:
			return argv.Usagef("%s: it has one value", s.Flag)
		}
		for _, text := range s.Texts {
			if err := f.Assign(text, s.Flag, argv.Entry); err != nil {
				return err
			}
		}
	}
	return nil
}

// nameOf returns what a target is called: as its user says, or by its URL or program, with
// a number if others are called so.
func (r *reader) nameOf(t *target) string {
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
func (r *reader) checkProgram(t *target) error {
	c, ok := t.poller.Probe.(*poll.Command)
	if !ok || r.programs[c.Args[0]] {
		return nil
	}
	missing, advice, err := r.world.checkProgram(*c)
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
func (r *reader) readSchedule(t *target) error {
	p := &t.poller
	p.Schedule, p.Throttled = r.Waits.Resolved(backoff.DefaultBase, backoff.DefaultMaxWait).Schedules()
	p.Immediate, p.InitialDelay, p.Rand = r.Waits.AtOnce(), r.Waits.InitialDelay, r.Waits.Rand()
	if t.kind != status.KindCommand {
		p.AttemptTimeout = 30 * time.Second
	}
	if r.AttemptTimeout != nil {
		p.AttemptTimeout = *r.AttemptTimeout
	}
	p.Timeout = r.TargetTimeout
	if r.Flag("timeout").Rank() == argv.Entry {
		p.Timeout = r.Timeout
	}
	p.MaxAttempts, p.SuccessThreshold, p.ErrorThreshold = r.MaxAttempts, r.SuccessThreshold, r.ErrorThreshold
	return nil
}

// learn reads the past runs of a target, once everything else is found valid. Of several, the
// name of each one's history is that of its entry, or that of --learn with the item or the
// target's name for {}.
func (r *reader) learn(t *target, e *targets.Entry) error {
	f, name := r.Flag("learn"), r.String("learn")
	isShared := r.several && f.Rank() != argv.Entry
	lacks := isShared && r.list == nil && !strings.Contains(name, "{}")
	switch {
	case name == "" || lacks && f.Rank() == argv.Variable: // which is meant for one target
		return nil
	case lacks:
		return argv.Usagef("%s %s: several targets need {} in it", f.Origin(), name).
			Hint("each then learns apart: %s %s-{}", f.Origin(), name)
	case isShared, !r.several && strings.Contains(name, "{}"):
		item := strings.NewReplacer("/", "-", `\`, "-").Replace(cmp.Or(e.Item, t.poller.Target))
		if err := f.Assign(strings.ReplaceAll(name, "{}", item), f.Origin(), argv.Entry); err != nil {
			return err
		}
	}
	own, err := r.Learning.Recorder(r.Line, r.Waits, r.list != nil, compileValue)
	if err != nil {
		return err
	}
	if t.learns = own; own.Model != nil {
		p := &t.poller
		p.Resend = p.Schedule
		p.Schedule, p.Throttled = r.Waits.Learned(own.Model, p.Throttled)
	}
	return nil
}

// refuseUnused refuses flags that were typed and are for none of the targets.
func (r *reader) refuseUnused() error {
	if len(r.targets) == 0 {
		return nil
	}
	var kinds argv.Kinds
	for _, kind := range r.kinds {
		kinds |= bitOf(kind)
	}
	if kinds == ofTCP { // conditions on answers are for others, if there are any
		alone := reader{Spec: r.Spec, world: r.world}
		if err := alone.readRules(&target{kind: status.KindTCP}); err != nil {
			return err
		}
	}
	r.Entries = slices.ContainsFunc(r.targets, func(t *target) bool { return t.learns != nil })
	return r.Settle(kinds, argv.Typed, unfit)
}

// readFile reads the targets file, with what its entries fill.
func (r *reader) readFile(template *targets.Template) ([]*targets.Entry, error) {
	if r.Targets == "-" && r.world.Streams.InIsTerminal {
		return nil, argv.Usagef("%s - reads stdin, which is a terminal", r.Origin("targets")).
			Hint("kubectl get jobs -o name | poll --targets - ...")
	}
	if err := refuseStdinTwice(r.Line); err != nil {
		return nil, err
	}
	text, err := r.world.readFile(r.Targets, targets.MaxSize)
	if err != nil {
		return nil, argv.Usagef("%s: %w", r.Origin("targets"), err)
	}
	r.file, err = targets.Read(text, targets.Config{Name: r.Targets, Template: template, Keys: r.list != nil})
	if e, ok := errors.AsType[*targets.Error](err); ok {
		return nil, argv.Usagef("%w", e).Hint("%s", e.Hint)
	}
	r.again = r.file.Repeats
	return r.file.Entries, err
}

// readTemplate reads the URL or the command that entries fill, nil if there is none.
func (r *reader) readTemplate() (t *targets.Template, err error) {
	switch {
	case r.Targets == "" || len(r.Operands) == 0 || r.Each != "" && !r.hasPlaceholder():
		return nil, nil // with --each, the entries are keys of the answer
	case r.IsCommand:
		t, err = targets.ParseCommand(r.Operands)
	case len(r.Operands) > 1:
		return nil, argv.Usagef("%d URLs are given, and with %s one is filled by its entries", len(r.Operands), r.Origin("targets")).
			Hint("put the URLs into the file, too")
	default:
		t, err = targets.ParseURL(r.Operands[0])
	}
	if err == nil && r.Each != "" {
		err = t.Batch(r.Batch)
	}
	for _, field := range t.Fields() {
		if f := r.Flag(field); f != nil && !f.Hidden && !f.WholeRun {
			return nil, argv.Usagef("{.%[1]s} could be a field or the flag --%[1]s", field).Hint("call the field something else, in the URL and in the file")
		}
	}
	if e, ok := errors.AsType[*targets.Error](err); ok {
		wrong := argv.Usagef("%w", e).Hint("%s", e.Hint)
		if r.IsCommand && r.Dashes && !r.hasPlaceholder() {
			wrong.Hint("a program to run then: poll --targets %s ... && %s", r.Targets, programName(r.Operands[0]))
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
