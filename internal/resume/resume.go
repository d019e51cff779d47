// Package resume keeps the state of a wait in a file, so that a later run can continue the wait. The file is a job
// log, which the flag --joblog names, or a file of poll's own for --slice. With --slice, a long wait is split into
// slices: short runs with the same command line, each of which continues where the previous run stopped.
//
// The package identifies the targets of a run in the file, and restores their states. It records each start
// request before the request is sent, and the end of a target after its result was delivered. At the end of a run,
// it decides whether the file is removed, kept, or kept with a warning.
//
// The files:
//
//	resume.go  the start: IDs of targets, rejected files, restored states
//	file.go    the format of the file: lines, locks, start requests, compaction
//	end.go     states during and after a run; the fate of the file
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

// Options determine the file of a wait.
type Options struct {
	Origin string        // the flag or variable that names the file, for errors
	File   string        // the file of --joblog; "" for a file of poll's own
	Resume bool          // whether the run may continue the wait in the file
	Slice  time.Duration // the length of the slice, or 0 if the wait is not split into slices
	Dir    string        // the directory of poll's own files
	Line   []string      // the request as the user typed it; if the wait starts an operation, this determines the name of poll's own file
	Place  []string      // where the command runs, such as the directory and the CI run; it is part of the name of poll's own file
	Method string        // the method of a request that starts an operation, for messages
	List   []string      // for lists: the URL or command before keys are inserted
}

// A Target is a wait that can be identified in a later run. Open sets the Past and the Starting of the Poller, and
// the Past of its Elements.
type Target struct {
	*poll.Poller
	Name     string // the name that the user gave to the target, or ""
	Settings string // the conditions and other settings; different settings make a different target
	IsStream bool   // the target is a stream, whose messages cannot be requested again
}

// A Log keeps the states of the targets of a run in a file. A nil Log keeps nothing.
type Log struct {
	Options
	file     *file
	ids      map[string]string // the IDs of the targets, by their names
	elements string            // the common ID of all elements of lists; "" without lists
	open     map[string]entry  // the newest entries of lists; not yet written to the file
	earlier  []poll.Poller     // waits of one attempt each, for the targets and elements that succeeded in an earlier slice
	reopened string            // the name of a target that a wait in earlier found not to be done, or ""
	worst    Fate              // the highest fate of the targets that have ended

	resumed int       // the number of targets that have a state in the file
	ended   int       // the number of these targets that had ended in an earlier run
	began   time.Time // the start of the first operation, as far as it is known
	sent    bool      // whether an earlier run sent a start request
}

// Open opens the file of a wait, and restores the states of targets from the file, so that their waits continue. It
// returns an error if the file belongs to another wait, or if this run must not continue the wait. If the file
// belongs to an abandoned wait in slices that had ended, Open replaces the file.
func Open(o Options, targets []Target) (l *Log, err error) {
	l = &Log{Options: o, ids: make(map[string]string), open: make(map[string]entry), worst: Over}
	if err := l.identify(targets); err != nil {
		return nil, err
	}
	path := cmp.Or(o.File, l.slicePath(targets))
	info, missing := os.Stat(path)
	isAbandoned := o.Slice > 0 && missing == nil && time.Since(info.ModTime()) > abandonedAfter
	if l.file, err = openFile(path); err != nil {
		return nil, argv.Usagef("%s: %w", o.Origin, err)
	}
	past := known{isEmpty: len(l.file.newest) == 0, isAbandoned: isAbandoned} // the facts before a start request is recorded
	hasEnded, isStarted := true, false
	for _, t := range targets {
		l.restore(t)
		hasEnded = hasEnded && t.Past != nil && t.Past.Ended()
		isStarted = isStarted || (t.Past == nil || t.Elements != nil) && Starts(t.Probe) // a list may contain new elements
	}
	past.isOther = l.resumed == 0 || isStarted && l.startedOthers()
	if isAbandoned && hasEnded {
		if err := l.file.close(true); err != nil {
			return nil, argv.Usagef("%s: %w", o.Origin, err)
		}
		return Open(o, targets)
	}
	if err := l.reject(past); err != nil {
		l.file.close(false)
		return nil, err
	}
	return l, nil
}

// slicePath returns the path of poll's own file. The name depends on l.Place and on the IDs of the targets. If the
// wait starts an operation, the name depends on l.Line, the request as typed, instead of the IDs. A command line
// with a different condition or header then finds the same file and is rejected, so it does not send the start
// request again.
func (l *Log) slicePath(targets []Target) string {
	ids := slices.Sorted(maps.Values(l.ids))
	if slices.ContainsFunc(targets, func(t Target) bool { return Starts(t.Probe) }) {
		ids = l.Line
	}
	return filepath.Join(l.Dir, sum("%q", append(slices.Clip(ids), l.Place...))+".jsonl")
}

// abandonedAfter is the age of a file after which its wait in slices counts as abandoned, unless the wait has
// ended.
const abandonedAfter = time.Hour

