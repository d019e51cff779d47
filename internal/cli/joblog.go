package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/store"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// jobs is what a wait keeps in its job log. Nil keeps nothing.
type jobs struct {
	log      *store.Log
	ids      []string               // of the targets, by number
	lists    map[string]string      // the IDs of lists, by their names
	elements string                 // the ID of what all lists have in common, that of their elements; "" without lists
	open     map[string]store.Entry // of the lists, what is not written yet

	path    string
	knows   int       // targets that go on or had ended
	ended   int       // those that had
	began   time.Time // the operation of the first of them, as far as is known
	touched time.Time // the newest line about them, or the file
	sent    bool      // a start of them
}

// openJobs opens the job log, if there is to be one. The targets go on with what it says of
// them.
func openJobs(s *Spec, all []*target) (j *jobs, err error) {
	if s.Joblog == "" && s.Slice == 0 {
		return nil, nil
	}
	origin := s.Origin("joblog")
	j = &jobs{lists: make(map[string]string), open: make(map[string]store.Entry)}
	if s.Slice > 0 {
		origin = s.Origin("slice")
	}
	if j.ids, j.elements, err = identities(origin, all); err == nil {
		j.path, err = s.logPath(j.ids, all)
	}
	if err != nil {
		return nil, err
	}
	found, _ := os.Stat(j.path)
	if j.log, err = store.OpenLog(j.path); err == nil && s.Slice > 0 && j.isOver() && time.Since(found.ModTime()) > leftFor {
		if err = j.log.Remove(); err == nil { // the same line begins anew
			j.log, err = store.OpenLog(j.path)
		}
	}
	if err != nil {
		return nil, argv.Usagef("%s: %w", origin, err)
	}
	for i, t := range all {
		j.attach(&t.poller, j.ids[i])
	}
	if found != nil && found.ModTime().Before(j.touched) {
		j.touched = found.ModTime()
	}
	if err := cmp.Or(j.refuseOthers(s, origin, all), j.refuseLeft(s, origin)); err != nil {
		j.log.Close()
		return nil, err
	}
	return j, nil
}

// isOver reports whether all targets had ended when the log was opened.
func (j *jobs) isOver() bool {
	return !slices.ContainsFunc(j.ids, func(id string) bool {
		past, known := j.log.Past(id)
		return !known || !past.State.Ended()
	})
}

// refuseOthers refuses a log that is not of these targets.
func (j *jobs) refuseOthers(s *Spec, origin string, all []*target) error {
	switch lacks := j.lacksStart(all); {
	case j.log.Empty():
		return nil
	case !s.Resume && s.Slice == 0:
		return argv.Usagef("%s: %s has the targets of an earlier run", origin, j.path).
			Hint("--resume goes on with them; with another FILE they begin anew, and what they start is started again")
	case (j.knows == 0 || lacks) && s.Slice > 0:
		return argv.Usagef("%s goes on with the same line, and this one has other conditions, targets, headers, bodies or flags", origin).
			Hint("what the other line started is in %s; without that file this line begins anew, and starts it again; a header that is renewed stands in a file: -H @FILE", j.path)
	case j.knows == 0 || lacks:
		return argv.Usagef("%s: %s has other targets or batches than these, or the same with other conditions, headers or names", origin, j.path).
			Hint("with another FILE, or without this one, these begin anew, and what they start is started again; a header that is renewed stands in a file: -H @FILE")
	}
	return nil
}

// sessionOf returns a new session of a probe, nil if it has none.
func sessionOf(probe poll.Probe) poll.Probe {
	if s, ok := probe.(interface{ Session() poll.Probe }); ok {
		return s.Session()
	}
	return nil
}

// lacksStart reports whether the log has a start that is none of the targets', while one is to
// be started: it may be the same one, with another condition or name. One that has ended
// does not count, unless it was of a batch: its entries may be in others.
func (j *jobs) lacksStart(all []*target) bool {
	isDue := func(t *target) bool {
		return (t.poller.Past == nil || t.poller.Elements != nil) && starts(t.poller.Probe)
	}
	isLacking := func(e store.Entry) bool {
		return !slices.Contains(j.ids, e.ID) && (!e.State.Ended() || j.elements != "")
	}
	return slices.ContainsFunc(j.log.Started(), isLacking) && slices.ContainsFunc(all, isDue)
}

