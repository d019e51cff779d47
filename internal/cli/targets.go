package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/learning"
	"github.com/pollcli/poll/internal/schedule"
	"github.com/pollcli/poll/internal/targets"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// isSeveral reports whether the command line is for several targets, though it may turn
// out to name one.
func isSeveral(l *argv.Line) bool {
	return l.Has("targets") || l.Has("each") || !l.IsCommand() && len(l.Operands) > 1
}

// A severalReader reads several targets. What entries have in common is read once, and
// is one value: equal requests are one probe, so that they become one source.
type severalReader struct {
	targetReader
	line     *argv.Line
	template *targets.Template // nil if there is none
	file     *targets.File     // nil if the operands are the targets
	list     *list             // nil without --each
	bases    map[baseKey]*base
	requests map[string]*poll.HTTP // by what they are made of
	sources  map[source]poll.Probe
	names    map[string]int // how often each was given
	kinds    map[status.Kind]bool
	again    []string // operands that repeat others

	pollers []poll.Poller
	lines   []*argv.Line               // of each the settings
	named   []string                   // of each the name that its entry gives it, "" for none
	learns  map[int]*learning.Recorder // by number, of the targets that learn
	missing []error                    // programs that cannot be run
}

// A base is what targets of one kind with the same settings have in common: all but what
// they look at.
type base struct {
	target
	line *argv.Line // with the settings
}

// A baseKey says which base it is.
type baseKey struct {
	kind     status.Kind
	settings string
}

// A source is what targets have to have in common to be asked about by one request.
type source struct {
	base           *poll.HTTP // all about the request but its URL
	url            string
	config         schedule.Config
	immediate      bool
	initialDelay   time.Duration
	attemptTimeout time.Duration
}

func newSeveralReader(w *wait, l *argv.Line) *severalReader {
	return &severalReader{
		targetReader: targetReader{
			world: w.world, grace: w.grace, several: true,
			perHost: l.Count("parallel-max", 1, defaultParallel), bodies: new(poll.Bodies),
		},
		line:     l,
		bases:    make(map[baseKey]*base),
		requests: make(map[string]*poll.HTTP),
		sources:  make(map[source]poll.Probe),
		names:    make(map[string]int),
		kinds:    make(map[status.Kind]bool),
	}
}

// readEntries reads what is to be waited for: the URLs among the operands, or the entries
// of a file.
func (r *severalReader) readEntries(l *argv.Line) ([]*targets.Entry, error) {
	if l.Has("targets") {
		return r.readFile(l)
	}
	var entries []*targets.Entry
	given := make(map[string]bool)
	for _, operand := range l.Operands {
		if given[operand] {
			r.again = append(r.again, poll.TargetName(operand))
			continue
		}
		given[operand] = true
		entries = append(entries, &targets.Entry{URL: operand})
	}
	return entries, nil
}

// readFile reads the targets file, with what its entries fill.
func (r *severalReader) readFile(l *argv.Line) ([]*targets.Entry, error) {
	name := l.String("targets")
	if name == "-" && r.world.Streams.InIsTerminal {
		return nil, argv.Usagef("%s - reads stdin, which is a terminal", l.Origin("targets")).
			Hint("kubectl get jobs -o name | poll --targets - ...")
	}
	config := targets.Config{Name: name, Flags: entryFlags(), Synonyms: flagSynonyms(), Keys: r.list != nil}
	var err error
	if config.Template, err = readTemplate(l); err != nil {
		return nil, err
	}
	text, err := r.world.readFile(name, targets.MaxSize)
	if err != nil {
		return nil, argv.Usagef("%s: %w", l.Origin("targets"), err)
	}
	r.file, r.template = targets.Read(text, config), config.Template
	return r.file.Entries, nil
}

// readTemplate reads the URL or the command that entries fill, nil if there is none.
func readTemplate(l *argv.Line) (t *targets.Template, err error) {
	switch {
	case l.Has("each") && !hasPlaceholder(l):
		return nil, nil // the entries are keys of the answer
	case l.IsCommand():
		t, err = targets.ParseCommand(l.Operands)
	case len(l.Operands) == 0:
		return nil, nil
	case len(l.Operands) > 1:
		return nil, argv.Usagef("%d URLs are given, and with %s one is filled by its entries", len(l.Operands), l.Origin("targets")).
			Hint("put the URLs into the file, too")
	default:
		t, err = targets.ParseURL(l.Operands[0])
	}
	if err == nil && l.Has("each") {
		err = t.Batch(l.Count("batch", 1, 1))
	}
	if e, ok := errors.AsType[*targets.TemplateError](err); ok {
		wrong := argv.Usagef("%s", e.Message)
		if e.Hint != "" {
			wrong.Hint("%s", e.Hint)
		}
		return nil, wrong
	}
	return t, err
}