// known contains the facts about an existing file that determine whether a run may use the file.
type known struct {
	isEmpty     bool // the file contains no targets
	isOther     bool // the file contains no target of this run, or it contains the start request of a target that is not in this run
	isAbandoned bool // the file belongs to a wait in slices that no run has continued for a long time
}

// reject returns an error if the run must not continue the wait in the file, and nil otherwise.
func (l *Log) reject(past known) error {
	path, renewed := l.file.path, "is only a token new? put the token into a file: -H @FILE"
	switch isSlice := l.Slice > 0; {
	case past.isEmpty:
		return nil
	case !l.Resume && !isSlice:
		return argv.Usagef("%s: %s holds the targets of an earlier run", l.Origin, path).
			Hint("--resume continues them; another FILE starts them again")
	case past.isOther && isSlice:
		return argv.Usagef("this command differs from the one that %s continues, in its conditions, targets, headers, bodies or flags", l.Origin).
			Hint("the wait of the other command is in %s; without that file this command starts the operation again", path).
			Hint("%s", renewed)
	case past.isOther:
		return argv.Usagef("%s: %s is for other targets or batches, or for other conditions, headers or names", l.Origin, path).
			Hint("another FILE starts them again").
			Hint("%s", renewed)
	case past.isAbandoned:
		return argv.Usagef("%s: nobody has continued this wait for over an hour, and its end is not known: %s", l.Origin, l.past()).
			Hint("to finish it: --timeout %s --joblog '%s' --resume, and then rm it", l.Slice, path).
			Hint("to start anew: rm '%s'", path)
	}
	return nil
}

// Note returns a description of the wait that the run continues, or "" for a new wait.
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

// past returns a description of the wait that the run continues, such as "the wait that began at 03:35, 7m12s ago;
// its POST is not sent again".
func (l *Log) past() string {
	text := fmt.Sprintf("the wait that began at %s, %s ago", l.began.Local().Format("15:04"), words.Short(max(0, time.Since(l.began))))
	if l.sent {
		text += "; its " + l.Method + " is not sent again"
	}
	return text
}

// restore sets the state of t to its state in the file. It also makes the Poller of t record each start request in
// the file before sending it. If t succeeded in an earlier slice, restore adds a wait to l.earlier that checks t
// again.
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
	p.Elements.Past = make(map[string]poll.State)
	succeeded := *p.Elements
	succeeded.Past, succeeded.Known = make(map[string]poll.State), nil
	keys := p.Elements.Known
	if keys == nil {
		for s := range l.file.newest {
			if s.id == l.elements {
				keys = append(keys, s.key)
			}
		}
	}
	for _, key := range keys {
		e, isKnown := l.file.newest[subject{l.elements, key}]
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

// take counts e as the entry of a target that the run continues, and returns the state in e.
func (l *Log) take(e entry) *poll.State {
	l.resumed++
	if e.State.Ended() {
		l.ended++
	}
	l.began = cmp.Or(l.began, e.State.Began, e.State.Start)
	l.sent = l.sent || e.starts() > 0
	return &e.State
}

// Starts reports whether probe starts an operation with its first request.
func Starts(probe poll.Probe) bool { return probe.Plan().Once }

// startedOthers reports whether the file contains the start request of a target that does not belong to this run.
// Such a target may differ from a target of this run only in its condition or name. A target that has ended counts
// only if the run has lists, because the elements of the lists may now be in other batches.
func (l *Log) startedOthers() bool {
	mine := make(map[string]bool)
	for _, id := range l.ids {
		mine[id] = true
	}
	for _, e := range l.file.newest {
		if e.Key == nil && !mine[e.ID] && e.starts() > 0 && (!e.State.Ended() || l.elements != "") {
			return true
		}
	}
	return false
}

// identify sets the IDs of targets, and the common ID of the elements of all lists. It returns an error if two
// targets would have the same ID, because a later run could not tell the two apart.
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
		if t.Elements != nil { // an element is the same in every batch
			l.elements = idOf("elements", t, "", append(append(what[:2:2], Page(l.List[0])), l.List[1:]...), body)
		}
	}
	return nil
}

// idOf returns the ID of the target t or, if kind is "elements", the ID of its elements. The ID is computed from
// t.Settings and the other arguments. name is the name that the user gave to the target. what and body describe the
// request or command (see fingerprint).
func idOf(kind string, t Target, name string, what []string, body []byte) string {
	return sum("%q", []any{kind, t.Settings, name, what, body, body != nil})
}

// sum returns the first half of the SHA-256 sum of a formatted string, in hexadecimal.
func sum(format string, args ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, format, args...))
	return hex.EncodeToString(sum[:16])
}

// fingerprint returns the request, command or address of probe as what, and the body or input as body. For any other
// kind of probe, it returns nil.
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

// Page returns a string that identifies the page at a URL: the URL's origin, path and query. If text is not a URL
// with a host, Page returns text.
func Page(text string) string {
	page, _ := connect.PageOf(text)
	return page
}