// starts reports whether a new wait begins by starting an operation.
func starts(probe poll.Probe) bool {
	starter, ok := sessionOf(probe).(interface{ StartDue() bool })
	return ok && starter.StartDue()
}

// attach makes a target go on with what the log says, and tell it before it starts something.
func (j *jobs) attach(p *poll.Poller, id string) {
	if past, known := j.log.Past(id); known {
		p.Past = j.take(past)
	}
	name := p.Target
	p.Starting = func(s poll.State) error { return j.log.Start(store.Entry{ID: id, Name: name, State: withoutReason(s)}) }
	if p.Elements == nil {
		return
	}
	j.lists[name], p.Elements.Resumed = id, true
	past, keys := j.log.Elements(j.elements), p.Elements.Known
	if keys == nil {
		keys = slices.Collect(maps.Keys(past))
	}
	p.Elements.Past = make(map[string]poll.State)
	for _, key := range keys {
		if e, known := past[key]; known && e.Key != nil {
			p.Elements.Past[key] = *j.take(e)
		}
	}
}

// take returns the state of a target that the log knows.
func (j *jobs) take(e store.Entry) *poll.State {
	j.knows++
	if e.State.Ended() {
		j.ended++
	}
	j.began = cmp.Or(j.began, e.State.Began, e.State.Start)
	j.sent = j.sent || e.State.Starting || e.State.Sent > 0
	if e.At.After(j.touched) {
		j.touched = e.At
	}
	return &e.State
}

// note says what the targets go on with, "" if they are new, or in slices.
func (j *jobs) note(s *Spec) string {
	switch {
	case j == nil || j.knows == 0 || s.Slice > 0:
		return ""
	case j.ended > 0:
		return fmt.Sprintf("%s: %d had ended before", j.path, j.ended)
	}
	return "goes on with " + j.path
}

// entry returns what the log is to say of the target of an event.
func (j *jobs) entry(ev poll.Event) store.Entry {
	e := store.Entry{Name: ev.Target, State: withoutReason(ev.State)}
	switch {
	case j.elements == "":
		e.ID = j.ids[max(ev.N, 1)-1]
	case ev.N == 0:
		e.ID = j.lists[ev.Target]
	default:
		e.ID, e.Key, e.Name = j.elements, &ev.Target, ""
	}
	return e
}

// withoutReason returns a state to be kept: the reason may quote what was answered.
func withoutReason(s poll.State) poll.State {
	s.Reason = ""
	return s
}

// observe notes what a start was answered, and where an operation is followed. What a list has
// come to is kept until the end: no event tells of that.
func (j *jobs) observe(ev poll.Event) {
	isAttempt, isWait := ev.Kind == poll.EventAttempt, ev.Kind == poll.EventWait
	switch {
	case j == nil:
	case isAttempt && (ev.Observation.Following.Start || ev.Observation.Following.Next != "" || ev.State.Sent == ev.State.Attempts || ev.N == 0 && ev.State.Shown):
		j.log.Follow(j.entry(ev))
		delete(j.open, ev.Target)
	case isAttempt && j.breaks(ev):
		j.log.End(j.entry(ev))
	case j.elements == "":
	case ev.N == 0 && (isAttempt || isWait):
		j.open[ev.Target] = j.entry(ev)
	case isWait && ev.State.Attempts == 0 && len(ev.State.Session) > 0, // an element that is looked at alone
		isAttempt && ev.State.Streak == 1 && !ev.Verdict.Status.Ends(): // or one that is new: a run that is killed must not forget it
		j.log.End(j.entry(ev))
	}
}

// breaks reports whether an attempt ends a streak with which a later run would go on, if this one is killed.
func (j *jobs) breaks(ev poll.Event) bool {
	past, _ := j.log.Past(j.entry(ev).ID)
	return past.State.Status.Ends() && ev.State.Streak == 1 && ev.State.Status != past.State.Status
}

