package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/plan"
	"github.com/pollcli/poll/internal/targets"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/words"
)

// isSeveral reports whether the command line is for several targets, though it may turn
// out to name one.
func (s *Spec) isSeveral() bool {
	return s.Targets != "" || s.Each != "" || !s.IsCommand && len(s.Operands) > 1
}

// A severalReader reads several targets. What entries have in common is read once, and
// is one value: equal requests are one probe, so that they become one source.
type severalReader struct {
	*Spec // which an entry fills while it is read
	targetReader
	template *targets.Template  // nil if there is none
	file     *targets.File      // nil if the operands are the targets
	list     *list              // nil without --each
	bases    map[string]*target // all but what targets look at, by kind and settings
	names    map[string]int     // how often each was given
	kinds    map[status.Kind]bool
	again    int // operands that repeat others

	pollers []poll.Poller
	specs   []*Spec                // of each the settings
	named   []string               // of each the name that its entry gives it, "" for none
	learns  map[int]*plan.Recorder // by number, of the targets that learn
	missing error                  // of the first program that cannot be run
}

func newSeveralReader(w *wait, s *Spec) *severalReader {
	return &severalReader{
		Spec: s,
		targetReader: targetReader{
			world: w.world, grace: w.grace, several: true, perHost: s.ParallelMax, bodies: new(poll.Bodies),
		},
		bases: make(map[string]*target),
		names: make(map[string]int),
		kinds: make(map[status.Kind]bool),
	}
}

// readEntries reads what is to be waited for: the URLs among the operands, or the entries
// of a file.
func (r *severalReader) readEntries() ([]*targets.Entry, error) {
	if r.Targets != "" {
		return r.readFile()
	}
	var entries []*targets.Entry
	given := make(map[string]bool)
	for _, operand := range r.Operands {
		if given[operand] {
			r.again++
			continue
		}
		given[operand] = true
		entries = append(entries, &targets.Entry{URL: operand})
	}
	return entries, nil
}

// readFile reads the targets file, with what its entries fill.
func (r *severalReader) readFile() ([]*targets.Entry, error) {
	if r.Targets == "-" && r.world.Streams.InIsTerminal {
		return nil, argv.Usagef("%s - reads stdin, which is a terminal", r.Origin("targets")).
			Hint("kubectl get jobs -o name | poll --targets - ...")
	}
	var err error
	if r.template, err = r.readTemplate(); err != nil {
		return nil, err
	}
	if err := refuseStdinTwice(r.Line); err != nil {
		return nil, err
	}
	text, err := r.world.readFile(r.Targets, targets.MaxSize)
	if err != nil {
		return nil, argv.Usagef("%s: %w", r.Origin("targets"), err)
	}
	r.file, err = targets.Read(text, targets.Config{Name: r.Targets, Template: r.template, Keys: r.list != nil})
	if e, ok := errors.AsType[*targets.Error](err); ok {
		return nil, argv.Usagef("%w", e).Hint("%s", e.Hint)
	}
	return r.file.Entries, err
}

