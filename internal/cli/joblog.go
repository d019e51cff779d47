package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/internal/store"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A jobLog is what a wait keeps in its job log. Nil keeps nothing.
type jobLog struct {
	log      *store.Log
	ids      map[string]string      // of the targets, by their names
	elements string                 // the ID of what all lists have in common, that of their elements; "" without lists
	open     map[string]store.Entry // of the lists, what is not written yet

	path        string
	isCompacted bool          // no user reads the file
	earlier     []poll.Poller // of the targets, and lists of the elements, that succeeded before; with slices
	resumed     int           // targets that go on or had ended
	ended       int           // those that had
	began       time.Time     // the operation of the first of them, as far as is known
	touched     time.Time     // the newest line about them, or the file
	sent        bool          // a start of them
}

// isLogged reports whether a job log is kept.
func (s *Spec) isLogged() bool { return s.Joblog != "" || s.Slice > 0 }

// openJobLog opens the job log, if there is to be one. The targets go on with what it says of
// them.
func openJobLog(s *Spec, all []*target) (j *jobLog, err error) {
	origin := s.Origin("joblog")
	switch {
	case s.Slice > 0:
		origin = s.Origin("slice")
	case s.Joblog == "":
		return nil, nil
	}
	j = &jobLog{ids: make(map[string]string), open: make(map[string]store.Entry), isCompacted: s.Slice > 0}
	if err = j.identify(origin, all); err == nil {
		j.path, err = s.logPath(slices.Sorted(maps.Values(j.ids)), all)
	}
	if err != nil {
		return nil, err
	}
	found, _ := os.Stat(j.path)
	if j.log, err = store.OpenLog(j.path); err == nil && s.Slice > 0 && j.isOver() && time.Since(found.ModTime()) > abandonedAfter {
		if err = j.log.Remove(); err == nil { // the same line begins anew
			j.log, err = store.OpenLog(j.path)
		}
	}
	if err != nil {
		return nil, argv.Usagef("%s: %w", origin, err)
	}
	for _, t := range all {
		j.attach(&t.poller, s.Slice > 0 && !t.spec.HTTP.Stream)
	}
	if found != nil && found.ModTime().Before(j.touched) {
		j.touched = found.ModTime()
	}
	if err := cmp.Or(j.refuseOthers(s, origin, all), j.refuseAbandoned(s, origin)); err != nil {
		j.log.Close()
		return nil, err
	}
	return j, nil
}

// isOver reports whether all targets had ended when the log was opened.
func (j *jobLog) isOver() bool {
	for _, id := range j.ids {
		if past, known := j.log.Past(id); !known || !past.State.Ended() {
			return false
		}
	}
	return true
}

// refuseOthers refuses a log that is not of these targets.
func (j *jobLog) refuseOthers(s *Spec, origin string, all []*target) error {
	switch isOthers := j.resumed == 0 || startsAny(notResumed(all)) && j.startedOthers(); {
	case j.log.Empty():
		return nil
	case !s.Resume && s.Slice == 0:
		return argv.Usagef("%s: %s holds the targets of an earlier run", origin, j.path).
			Hint("--resume continues them; another FILE starts them again")
	case isOthers && s.Slice > 0:
		return argv.Usagef("this command differs from the one that %s continues, in its conditions, targets, headers, bodies or flags", origin).
			Hint("the wait of the other command is in %s; without that file this command starts the operation again", j.path).
			Hint("is only a token new? Put it into a file: -H @FILE")
	case isOthers:
		return argv.Usagef("%s: %s has other targets or batches than these, or the same with other conditions, headers or names", origin, j.path).
			Hint("another FILE starts them again").
			Hint("is only a token new? Put it into a file: -H @FILE")
	}
	return nil
}

// sessionOf returns a new session of a probe, nil if it has none.
func sessionOf(probe poll.Probe) poll.Probe {
	if s, ok := probe.(poll.Sessioner); ok {
		return s.Session()
	}
	return nil
}