// end notes what a target that goes on has come to. How one has ended is noted by what it returns, to
// be called once the result was delivered, so that one that is lost is looked for again.
func (j *jobs) end(ev poll.Event, code ExitCode) (deliver func()) {
	if j == nil || ev.Outcome.Resumed {
		return func() {}
	}
	e := j.entry(ev)
	if e.State.Ended() {
		e.Exit = new(int(code))
	}
	delete(j.open, ev.Target)
	deliver = func() {
		if e.State.Attempts > 0 {
			j.log.End(e)
		}
	}
	if e.State.Ended() {
		return deliver
	}
	deliver()
	return func() {}
}

// isUnclear reports whether a target has failed since it is not known what became of its start.
func (j *jobs) isUnclear(end poll.Event) bool {
	past, _ := j.log.Past(j.entry(end).ID)
	o := end.Outcome.Observation
	return end.Outcome.Ending == poll.Failed && (past.State.Starting || o != nil && o.Failure != nil && o.Failure.Kind == status.FailureMayHaveStarted)
}

// holds says that the log keeps the same line from starting anything again.
func (j *jobs) holds() string {
	return "nothing is sent by the same line while there is its job log: rm '" + j.path + "'"
}

// exit returns the exit code of a target that had ended before.
func (j *jobs) exit(ev poll.Event) ExitCode {
	if past, _ := j.log.Past(j.entry(ev).ID); past.Exit != nil {
		return ExitCode(*past.Exit)
	}
	return outcomeCode(*ev.Outcome)
}

// lookAgain returns the outcome of a target that had succeeded in an earlier run, with the
// answer to one more look, which starts nothing. Any other outcome is as it was.
func (w *wait) lookAgain(ctx context.Context, o poll.Outcome) poll.Outcome {
	const earlier = "that was in an earlier run"
	switch {
	case !o.Resumed:
		return o
	case o.Ending != poll.Succeeded:
		o.Notes = append(o.Notes, earlier)
		return o
	}
	p := w.targets[0].poller
	if h, ok := p.Probe.(*poll.HTTP); ok && h.Follow == "none" && h.Method != "" && h.Method != http.MethodGet && h.Method != http.MethodHead {
		o.Notes = append(o.Notes, earlier+", and the "+h.Method+" is not sent again for its result")
		return o
	}
	past := *p.Past
	past.Start, past.Due, past.Ending = time.Time{}, time.Now(), ""
	p.Past, p.MaxAttempts, p.SuccessThreshold, p.SuccessFor = &past, past.Attempts+1, 1, 0
	p.Starting = func(poll.State) error { return errors.New("it would be started again") }
	p.Finalize = func(o poll.Outcome) poll.Outcome { return w.output.Settle(o).Outcome }
	again, _ := p.Run(ctx)
	if again.Ending != poll.Succeeded {
		o.Notes = append(o.Notes, earlier+", and its result is not printed again: "+again.Reason)
		return o
	}
	o.Verdict, o.Observation, o.Reason = again.Verdict, again.Observation, again.Reason
	o.Notes = append(o.Notes, earlier+", and it was looked at again for its result")
	return o
}

// code returns the exit code of a run that ends with one. That a later run cannot go on with
// the log counts before why this one has not succeeded.
func (j *jobs) code(code ExitCode) ExitCode {
	if j == nil || code == ExitSuccess || code > ExitNotFound || j.log.Err() == nil {
		return code
	}
	return ExitInternal
}

// close ends the job log, and may remove it. The error says what it lacks.
func (j *jobs) close(remove bool) error {
	if j == nil {
		return nil
	}
	end := j.log.Close
	if remove {
		end = j.log.Remove
	}
	for _, e := range j.open {
		j.log.End(e)
	}
	return end()
}