// readTemplate reads the URL or the command that entries fill, nil if there is none.
func (r *severalReader) readTemplate() (t *targets.Template, err error) {
	switch {
	case r.Each != "" && !r.hasPlaceholder():
		return nil, nil // the entries are keys of the answer
	case r.IsCommand:
		t, err = targets.ParseCommand(r.Operands)
	case len(r.Operands) == 0:
		return nil, nil
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
	if e, ok := errors.AsType[*targets.TemplateError](err); ok {
		wrong := argv.Usagef("%s", e.Message).Hint("%s", e.Hint)
		if r.IsCommand && r.Dashes {
			wrong.Hint("a program to run then: poll --targets %s ... && %s", r.Targets, programName(r.Operands[0]))
		}
		return nil, wrong
	}
	return t, err
}

// read reads and checks all targets.
func (r *severalReader) read() error {
	if r.Each != "" {
		return r.readLists()
	}
	entries, err := r.readEntries()
	if err != nil {
		return err
	}
	r.pollers = make([]poll.Poller, 0, len(entries))
	for _, e := range entries {
		t, err := r.readEntry(e)
		switch {
		case err != nil && r.file == nil:
			return argv.Usagef("%s: %w", poll.TargetName(e.URL), err)
		case err != nil:
			return r.locate(e, err)
		}
		r.add(&t)
	}
	if err := r.refuseUnused(); err != nil {
		return err
	}
	return r.missing
}

// locate adds the file and the line to an error about an entry, unless it is about the command
// line.
func (r *severalReader) locate(e *targets.Entry, err error) error {
	line := e.Line
	for _, s := range e.Settings {
		if strings.HasPrefix(err.Error(), s.Flag) {
			line = s.Line
		}
	}
	if strings.HasPrefix(err.Error(), "--") || strings.HasPrefix(err.Error(), "POLL_") {
		return err
	}
	return argv.Usagef("%s:%d: %w", r.file.Name, line, err)
}

// add takes a target.
func (r *severalReader) add(t *target) {
	r.pollers, r.specs, r.named = append(r.pollers, t.poller), append(r.specs, t.spec), append(r.named, t.named)
	switch {
	case r.list != nil:
		r.list.learns = t.learns
	case t.learns != nil:
		put(&r.learns, len(r.pollers), t.learns)
	}
	if t.missing == nil || r.missing != nil {
		return
	}
	o := poll.Outcome{Target: t.poller.Target, Ending: poll.CannotRun, Reason: t.missing.Reason,
		Observation: &status.Observation{Kind: status.KindCommand, Failure: t.missing}}
	if t.advice != "" {
		o.Reason += "; " + t.advice
	}
	r.missing = &poll.Error{Outcome: o}
}

// readEntry reads a target, whose settings hold meanwhile.
func (r *severalReader) readEntry(e *targets.Entry) (t target, err error) {
	kind := status.KindCommand
	if e.Command == nil {
		if kind, err = kindOfURL(e.URL); err != nil {
			return t, err
		}
	}
	r.kinds[kind] = true
	before := *r.Spec
	restore := r.Save()
	defer func() {
		*r.Spec = before
		err = cmp.Or(restore(), err)
	}()
	b, err := r.base(kind, e.Settings)
	if err != nil {
		return t, err
	}
	t = *b
	if err := r.aim(&t, e); err != nil {
		return t, err
	}
	t.poller.Target, t.named = r.name(e, &t), e.Name
	return t, r.learn(&t, e)
}

// base returns what all targets of a kind with these settings have in common: all but what they
// look at.
func (r *severalReader) base(kind status.Kind, settings []targets.Setting) (*target, error) {
	key := baseKey(kind, settings)
	learns := slices.ContainsFunc(settings, func(s targets.Setting) bool { return s.Flag == "learn" })
	b := r.bases[key]
	if b != nil && !learns {
		return b, nil
	}
	if err := r.set(settings); b != nil || err != nil {
		return b, err
	}
	bit := bitOf(kind)
	if err := r.Settle(bit, argv.Entry, unfit(bit)); err != nil {
		return nil, err
	}
	t, err := r.readCommon(r.Spec, kind)
	if err != nil {
		return nil, err
	}
	own := *r.Spec
	if own.Joblog != "" {
		own.kept = r.settings()
	}
	t.spec = &own
	r.bases[key] = &t
	return &t, nil
}

// baseKey is equal for entries of one kind with equal settings.
func baseKey(kind status.Kind, settings []targets.Setting) string {
	key := strconv.Itoa(int(kind))
	for _, s := range settings {
		key += "\x01" + s.Flag + "\x00" + strings.Join(s.Texts, "\x00")
	}
	return key
}

// set sets the flags that an entry sets for itself.
func (r *severalReader) set(settings []targets.Setting) error {
	for _, s := range settings {
		f := r.Flag(s.Flag)
		switch {
		case f == nil || f.Hidden:
			return r.unknownKey(s.Flag)
		case f.WholeRun:
			return argv.Usagef("%s: it is for all targets", s.Flag).Hint("give it on the command line: --%s", s.Flag)
		case len(s.Texts) > 1 && !f.Many:
			return argv.Usagef("%s: it has one value", s.Flag)
		}
		for _, text := range s.Texts {
			r.Assign(f, text, s.Flag, argv.Entry)
		}
	}
	return r.Err()
}

// unknownKey refuses a key of an entry that is no flag.
func (r *severalReader) unknownKey(key string) error {
	return argv.Usagef("%s: an entry has no such key", key).
		Meant(strings.TrimLeft(key, "-"), append(r.Command.Flags.Shown(), "name", "url", "command")).
		Hint("it has a name, a url or a command, fields for {.field} of the URL, and flags such as until and timeout")
}

// aim makes a target look at what its entry says.
func (r *severalReader) aim(t *target, e *targets.Entry) error {
	operands := e.Command
	switch t.kind {
	case status.KindCommand:
		t.command = new(*t.command)
	case status.KindHTTP:
		t.http = new(*t.http)
		fallthrough
	default:
		operands = []string{e.URL}
	}
	return r.targetReader.aim(t.spec, t, operands)
}

// name returns what a target is called: as its entry says, or by its URL or program, with
// a number if others are called so.
func (r *severalReader) name(e *targets.Entry, t *target) string {
	name := e.Name
	if name == "" {
		if named, ok := t.poller.Probe.(interface{ Target() string }); ok {
			name = named.Target()
		}
	}
	unique := name
	for r.names[unique] > 0 {
		r.names[name]++
		unique = fmt.Sprintf("%s (%d)", name, r.names[name])
	}
	r.names[unique]++
	return unique
}

// learn reads the past runs of a target. The name of its history is that of its entry's
// learn, or that of --learn with the item or the target's name for {}.
func (r *severalReader) learn(t *target, e *targets.Entry) error {
	f, name := r.Flag("learn"), r.String("learn")
	isOwn := f.Rank() == argv.Entry
	switch {
	case name == "" || f.Rank() == argv.Variable && r.list == nil && !strings.Contains(name, "{}"):
		return nil // or it is meant for one target
	case !isOwn && r.list == nil && !strings.Contains(name, "{}"):
		return argv.Usagef("%s %s: several targets need {} in it", f.Origin(), name).
			Hint("each then learns apart: %s %s-{}", f.Origin(), name)
	case !isOwn:
		item := strings.NewReplacer("/", "-", `\`, "-").Replace(cmp.Or(e.Item, t.poller.Target))
		r.Assign(f, strings.ReplaceAll(name, "{}", item), f.Origin(), argv.Entry)
	}
	return r.ErrOr(t.readLearning(r.Spec))
}

// refuseUnused refuses flags that were typed and are for none of the targets.
func (r *severalReader) refuseUnused() error {
	if len(r.pollers) == 0 {
		return nil
	}
	var kinds argv.Kinds
	for kind := range r.kinds {
		kinds |= bitOf(kind)
	}
	if kinds == ofTCP { // conditions on answers are for others, if there are any
		alone := targetReader{world: r.world}
		if err := alone.readRules(r.Spec, &target{kind: status.KindTCP}); err != nil {
			return err
		}
	}
	r.Entries = len(r.learns) > 0
	return r.Settle(kinds, argv.Typed, func(f *argv.Flag) error {
		if f.For == ofCommand {
			return unfit(kinds)(f)
		}
		return argv.Usagef("%s is for http and https, and no target is", f.Origin())
	})
}

// repeated says how many targets were given more than once, "" if none was.
func (r *severalReader) repeated() string {
	n := r.again
	if r.file != nil {
		n = len(r.file.Repeats)
	}
	if n == 0 {
		return ""
	}
	return words.Count(n, "target") + " given again: each is waited for once"
}