// startedOthers reports whether the log has the start of a target that is none of these. It may be the
// start of one of these that had another condition or name then. An ended one does not count, but for a
// batch, whose entries may be in other batches by now.
func (j *jobLog) startedOthers() bool {
	ids := slices.Collect(maps.Values(j.ids))
	return slices.ContainsFunc(j.log.Started(), func(e store.Entry) bool {
		return !slices.Contains(ids, e.ID) && (!e.State.Ended() || j.elements != "")
	})
}

// notResumed returns the targets that are new, and all lists, which may find new elements.
func notResumed(all []*target) []*target {
	return slices.DeleteFunc(slices.Clone(all), func(t *target) bool { return t.poller.Past != nil && t.poller.Elements == nil })
}

// startsAny reports whether the wait for one of some targets begins by starting an operation.
func startsAny(targets []*target) bool {
	return slices.ContainsFunc(targets, func(t *target) bool {
		starter, ok := sessionOf(t.poller.Probe).(poll.Starter)
		return ok && starter.StartDue()
	})
}

// attach makes a target go on with what the log says, and tell it before it starts something. Unless the target is a
// stream, whose message does not come again, a target that had succeeded may be checked again.
func (j *jobLog) attach(p *poll.Poller, isChecked bool) {
	name, id := p.Target, j.ids[p.Target]
	if past, known := j.log.Past(id); known {
		p.Past = j.resume(past)
	}
	p.Starting = func(s poll.State) error { return j.log.Start(store.Entry{ID: id, Name: name, State: withoutReason(s)}) }
	if p.Elements == nil {
		if isChecked && p.Past != nil && p.Past.Ending == poll.Succeeded {
			j.earlier = append(j.earlier, checkedAgain(*p))
		}
		return
	}
	p.Elements.Resumed = true
	past, keys := j.log.Elements(j.elements), p.Elements.Known
	if keys == nil {
		keys = slices.Collect(maps.Keys(past))
	}
	p.Elements.Past = make(map[string]poll.State)
	for _, key := range keys {
		if e, known := past[key]; known {
			p.Elements.Past[key] = *j.resume(e)
		}
	}
	if isChecked {
		again := *p.Elements
		again.Past = maps.Clone(again.Past)
		maps.DeleteFunc(again.Past, func(_ string, s poll.State) bool { return s.Ending != poll.Succeeded })
		if again.Known = slices.Collect(maps.Keys(again.Past)); len(again.Known) > 0 {
			list := *p
			list.Elements = &again
			j.earlier = append(j.earlier, checkedAgain(list))
		}
	}
}

// checkedAgain returns a wait that makes one more attempt after a SUCCESS of an earlier run, and starts nothing.
func checkedAgain(p poll.Poller) poll.Poller {
	again := func(s poll.State) poll.State {
		s.Due, s.Ending = time.Now(), ""
		return s
	}
	past := poll.State{}
	if p.Past != nil {
		past = *p.Past
	}
	if p.Elements != nil {
		for key, s := range p.Elements.Past {
			s.Attempts = min(s.Attempts, past.Attempts) // the limit is that of the list
			p.Elements.Past[key] = again(s)
		}
	}
	p.Past, p.MaxAttempts, p.SuccessThreshold = new(again(past)), past.Attempts+1, poll.Threshold{}
	p.Start = time.Now() // of its Timeout; $elapsed counts from the Start of the Past
	p.Starting = func(poll.State) error { return errors.New("it would start the operation again") }
	return p
}

