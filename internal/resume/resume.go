// Package resume keeps the memory of a wait for later runs, in the file of --joblog or of --slice. It identifies the
// targets of a run, and restores their states. It records starts before they are sent, and ends after their results were
// delivered. At each end it decides whether the file is kept, removed, or kept with a warning.
package resume

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
)

// Options name the file of a wait.
type Options struct {
	Origin string        // the flag or variable that names the file, for errors
	File   string        // of --joblog, "" for a file of poll's own
	Resume bool          // the run continues the wait of the file
	Slice  time.Duration // the length of a call that has a file of poll's own, or 0
	Dir    string        // of these files
	Line   []string      // in place of the targets, in the name of such a file: the request as it was typed
	Place  []string      // in the name of such a file: the directory, the run of the CI
	Method string        // of a request that starts an operation
	List   []string      // of lists: the URL or command before keys are filled in
}

// A Target is a wait with its identity for later runs. Open sets the Past and the Starting of the Poller, and
// the Past of its Elements.
type Target struct {
	*poll.Poller
	Name     string // that its user gives it
	Settings string // the conditions, and other settings that make it this target
	IsStream bool   // a message does not come again
}

// A Log is the memory of a wait. Nil keeps nothing.
type Log struct {
	Options
	file     *file
	ids      map[string]string // of the targets, by their names
	elements string            // the ID that all elements of lists have, "" without lists
	open     map[string]entry  // entries of lists that are not written yet
	earlier  []poll.Poller     // checks of the targets, and of elements, that succeeded in an earlier slice
	reopened string            // a target that such a check found open, or ""
	worst    Fate              // of the targets that have ended

	resumed int       // targets that the run continues, or that had ended
	ended   int       // targets that had ended
	began   time.Time // the start of the first operation, as far as is known
	sent    bool      // a start request was sent
}

// Open opens the file of a wait. The targets continue with their states in the file.
func Open(o Options, targets []Target) (l *Log, err error) {
	l = &Log{Options: o, ids: make(map[string]string), open: make(map[string]entry), worst: Over}
	if err := l.identify(targets); err != nil {
		return nil, err
	}
	path := cmp.Or(o.File, l.slicePath(targets))
	k := known{hasEnded: true}
	if info, missing := os.Stat(path); missing == nil {
		k.age = time.Since(info.ModTime())
	}
	if l.file, err = openFile(path); err != nil {
		return nil, argv.Usagef("%s: %w", o.Origin, err)
	}
	k.isEmpty = len(l.file.newest) == 0 // before a start is recorded
	isStarted := false
	for _, t := range targets {
		l.restore(t)
		k.hasEnded = k.hasEnded && t.Past != nil && t.Past.Ended()
		isStarted = isStarted || (t.Past == nil || t.Elements != nil) && Starts(t.Probe) // a list may find new elements
	}
	k.hasSome, k.isOthers = l.resumed > 0, isStarted && l.startedOthers()
	switch does := decide(k, o.Resume || o.Slice > 0, o.Slice > 0); does {
	case resume:
		return l, nil
	case replace:
		if err := l.file.close(true); err != nil {
			return nil, argv.Usagef("%s: %w", o.Origin, err)
		}
		return Open(o, targets)
	default:
		l.file.close(false)
		return nil, l.refuse(does)
	}
}

// slicePath returns the path of poll's own file. Equal lines in different directories and runs of the CI have
// different files. If the wait starts an operation, the request as it was typed stands for the targets. A line with
// another condition or header then finds the file and is rejected, so the start is not sent twice.
func (l *Log) slicePath(targets []Target) string {
	ids := slices.Sorted(maps.Values(l.ids))
	if slices.ContainsFunc(targets, func(t Target) bool { return Starts(t.Probe) }) {
		ids = l.Line
	}
	return filepath.Join(l.Dir, sum("%q", append(slices.Clip(ids), l.Place...))+".jsonl")
}

// refuse returns the error for a file that the run does not continue.
func (l *Log) refuse(why decision) error {
	path, renewed := l.file.path, "is only a token new? Put it into a file: -H @FILE"
	switch isSlice := l.Slice > 0; {
	case why == earlier:
		return argv.Usagef("%s: %s holds the targets of an earlier run", l.Origin, path).
			Hint("--resume continues them; another FILE starts them again")
	case why == abandoned:
		return argv.Usagef("%s: nobody has continued this wait for over an hour, and its end is not known: %s", l.Origin, l.past()).
			Hint("to finish it: --timeout %s --joblog '%s' --resume, and then rm it", l.Slice, path).
			Hint("to begin anew: rm '%s'", path)
	case isSlice:
		return argv.Usagef("this command differs from the one that %s continues, in its conditions, targets, headers, bodies or flags", l.Origin).
			Hint("the wait of the other command is in %s; without that file this command starts the operation again", path).
			Hint("%s", renewed)
	}
	return argv.Usagef("%s: %s has other targets or batches than these, or the same with other conditions, headers or names", l.Origin, path).
		Hint("another FILE starts them again").
		Hint("%s", renewed)
}

