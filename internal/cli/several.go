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
	"github.com/pollcli/poll/internal/cli/learning"
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
	pollers []poll.Poller              // until they are waited for
	learns  map[int]*learning.Recorder // by number, of the targets that learn
	settled *ui.Result                 // of a target that has succeeded, until its end is told
	codes   map[poll.Ending]ExitCode
	ended   []func() // to be called when all results are written
}

// readSeveral reads everything where there may be several targets.
func (w *wait) readSeveral(ctx context.Context, l *argv.Line) error {
	if err := refuseForSeveral(l); err != nil {
		return err
	}
	g := &group{codes: make(map[poll.Ending]ExitCode)}
	g.readLimits(l)
	expect := l.Count("expect", 0, 1)
	if err := l.Err(); err != nil {
		return err // before anything is read
	}
	reader := newSeveralReader(w, l)
	if err := reader.read(ctx); err != nil {
		return err
	}
	g.pollers, g.learns = reader.pollers, reader.learns
	n, open := reader.size()
	if n < expect && !open {
		return tooFew(l, n, expect)
	}
	if err := reader.readGoal(l, g); err != nil {
		return err
	}
	g.Start, g.Timeout = w.start, w.timeout
	w.group = g
	if err := l.ErrOr(w.readOutput(ctx, l, slices.Collect(maps.Keys(reader.kinds)))); err != nil {
		return err
	}
	w.describe(l, reader)
	all := make([]*poll.Poller, len(g.pollers))
	for i := range all {
		all[i] = &g.pollers[i]
	}
	var err error
	if w.share, err = openShare(l, all, reader.lines); err != nil {
		return err
	}
	if w.share != nil {
		g.Limiter, w.report.Shared = w.share.Fleet, true
	}
	if w.jobs, err = openJobs(l, all, reader.lines, reader.named); err != nil {
		return err
	}
	if note := w.jobs.note(); note != "" {
		w.report.Opening = append(w.report.Opening, note)
	}
	return nil
}

// refuseForSeveral refuses what is for one target.
func refuseForSeveral(l *argv.Line) error {
	for _, flag := range []struct{ name, why, instead string }{
		{"name", "each of several targets has its own", `in a targets file: {"name": "db", "url": "tcp://db:5432"}`},
		{"foreground", "several cannot use the terminal at once", ""},
		{"stdin", "several cannot share it", "sh -c 'exec COMMAND <FILE' gives each a file of its own"},
		{"pass-exit-code", "several have no one exit code", "--json has that of each"},
		{"result-file", "several have no one result", ""},
		{"show-stderr", "lines of several would be mixed", "-v shows what each wrote"},
	} {
		if l.Typed(flag.name) == nil {
			continue
		}
		err := argv.Usagef("--%s is for one target: %s", flag.name, flag.why)
		if flag.instead != "" {
			err.Hint("%s", flag.instead)
		}
		return err
	}
	return nil
}

// tooFew says that there are not as many targets as are expected.
func tooFew(l *argv.Line, have, want int) error {
	if have > 0 {
		return argv.Usagef("%s %d: there are fewer, %s", l.Origin("expect"), want, words.Count(have, "target"))
	}
	err := argv.Usagef("%s names no target", targetsFile(l))
	if want == 1 {
		err.Hint("--expect 0 if there may be none")
	}
	return err
}

// targetsFile returns what the file of --targets is called.
func targetsFile(l *argv.Line) string {
	if name := l.String("targets"); name != "-" {
		return name
	}
	return "stdin"
}

// readLimits reads how much is done at once, and how often.
func (g *group) readLimits(l *argv.Line) {
	g.Parallel = l.Count("parallel-max", 1, defaultParallel)
	host, programs := defaultParallelHost, runtime.GOMAXPROCS(0)
	for _, flag := range []string{"parallel-max", "parallel-max-host"} {
		if l.Has(flag) {
			host = l.Count(flag, 1, host)
			programs = host
		}
	}
	g.ParallelPlace = func(place string) int {
		if hasScheme(place) {
			return host
		}
		return programs
	}
	rate := l.Rate("rate", defaultRate)
	g.Limiter = &poll.Pacer{PerSecond: rate, Known: l.Has("rate")}
	g.Rand = plan.Source(l)
}