// entryFlags returns what an entry of a targets file may set: the flags that are about
// one target.
func entryFlags() map[string]targets.Flag {
	flags := make(map[string]targets.Flag)
	for _, f := range waitFlags() {
		if f.Hidden {
			continue
		}
		flags[f.Name] = targets.Flag{
			Many:       f.Many,
			Switch:     f.IsSwitch(),
			MayBeEmpty: f.MayBeEmpty,
			Secret:     slices.Contains([]string{"user", "header", "data"}, f.Name),
			Common: slices.Contains([]string{groupSeveral, groupCommand, groupOutput}, f.Group) && f.Name != "key" ||
				slices.Contains([]string{"seed", "history"}, f.Name),
		}
	}
	return flags
}

// read reads and checks all targets.
func (r *severalReader) read(ctx context.Context) error {
	if r.line.Has("each") {
		return r.readLists(ctx)
	}
	entries, err := r.readEntries(r.line)
	if err != nil {
		return err
	}
	r.pollers = make([]poll.Poller, 0, len(entries))
	for i, e := range entries {
		t, err := r.readEntry(ctx, e)
		var all *lineError
		switch {
		case errors.As(err, &all):
			return all.error
		case err != nil && r.file == nil:
			return argv.Usagef("%s: %w", argv.NameOperand(i, poll.TargetName(e.URL)), err)
		case err != nil:
			r.reject(e, err)
		default:
			r.add(&t)
		}
	}
	if r.file != nil {
		if err := r.file.Err(); err != nil {
			return argv.Usagef("%w", err)
		}
	}
	if err := r.refuseUnused(); err != nil {
		return err
	}
	if len(r.learns) == 0 {
		if err := learning.RefuseUnlearned(r.line); err != nil {
			return err
		}
	}
	return errors.Join(r.missing...)
}

// add takes a target.
func (r *severalReader) add(t *target) {
	r.pollers, r.lines, r.named = append(r.pollers, t.poller), append(r.lines, t.line), append(r.named, t.named)
	switch {
	case r.list != nil:
		r.list.learns = t.learns
	case t.learns != nil:
		put(&r.learns, len(r.pollers), t.learns)
	}
	if t.missing == nil {
		return
	}
	o := poll.Outcome{Target: t.poller.Target, Ending: poll.CannotRun, Reason: t.missing.Reason,
		Observation: &status.Observation{Kind: status.KindCommand, Failure: t.missing}}
	if t.advice != "" {
		o.Reason += "; " + t.advice
	}
	isSame := func(e error) bool { return e.(*poll.Error).Outcome.Reason == o.Reason }
	if !slices.ContainsFunc(r.missing, isSame) {
		r.missing = append(r.missing, &poll.Error{Outcome: o})
	}
}

// A lineError is wrong on the command line, for all targets.
type lineError struct{ error }

// readEntry reads a target.
func (r *severalReader) readEntry(ctx context.Context, e *targets.Entry) (t target, err error) {
	kind := status.KindCommand
	if e.Command == nil {
		if kind, err = kindOfURL(e.URL); err != nil {
			return t, err
		}
	}
	r.kinds[kind] = true
	b, err := r.base(ctx, kind, e.Settings)
	if err != nil {
		if _, wrong := r.base(ctx, kind, nil); wrong != nil && wrong.Error() == err.Error() {
			err = &lineError{err}
		}
		return t, err
	}
	t = b.target
	if err := r.aim(b, &t, e); err != nil {
		return t, err
	}
	t.poller.Target, t.line, t.named = r.name(e, &t), b.line, e.Name
	return t, r.learn(b, &t, e)
}

// base returns what all targets of a kind with these settings have in common.
func (r *severalReader) base(ctx context.Context, kind status.Kind, settings []targets.Setting) (*base, error) {
	key := baseKey{kind, settingsKey(settings, func(string) bool { return true })}
	if b := r.bases[key]; b != nil {
		return b, nil
	}
	var given []argv.Given
	for _, s := range settings {
		for _, v := range s.Values {
			given = append(given, argv.Given{Flag: r.line.Flag(s.Flag), Value: v.Text, Origin: s.Flag})
		}
	}
	l, err := r.line.With(given)
	if err != nil {
		return nil, err
	}
	t, err := r.readProbe(ctx, l, kind)
	if err = l.ErrOr(err); err == nil {
		err = r.readRules(l, &t)
	}
	if err = l.ErrOr(err); err == nil {
		err = r.readSchedule(l, &t)
	}
	if err = l.ErrOr(err); err != nil {
		return nil, err
	}
	if kind == status.KindHTTP {
		key := settingsKey(settings, r.isOfRequest)
		t.http = cmp.Or(r.requests[key], t.http)
		r.requests[key] = t.http
	}
	b := &base{t, l}
	r.bases[key] = b
	return b, nil
}

// settingsKey is equal for settings with equal values, as far as they are wanted.
func settingsKey(settings []targets.Setting, wanted func(flag string) bool) string {
	var keys []string
	for _, s := range settings {
		if wanted(s.Flag) {
			keys = append(keys, s.Flag+"\x00"+strings.Join(s.Texts(), "\x00"))
		}
	}
	slices.Sort(keys)
	return strings.Join(keys, "\x01")
}