// Note describes the wait that the run continues, "" for a new wait.
func (l *Log) Note() string {
	switch {
	case l == nil || l.resumed == 0:
		return ""
	case l.Slice > 0:
		return "resumes " + l.past()
	case l.ended > 0:
		return fmt.Sprintf("%s: %d had ended in an earlier run", l.file.path, l.ended)
	}
	return "continues the wait in " + l.file.path
}

// past describes the wait that is continued: "the wait that began at 03:35, 7m12s ago; its POST is not
// sent again".
func (l *Log) past() string {
	text := fmt.Sprintf("the wait that began at %s, %s ago", l.began.Local().Format("15:04"), words.Short(max(0, time.Since(l.began))))
	if l.sent {
		text += "; its " + l.Method + " is not sent again"
	}
	return text
}

// restore sets the state of a target to its state in the file, and has a start recorded before it is sent. A target that
// had succeeded in an earlier slice is to be checked again.
func (l *Log) restore(t Target) {
	p, id := t.Poller, l.ids[t.Target]
	p.Past = nil
	if past, isKnown := l.file.past(id); isKnown {
		p.Past = l.take(past)
	}
	name := p.Target
	p.Starting = func(s poll.State) error { return l.file.start(entryOf(id, name, s)) }
	isChecked := l.Slice > 0 && !t.IsStream
	if p.Elements == nil {
		if isChecked && p.Past != nil && p.Past.Ending == poll.Succeeded {
			l.earlier = append(l.earlier, checkedAgain(*p))
		}
		return
	}
	past, keys := l.file.newest[l.elements], p.Elements.Known
	if keys == nil {
		keys = slices.Collect(maps.Keys(past))
	}
	p.Elements.Resumed, p.Elements.Past = true, make(map[string]poll.State)
	succeeded := *p.Elements
	succeeded.Past, succeeded.Known = make(map[string]poll.State), nil
	for _, key := range keys {
		e, isKnown := past[key]
		if !isKnown {
			continue
		}
		p.Elements.Past[key] = *l.take(e)
		if e.State.Ending == poll.Succeeded {
			succeeded.Past[key], succeeded.Known = e.State, append(succeeded.Known, key)
		}
	}
	if isChecked && succeeded.Known != nil {
		list := *p
		list.Elements = &succeeded
		l.earlier = append(l.earlier, checkedAgain(list))
	}
}

// take returns the state of a target that the run continues.
func (l *Log) take(e entry) *poll.State {
	l.resumed++
	if e.State.Ended() {
		l.ended++
	}
	l.began = cmp.Or(l.began, e.State.Began, e.State.Start)
	l.sent = l.sent || e.starts() > 0
	return &e.State
}

// Starts reports whether a wait by a probe begins with a request that starts an operation.
func Starts(probe poll.Probe) bool {
	return probe.Plan().Once
}

// startedOthers reports whether the file has the start of a target that is not a target of this run. It may be the
// start of a target of this run that had another condition or name then. A target that has ended counts only for a
// batch, whose entries may be in other batches by now.
func (l *Log) startedOthers() bool {
	mine := make(map[string]bool)
	for _, id := range l.ids {
		mine[id] = true
	}
	for id := range l.file.newest {
		e, isKnown := l.file.past(id)
		if isKnown && !mine[id] && e.starts() > 0 && (!e.State.Ended() || l.elements != "") {
			return true
		}
	}
	return false
}

// identify sets the IDs of targets, and the ID of their elements if they are lists. Two targets with one ID
// would take each other's place in a later run.
func (l *Log) identify(targets []Target) error {
	given := make(map[string]string)
	for _, t := range targets {
		what, body := fingerprint(t.Probe)
		id := idOf("target", t, t.Name, what, body)
		if same, isGiven := given[id]; isGiven {
			return argv.Usagef("%s cannot tell %s and %s apart: they differ only in limits or credentials", l.Origin, same, t.Target).
				Hint(`give each a name in a targets file: {"name": "blue", "url": "https://..."}`)
		}
		given[id], l.ids[t.Target] = t.Target, id
		if t.Elements != nil { // the elements are the same in all batches
			l.elements = idOf("elements", t, "", append(append(what[:2:2], Page(l.List[0])), l.List[1:]...), body)
		}
	}
	return nil
}

// idOf returns an ID. A target is its request or command, by the settings that matter, under the name that its
// user gives it.
func idOf(kind string, t Target, name string, what []string, body []byte) string {
	return sum("%q", []any{kind, t.Settings, name, what, body, body != nil})
}

// sum returns the first half of a SHA-256 sum of a text.
func sum(format string, args ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, format, args...))
	return hex.EncodeToString(sum[:16])
}

// fingerprint returns the request or command of a probe, and its body or input.
func fingerprint(probe poll.Probe) (what []string, body []byte) {
	switch probe := probe.(type) {
	case *poll.HTTP:
		return []string{"http", probe.Method, Page(probe.URL)}, probe.Body
	case *poll.Command:
		dir, _ := os.Getwd()
		return append([]string{"command", dir}, probe.Args...), probe.Stdin
	case poll.TCP:
		return []string{"tcp", Page(probe.Target())}, nil
	}
	return nil, nil
}

// Page returns the page at a URL, or a text that is not a URL.
func Page(text string) string {
	page, _ := connect.PageOf(text)
	return page
}