// identities returns the IDs of targets in a job log, and that of their elements if they are
// lists. Two targets that are the same would take each other's place in a later run.
func identities(origin string, all []*target) (ids []string, elements string, err error) {
	given := make(map[string]*target)
	for _, t := range all {
		s, probe := t.spec, t.poller.Probe
		what, body := aimOf(probe)
		id := identity("target", t.identity, t.name, what, body)
		if same := given[id]; same != nil {
			return nil, "", argv.Usagef("%s cannot tell %s and %s apart: they differ only in limits or credentials", origin, same.poller.Target, t.poller.Target).
				Hint(`give each a name in a targets file: {"name": "blue", "url": "https://..."}`)
		}
		given[id] = t
		if ids = append(ids, id); t.poller.Elements != nil { // which are the same in all batches
			what = append(what[:2:2], withoutUser(s.Operands[0]))
			elements = identity("elements", t.identity, "", append(what, s.Operands[1:]...), body)
		}
	}
	return ids, elements, nil
}

// keepsEnviron reports whether the URL that is followed has variables of the environment in it.
func keepsEnviron(probe poll.Probe) bool {
	session, ok := sessionOf(probe).(interface{ KeepsEnviron() bool })
	return ok && session.KeepsEnviron()
}

func identity(kind, settings, name string, what []string, body []byte) string {
	return store.ID(fmt.Appendf(nil, "%q", []any{kind, settings, name, what, body, body != nil}))
}

// aimOf returns what a probe looks at, and what it sends there.
func aimOf(probe poll.Probe) (what []string, body []byte) {
	switch probe := probe.(type) {
	case *poll.HTTP:
		return []string{"http", probe.Method, withoutUser(probe.URL)}, probe.Body
	case *poll.Command:
		dir, _ := os.Getwd()
		return append([]string{"command", dir}, probe.Args...), probe.Stdin
	case poll.TCP:
		return []string{"tcp", probe.Address}, nil
	}
	return nil, nil
}

// identity returns, by their names, the flags that have to do with which target it is: the
// conditions, with the variables that they name, what they are about, and which server is
// asked for what, but no limit, and nothing that is renewed.
func (s *Spec) identity(kind status.Kind) map[string][]string {
	parts := make(map[string][]string)
	for _, f := range s.Flags {
		isPart := f.Group == groupConditions && f.Name != "success-threshold" && f.Name != "error-threshold" ||
			f.Name == "follow" || f.Name == "each" || f.Name == "id" ||
			kind == status.KindHTTP && slices.Contains([]string{"resolve", "connect-to", "unix-socket", "user-agent", "header", "proxy"}, f.Name)
		if isPart && s.Has(f.Name) {
			parts[f.Name] = s.Texts(&f)
		}
	}
	for _, names := range environName().FindAllStringSubmatch(fmt.Sprint(parts), -1) {
		name := "$ENV." + names[1] + names[2]
		parts[name] = []string{s.Getenv(names[1] + names[2])}
	}
	if parts["proxy"] != nil {
		parts["proxy"] = []string{withoutUser(s.Proxy)}
	}
	if socket := parts["unix-socket"]; socket != nil {
		socket[0], _ = filepath.Abs(socket[0])
	}
	parts["header"] = identityHeader(parts["header"])
	if parts["preset"] != nil && s.preset.File != "" { // which may say another thing by now
		parts["preset"] = []string{s.preset.ID()}
	}
	return parts
}

// environName finds the names of variables in expressions: $ENV.NAME and $ENV["NAME"], of jq
// env.NAME, too.
var environName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\$ENV|\benv)\s*(?:\.\s*(\w+)|\.?\s*\[?\s*["']([^"']+))`)
})

// identityHeader returns lines of a header without credentials, and "@" for those that stand in
// a file, which is read again.
func identityHeader(lines []string) (kept []string) {
	for _, line := range lines {
		name, _, _ := strings.Cut(line, ":")
		switch name = http.CanonicalHeaderKey(strings.TrimSpace(name)); {
		case strings.HasPrefix(line, "@"):
			kept = append(kept, "@")
		case name != "Authorization" && name != "Cookie" && name != "Proxy-Authorization":
			kept = append(kept, line)
		}
	}
	return kept
}

// withoutUser returns a URL without its user and password.
func withoutUser(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.User == nil {
		return text
	}
	u.User = nil
	return u.String()
}
