package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/plan"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/words"
)

const (
	defaultRate         = 50 // attempts a second at one place
	defaultParallel     = 50
	defaultParallelHost = 6

	// savingTime is how long remembering the runs of all targets may take.
	savingTime = 2 * time.Second
)

// A group is several targets that are waited for together.
type group struct {
	poll.Group
	pollers []poll.Poller          // until they are waited for
	learns  map[int]*plan.Recorder // by number, of the targets that learn
	settled *ui.Result             // of a target that has succeeded, until its end is told
	codes   map[poll.Ending]ExitCode
	ended   []func() // to be called when all results are written
}

// readSeveral reads everything where there may be several targets.
func (w *wait) readSeveral(ctx context.Context, s *Spec) error {
	if err := s.refuseForSeveral(); err != nil {
		return err
	}
	g := &group{codes: make(map[poll.Ending]ExitCode)}
	g.readLimits(s)
	reader := newSeveralReader(w, s)
	if err := reader.read(); err != nil {
		return err
	}
	g.pollers, g.learns = reader.pollers, reader.learns
	if n, open := reader.size(); n < s.Expect && !open {
		return s.tooFew(n)
	}
	if err := reader.readGoal(s, g); err != nil {
		return err
	}
	g.Start, g.Timeout = w.start, w.timeout
	w.group = g
	if err := w.readOutput(ctx, s, slices.Collect(maps.Keys(reader.kinds))); err != nil {
		return err
	}
	w.describe(s, reader)
	all := make([]*poll.Poller, len(g.pollers))
	for i := range all {
		all[i] = &g.pollers[i]
	}
	if err := w.openStores(s, all, reader.specs, reader.named); err != nil {
		return err
	}
	if w.share != nil {
		g.Limiter = w.share.Fleet
	}
	return nil
}

// refuseForSeveral refuses what is for one target.
func (s *Spec) refuseForSeveral() error {
	return s.refuse(
		misfit{"name", "is for one target: each of several targets has its own", argv.Advice("several name"), true},
		misfit{"foreground", "is for one target: several cannot use the terminal at once", "", true},
		misfit{"stdin", "is for one target: several cannot share it", argv.Advice("several stdin"), true},
		misfit{"pass-exit-code", "is for one target: several have no one exit code", argv.Advice("several pass-exit-code"), true},
		misfit{"result-file", "is for one target: several have no one result", "", true},
		misfit{"show-stderr", "is for one target: lines of several would be mixed", argv.Advice("several show-stderr"), true},
	)
}

// tooFew says that there are not as many targets as are expected.
func (s *Spec) tooFew(have int) error {
	if have > 0 {
		return argv.Usagef("%s %d, and only %s given", s.Origin("expect"), s.Expect, words.Count(have, "target")).
			Hint("%s", argv.Advice(fmt.Sprint("expect ", s.Expect)))
	}
	err := argv.Usagef("%s names no target", s.targetsFile())
	if s.Expect == 1 {
		err.Hint("--expect 0 if there may be none")
	}
	return err
}

// targetsFile returns what the file of --targets is called.
func (s *Spec) targetsFile() string {
	if s.Targets != "-" {
		return s.Targets
	}
	return "stdin"
}

// perSecond returns how many requests a second one place gets at most, 0 for no limit.
func (s *Spec) perSecond() float64 {
	if s.Rate == nil {
		return defaultRate
	}
	return *s.Rate
}

// readLimits reads how much is done at once, and how often.
func (g *group) readLimits(s *Spec) {
	host, programs := defaultParallelHost, runtime.GOMAXPROCS(0)
	if s.Has("parallel-max") {
		host, programs = s.ParallelMax, s.ParallelMax
	}
	if s.ParallelMaxHost != nil {
		host, programs = *s.ParallelMaxHost, *s.ParallelMaxHost
	}
	g.Parallel = s.ParallelMax
	g.ParallelPlace = func(place string) int {
		if hasScheme(place) {
			return host
		}
		return programs
	}
	g.Limiter = &poll.Pacer{PerSecond: s.perSecond(), Known: s.Rate != nil}
	g.Rand = s.Waits.Rand()
}

// size returns how many targets there are, or at least if the list is open: others may join.
func (r *severalReader) size() (n int, open bool) {
	if r.list != nil {
		return r.list.size, r.Targets == ""
	}
	return len(r.pollers), false
}

// readGoal reads how many targets have to succeed.
func (r *severalReader) readGoal(s *Spec, g *group) (err error) {
	g.FailFast = s.FailFast
	n, open := r.size()
	things := "targets"
	if r.list != nil {
		things = "elements"
	}
	isShare := strings.HasSuffix(s.AtLeast, "%")
	switch {
	case n == 0 && !open:
	case s.Any:
		g.AtLeast = 1
	case s.AtLeast == "" || open && isShare && n == 0 && s.DropVariable("at-least"):
	case open && isShare && n == 0:
		return argv.Usagef("%s %s: of how many elements is not known", s.Origin("at-least"), s.AtLeast).
			Hint("--expect N says how many there are at least, and --targets FILE which")
	default:
		if open && !isShare {
			n = math.MaxInt
		}
		if g.AtLeast, err = argv.ParseShare(s.AtLeast, n, things); err != nil {
			return argv.Usagef("%s: %w", s.Origin("at-least"), err)
		}
	}
	return nil
}

// describe says what is waited for, and what is to be known before it begins.
func (w *wait) describe(s *Spec, reader *severalReader) {
	g := w.group
	n, _ := reader.size()
	w.report.Targets, w.report.Timeout = n, w.timeout
	w.report.Goal = goalWords(n, g.AtLeast, "target")
	var note string
	if own := reader.list; own != nil {
		w.report.Goal, note = own.goal(g.AtLeast), own.note(s)
		w.learns = own.learns
		w.reportLearning()
	}
	w.output.PerTarget = !s.Any
	for _, note := range []string{reader.repeated(), note} {
		if note != "" {
			w.report.Opening = append(w.report.Opening, note)
		}
	}
}