// size returns how many targets there are, or at least if the list is open: others may join.
func (r *severalReader) size() (n int, open bool) {
	if r.list != nil {
		return r.list.size, !r.line.Has("targets")
	}
	return len(r.pollers), false
}

// readGoal reads how many targets have to succeed.
func (r *severalReader) readGoal(l *argv.Line, g *group) error {
	g.FailFast = l.On("fail-fast")
	n, open := r.size()
	value, things := l.String("at-least"), "targets"
	if r.list != nil {
		things = "elements"
	}
	isShare := strings.HasSuffix(value, "%")
	switch {
	case n == 0 && !open:
	case l.On("any"):
		g.AtLeast = 1
	case value == "" || open && isShare && n == 0 && l.DropVariable("at-least"):
	case open && isShare && n == 0:
		return argv.Usagef("%s %s: of how many elements is not known", l.Origin("at-least"), value).
			Hint("--expect N says how many there are at least, and --targets FILE which")
	case open && !isShare:
		g.AtLeast = l.Share("at-least", math.MaxInt, things)
	default:
		g.AtLeast = l.Share("at-least", n, things)
	}
	return nil
}

// describe says what is waited for, and what is to be known before it begins.
func (w *wait) describe(l *argv.Line, reader *severalReader) {
	g := w.group
	n, _ := reader.size()
	w.report.Targets, w.report.Timeout = n, w.timeout
	w.report.Goal = goalWords(n, g.AtLeast, "target")
	note := g.slowly(l)
	if own := reader.list; own != nil {
		w.report.Goal, note = own.goal(g.AtLeast), own.note(l)
		w.learns = own.learns
		w.reportLearning()
	}
	w.output.PerTarget = !l.On("any")
	for _, note := range []string{reader.repeated(), note} {
		if note != "" {
			w.report.Opening = append(w.report.Opening, note)
		}
	}
}

func goalWords(n, need int, thing string) string {
	of := words.Count(n, thing)
	switch {
	case need == 0 || need == n:
		return "all of " + of
	case need == 1:
		return "any of " + of
	}
	return fmt.Sprintf("at least %d of %s", need, of)
}

// slowly says how seldom a target is looked at, if the rate makes that less often than
// the schedule would.
func (g *group) slowly(l *argv.Line) string {
	rate := l.Rate("rate", defaultRate)
	if rate == 0 {
		return ""
	}
	there := make(map[string]int)
	most, busiest := 0, ""
	seen := make(map[*poll.HTTP]bool, len(g.pollers))
	for _, p := range g.pollers {
		if request, ok := p.Probe.(*poll.HTTP); ok {
			if seen[request] {
				continue // it is made once for several
			}
			seen[request] = true
		}
		place := placeOf(p.Probe)
		if there[place]++; there[place] > most {
			most, busiest = there[place], place
		}
	}
	every := time.Duration(float64(most) / rate * float64(time.Second))
	longest := l.Duration("max-wait", 20*time.Second)
	if most == 0 || longest == 0 || every <= 2*longest {
		return ""
	}
	text := fmt.Sprintf("%s at %s: each is seen every %s", words.Count(most, "target"), cmp.Or(l.String("rate"), "50/s"), words.Short(every))
	if !strings.HasPrefix(busiest, "tcp:") {
		text += "; --each asks for a list"
	}
	return text
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
	if _, set := w.world.Lookup("GOGC"); !set {
		// What thousands of targets keep while they wait would otherwise be doubled.
		defer debug.SetGCPercent(debug.SetGCPercent(40))
	}
	inTime, cancel := w.withDeadline(ctx)
	defer cancel()
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
	learns := []*learning.Recorder{w.learns}
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

// placeOf returns what a probe puts load on, as a group knows it.
func placeOf(probe poll.Probe) string {
	if probe, ok := probe.(interface{ Place() string }); ok {
		return probe.Place()
	}
	return ""
}