// isOfRequest reports whether a flag is about the request.
func (r *severalReader) isOfRequest(flag string) bool {
	return flag == "max-body" || isOfHTTP(r.line, r.line.Flag(flag))
}

// aim makes a target look at what its entry says.
func (r *severalReader) aim(b *base, t *target, e *targets.Entry) error {
	switch t.kind {
	case status.KindCommand:
		command := *b.command
		t.command = &command
		return r.aimCommand(b.line, t, e.Command)
	case status.KindTCP:
		return r.aimTCP(t, e.URL)
	}
	key := source{b.http, e.URL, t.config, t.poller.Immediate, t.poller.InitialDelay, t.poller.AttemptTimeout}
	mayShare := isSafe(b.http) && !b.line.Has("learn") // what is learned sets the schedule
	if probe := r.sources[key]; probe != nil && mayShare {
		t.poller.Probe = probe
		return nil
	}
	request := *b.http
	t.http = &request
	err := r.aimHTTP(b.line, t, e.URL)
	if err == nil && mayShare {
		r.sources[key] = t.poller.Probe
	}
	return err
}

// isSafe reports whether one request may stand for several that are equal: it starts
// nothing, and no answer says where to look instead.
func isSafe(h *poll.HTTP) bool {
	return slices.Contains([]string{"", "GET", "HEAD"}, h.Method) && h.Body == nil && h.Follow == ""
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
func (r *severalReader) learn(b *base, t *target, e *targets.Entry) error {
	g := b.line.Last("learn")
	if g == nil || g.Variable && r.list == nil && !strings.Contains(g.Value, "{}") {
		return nil // or it is meant for one target
	}
	l := b.line
	if g.Inherited && r.list == nil && !strings.Contains(g.Value, "{}") {
		err := argv.Usagef("%s %s: several targets need {} in it", g.Origin, g.Value)
		return &lineError{err.Hint("each then learns apart: %s %s-{}", g.Origin, g.Value)}
	}
	if g.Inherited {
		name := strings.NewReplacer("/", "-", `\`, "-").Replace(cmp.Or(e.Item, t.poller.Target))
		filled := *g
		filled.Value = strings.ReplaceAll(g.Value, "{}", name)
		var err error
		if l, err = l.With([]argv.Given{filled}); err != nil {
			return err
		}
	}
	return l.ErrOr(t.readLearning(l))
}

// reject notes what is wrong with an entry of the file: with one of its settings, if the
// error begins with the name of it.
func (r *severalReader) reject(e *targets.Entry, err error) {
	hint := ""
	if usage, ok := errors.AsType[*argv.UsageError](err); ok {
		hint = strings.Join(usage.Hints, "; ")
	}
	bad, isExpression := errors.AsType[*expr.Error](err)
	for i := range e.Settings {
		s := &e.Settings[i]
		rest, ofThis := strings.CutPrefix(err.Error(), s.Flag)
		message := aboutSetting(rest)
		if !ofThis || message == "" {
			continue
		}
		if !isExpression {
			r.file.RejectSetting(s, 0, 0, message, hint)
			return
		}
		value := max(0, slices.Index(s.Texts(), bad.Source))
		if hint = bad.Hint; bad.JQ != "" {
			hint = strings.TrimPrefix(hint+"; or let jq decide: "+bad.JQ, "; ")
		}
		r.file.RejectSetting(s, value, bad.Offset, bad.Message, hint)
		return
	}
	r.file.Reject(e, err.Error(), hint)
}

// aboutSetting returns what an error says of the setting whose name it begins with, given
// what follows the name, "" if that was not the whole name.
func aboutSetting(rest string) string {
	for _, joint := range []struct{ is, becomes string }{{": ", ""}, {", ", ""}, {" is ", "is "}, {" needs ", "needs "}, {" and ", "it and "}} {
		if message, ok := strings.CutPrefix(rest, joint.is); ok {
			return joint.becomes + message
		}
	}
	return ""
}

// refuseUnused refuses flags that were typed and are for none of the targets.
func (r *severalReader) refuseUnused() error {
	if len(r.pollers) == 0 || r.kinds[status.KindHTTP] {
		return nil
	}
	if !r.kinds[status.KindCommand] { // conditions on answers are for others, if there are any
		alone := targetReader{world: r.world}
		if err := alone.readRules(r.line, &target{kind: status.KindTCP}); err != nil {
			return err
		}
	}
	return refuseHTTP(r.line, "is for http and https, and no target is")
}

// repeated says which targets were given more than once, "" if none was.
func (r *severalReader) repeated() string {
	switch {
	case len(r.again) > 0:
		return "given more than once, and waited for once: " + strings.Join(r.again, ", ")
	case r.file == nil || len(r.file.Repeats) == 0:
		return ""
	}
	first := r.file.Repeats[0]
	text := fmt.Sprintf("line %d repeats line %d", first.Line, first.First)
	if more := len(r.file.Repeats) - 1; more > 0 {
		text += fmt.Sprintf(", and so do %d more", more)
	}
	return text + ": each target is waited for once"
}