func goalWords(n, need int, thing string) string {
	of := words.Count(n, thing)
	switch {
	case n == 0:
		return "there is no " + thing
	case need == 0 || need == n:
		return "all of " + of
	case need == 1:
		return "any of " + of
	}
	return fmt.Sprintf("at least %d of %s", need, of)
}

// thousands is how many targets keep so much while they wait that memory counts more than time.
const thousands = 1000

// spareMemory has garbage collected more often, unless GOGC says how often: of 10,000 targets a third
// less memory for a third more time of the processor. What it returns ends that.
func (w World) spareMemory() (end func()) {
	if _, isSet := w.Lookup("GOGC"); isSet {
		return func() {}
	}
	const percent = 20
	usual := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(usual) }
}

// runSeveral waits for all targets, reports what happens and writes the results to
// stdout. The error determines the exit code.
func (w *wait) runSeveral(ctx context.Context) error {
	g := w.group
	reporter := ui.New(w.report)
	defer reporter.Close()
	w.share.tell(reporter)
	if len(g.pollers) == 0 { // and none had to be
		return w.reached(ctx, reporter, poll.Event{Kind: poll.EventGoal, At: time.Now(), Summary: &poll.Summary{Ending: poll.Succeeded}})
	}
	inTime, cancel := w.withDeadline(ctx)
	defer cancel()
	if len(g.pollers) >= thousands {
		defer w.world.spareMemory()()
	}
	for event := range g.Events(ctx, w.pollers()) {
		w.jobs.observe(event)
		w.learns.Observe(event) // of a list
		switch event.Kind {
		case poll.EventGoal:
			w.learns.EndList(inTime, *event.Summary)
			for _, warning := range w.remember(ctx) {
				reporter.Say(warning)
			}
			return w.reached(ctx, reporter, event)
		case poll.EventEnd:
			if err := w.endOne(ctx, inTime, reporter, event); err != nil {
				return err
			}
			continue
		case poll.EventAttempt, poll.EventStart, poll.EventWait:
			g.learns[event.N].Observe(event)
		}
		reporter.Event(event)
	}
	return nil
}

// pollers returns the targets, whose results are settled before they count.
func (w *wait) pollers() func(yield func(poll.Poller) bool) {
	return func(yield func(poll.Poller) bool) {
		pollers := w.group.pollers
		w.group.pollers = nil // the group has its own
		for _, p := range pollers {
			p.Settle = func(o poll.Outcome) poll.Outcome {
				result := w.output.Settle(o)
				w.group.settled = &result
				return result.Outcome
			}
			if !yield(p) {
				return
			}
		}
	}
}

// endOne reports how a target ended and writes its result. The deadline does not break that
// off: the guard does, if nobody reads.
func (w *wait) endOne(ctx, inTime context.Context, reporter *ui.Reporter, event poll.Event) error {
	g, n := w.group, event.N
	outcome := *event.Outcome
	learns := g.learns[n]
	learns.End(inTime, outcome)
	if g.settled == nil {
		g.settled = new(w.output.Settle(outcome))
	}
	result := *g.settled
	g.settled = nil
	result.Outcome.State, result.Outcome.Notes = outcome.State, slices.Concat(outcome.Notes, learns.Warnings())
	event.Outcome = &result.Outcome
	reporter.Event(event)
	code := outcomeCode(outcome)
	if _, known := g.codes[outcome.Ending]; !known || code == ExitInternal {
		g.codes[outcome.Ending] = code
	}
	ended := w.jobs.end(event, code)
	if err := w.world.deliver(ctx, func() error { return reporter.WriteTarget(n, result, int(code)) }); err != nil {
		return err
	}
	if result.AtEnd() {
		g.ended = append(g.ended, ended)
		return nil
	}
	ended()
	return nil
}

// remember keeps the runs of the list, or of all targets, for the next, and returns what is to
// be said of that.
func (w *wait) remember(ctx context.Context) []string {
	var problem error // the first, which is most often that of all
	learns := []*plan.Recorder{w.learns}
	for _, n := range slices.Sorted(maps.Keys(w.group.learns)) {
		learns = append(learns, w.group.learns[n])
	}
	end := time.Now().Add(savingTime)
	for _, r := range learns {
		left := min(time.Until(end), time.Until(w.deadline()))
		problem = cmp.Or(problem, r.Save(ctx, left))
		if time.Now().After(end) {
			break // others hold the history
		}
	}
	if problem != nil {
		return append(w.learns.Warnings(), problem.Error())
	}
	return w.learns.Warnings()
}

// reached reports how all ended and ends stdout.
func (w *wait) reached(ctx context.Context, reporter *ui.Reporter, event poll.Event) error {
	g := w.group
	w.world.limit(limit{w.timeout, w.deadline(), min(w.grace, poll.DefaultGrace)})
	reporter.Event(event)
	reporter.Close()
	code := w.jobs.code(g.code(*event.Summary))
	err := w.world.deliver(ctx, func() error { return reporter.WriteSummary(w.output, *event.Summary, int(code)) })
	for _, ended := range g.ended {
		if err == nil {
			ended()
		}
	}
	if err != nil {
		return err
	}
	if code != ExitSuccess {
		return &exitError{code}
	}
	return nil
}

// code returns the exit code of all: that of the targets that decided.
func (g *group) code(s poll.Summary) ExitCode {
	if s.Ending == poll.Succeeded {
		return ExitSuccess
	}
	return cmp.Or(g.codes[s.Ending], ExitError)
}