// resume returns the state of a target that the log knows.
func (j *jobLog) resume(e store.Entry) *poll.State {
	j.resumed++
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
func (j *jobLog) note(s *Spec) string {
	switch {
	case j == nil || j.resumed == 0 || s.Slice > 0:
		return ""
	case j.ended > 0:
		return fmt.Sprintf("%s: %d had ended in an earlier run", j.path, j.ended)
	}
	return "continues the wait in " + j.path
}

// entry returns what the log is to say of the target of an event.
func (j *jobLog) entry(ev poll.Event) store.Entry {
	e := store.Entry{ID: j.ids[ev.Target], Name: ev.Target, State: withoutReason(ev.State)}
	if j.elements != "" && ev.N > 0 {
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
func (j *jobLog) observe(ev poll.Event) {
	isAttempt, isWait := ev.Kind == poll.EventAttempt, ev.Kind == poll.EventWait
	switch {
	case j == nil:
	case isAttempt && (ev.Observation.Following.Start || ev.Observation.Following.Next != "" || ev.State.Sent == ev.State.Attempts):
		j.log.Follow(j.entry(ev))
		delete(j.open, ev.Target)
	case isAttempt && j.endsStreak(ev):
		j.log.End(j.entry(ev))
	case j.elements == "":
	case ev.N == 0 && (isAttempt || isWait):
		j.open[ev.Target] = j.entry(ev)
	case isAttempt && ev.State.Streak == 1 && !ev.State.Status.Ends(): // a new element: a run that is killed must not forget it
		j.log.End(j.entry(ev))
	}
}

// endsStreak reports whether an attempt ends a streak with which a later run would go on, if this one is killed.
func (j *jobLog) endsStreak(ev poll.Event) bool {
	past := j.pastOf(ev).State
	return past.Status.Ends() && ev.State.Streak == 1 && ev.State.Status != past.Status
}

// pastOf returns what was known of the target of an event when the log was opened.
func (j *jobLog) pastOf(ev poll.Event) store.Entry {
	past, _ := j.log.Past(j.entry(ev).ID)
	return past
}

// noteEnd notes what a target that goes on has come to. How one has ended is due to be noted by
// [jobLog.delivered], so that a result that is lost is looked for again.
func (j *jobLog) noteEnd(ev poll.Event, code ExitCode) (due []store.Entry) {
	if j == nil || ev.Outcome.Resumed {
		return nil
	}
	e := j.entry(ev)
	delete(j.open, ev.Target)
	switch {
	case e.State.Attempts == 0:
	case e.State.Ended():
		e.Exit = new(int(code))
		return []store.Entry{e}
	default:
		j.log.End(e)
	}
	return nil
}

// delivered notes how targets ended whose results were delivered.
func (j *jobLog) delivered(ends []store.Entry) {
	for _, e := range ends {
		j.log.End(e)
	}
}

// exit returns the exit code of a target that had ended before.
func (j *jobLog) exit(ev poll.Event) ExitCode {
	if past := j.pastOf(ev); past.Exit != nil {
		return ExitCode(*past.Exit)
	}
	return outcomeCode(*ev.Outcome)
}

// code returns the exit code of a run that ends with one. That a later run cannot go on with
// the log counts before why this one has not succeeded.
func (j *jobLog) code(code ExitCode) ExitCode {
	if j == nil || code == ExitSuccess || code > ExitNotFound || j.log.Err() == nil {
		return code
	}
	return ExitInternal
}

// close ends the job log, and may remove it. The error says what it lacks.
func (j *jobLog) close(remove bool) error {
	if j == nil {
		return nil
	}
	for _, e := range j.open {
		j.log.End(e)
	}
	if remove {
		return j.log.Remove()
	}
	if j.isCompacted {
		j.log.Compact()
	}
	return j.log.Close()
}

// identify sets the IDs of targets in the job log, and that of their elements if they are lists. Two
// targets that are the same would take each other's place in a later run.
func (j *jobLog) identify(origin string, all []*target) error {
	given := make(map[string]*target)
	for _, t := range all {
		what, body := fingerprint(t.poller.Probe)
		id := identity("target", t, t.name, what, body)
		if same := given[id]; same != nil {
			return argv.Usagef("%s cannot tell %s and %s apart: they differ only in limits or credentials", origin, same.poller.Target, t.poller.Target).
				Hint(`give each a name in a targets file: {"name": "blue", "url": "https://..."}`)
		}
		given[id], j.ids[t.poller.Target] = t, id
		if t.poller.Elements != nil { // which are the same in all batches
			what = append(what[:2:2], pageOf(t.spec.Operands[0]))
			j.elements = identity("elements", t, "", append(what, t.spec.Operands[1:]...), body)
		}
	}
	return nil
}

// identity returns an ID in job logs: a target is what is looked at, by the settings that matter, under
// the name that its user gives it.
func identity(kind string, t *target, name string, what []string, body []byte) string {
	return store.ID(fmt.Appendf(nil, "%q", []any{kind, t.identity, name, what, body, body != nil}))
}

// fingerprint returns what a probe looks at, and what it sends there.
func fingerprint(probe poll.Probe) (what []string, body []byte) {
	switch probe := probe.(type) {
	case *poll.HTTP:
		return []string{"http", probe.Method, pageOf(probe.URL)}, probe.Body
	case *poll.Command:
		dir, _ := os.Getwd()
		return append([]string{"command", dir}, probe.Args...), probe.Stdin
	case poll.TCP:
		return []string{"tcp", pageOf(probe.Target())}, nil
	}
	return nil, nil
}

// keepsEnviron reports whether the URL that is followed has variables of the environment in it.
func keepsEnviron(probe poll.Probe) bool {
	session, ok := sessionOf(probe).(interface{ KeepsEnviron() bool })
	return ok && session.KeepsEnviron()
}

// identity returns, by their names, the flags that have to do with which target it is: the
// conditions, with the variables that they name, what they are about, and which server is
// asked for what, but no limit, and nothing that is renewed.
func (s *Spec) identity(kind status.Kind) map[string][]string {
	parts := make(map[string][]string)
	for _, f := range s.Flags {
		isPart := f.Group == groupConditions && !slices.Contains([]string{"success-threshold", "error-threshold", "detail"}, f.Name) ||
			f.Name == "follow" || f.Name == "each" || f.Name == "id" || f.Name == "name" && s.isSeveral() ||
			kind == status.KindHTTP && slices.Contains([]string{"resolve", "connect-to", "unix-socket", "user-agent", "header", "proxy"}, f.Name)
		if isPart && s.Has(f.Name) {
			parts[f.Name] = s.Texts(f.Name)
		}
	}
	for _, names := range environName().FindAllStringSubmatch(fmt.Sprint(parts), -1) {
		name := "$ENV." + names[1] + names[2]
		parts[name] = []string{s.Getenv(names[1] + names[2])}
	}
	if parts["proxy"] != nil {
		parts["proxy"] = []string{pageOf(s.Connect.Proxy)}
	}
	if socket := parts["unix-socket"]; socket != nil {
		socket[0], _ = filepath.Abs(socket[0])
	}
	parts["header"] = slices.DeleteFunc(parts["header"], func(line string) bool {
		name, _, _ := strings.Cut(line, ":")
		return slices.Contains([]string{"Authorization", "Cookie", "Proxy-Authorization"}, http.CanonicalHeaderKey(strings.TrimSpace(name)))
	})
	for i, line := range parts["header"] {
		if strings.HasPrefix(line, "@") { // the file is read again
			parts["header"][i] = "@"
		}
	}
	if parts["preset"] != nil && s.preset.File != "" { // which may say another thing by now
		parts["preset"] = []string{s.preset.ID()}
	}
	return parts
}

// environName finds the names of variables in expressions: $ENV.NAME and $ENV["NAME"], of jq
// env.NAME, too.
var environName = words.Pattern(`(?:\$ENV|\benv)\s*(?:\.\s*(\w+)|\.?\s*\[?\s*["']([^"']+))`)

// pageOf returns the page at a URL, or a text that is no URL.
func pageOf(text string) string {
	page, _ := connect.PageOf(text)
	return page
}
