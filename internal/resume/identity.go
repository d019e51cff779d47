package resume

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/poll"
)

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
