package cli

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/joblog"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
)

// jobs is what a wait keeps in its job log. Nil keeps nothing.
type jobs struct {
	log      *joblog.Log
	ids      []string                // of the targets, by number; of lists none
	lists    map[string]string       // the IDs of lists, by their names
	elements string                  // the ID of what all lists have in common: that of their elements
	open     map[string]joblog.Entry // of the lists, what is not written yet
	exits    map[string]int          // of targets that had ended, by what they are called in the log

	path    string
	knows   int // targets that go on or had ended
	ended   int // those that had
	once    sync.Once
	trouble error // the first one
}

// openJobs opens the job log, if there is to be one. The targets go on with what it says of
// them; lines are the settings of each, and names what their user calls them, "" for nothing.
func openJobs(l *Spec, pollers []*poll.Poller, lines []*Spec, names []string) (*jobs, error) {
	if l.Joblog == "" {
		return nil, nil
	}
	path, origin := l.Joblog, l.Origin("joblog")
	if err := refuseSecrets(origin, pollers, lines); err != nil {
		return nil, err
	}
	sums, err := identities(origin, pollers, lines, names)
	if err != nil {
		return nil, err
	}
	log, err := joblog.Open(path)
	if err != nil {
		return nil, argv.Usagef("%s: %w", origin, err)
	}
	if log.Len() > 0 && !l.Resume {
		log.Close()
		return nil, argv.Usagef("%s: %s has the targets of an earlier run", origin, path).
			Hint("--resume goes on with them; another FILE begins anew")
	}
	j := &jobs{log: log, path: path, lists: make(map[string]string), open: make(map[string]joblog.Entry), exits: make(map[string]int)}
	j.attach(pollers, lines, sums)
	switch {
	case log.Len() == 0:
	case j.knows == 0, len(j.lists) == 0 && j.lacksStart(pollers):
		log.Close()
		return nil, argv.Usagef("%s: %s has other targets than these, or the same with other conditions, headers or names", origin, path).
			Hint("another FILE begins anew; a header that is renewed stands in a file: -H @FILE")
	case j.lacksStart(pollers):
		log.Close()
		return nil, argv.Usagef("%s: %s has other batches than these, and what was started would be started again", origin, path).
			Hint("the same --batch and the same entries in the same order go on; new entries have to begin a new batch")
	}
	return j, nil
}

// refuseSecrets refuses to keep URLs in which there are variables of the environment.
func refuseSecrets(origin string, pollers []*poll.Poller, lines []*Spec) error {
	for i, l := range lines {
		if i > 0 && l == lines[i-1] || l.Follow == "" {
			continue
		}
		if s, ok := sessionOf(pollers[i].Probe).(interface{ KeepsEnviron() bool }); ok && s.KeepsEnviron() {
			return argv.Usagef("%s keeps the URL that %s builds, and $ENV would put a secret into it", origin, l.Origin("follow")).
				Hint("headers are not kept: -H 'Authorization: Bearer ...'")
		}
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
func (j *jobs) lacksStart(pollers []*poll.Poller) bool {
	own := make(map[string]bool, len(pollers))
	for _, id := range slices.AppendSeq(slices.Clone(j.ids), maps.Values(j.lists)) {
		own[id] = true
	}
	isDue := func(p *poll.Poller) bool { return (p.Past == nil || p.Elements != nil) && starts(p.Probe) }
	for id := range j.log.Started() {
		if e, _ := j.log.Past(id); !own[id] && (!e.Ended() || len(j.lists) > 0) {
			return slices.ContainsFunc(pollers, isDue)
		}
	}
	return false
}

// starts reports whether a new wait begins by starting an operation.
func starts(probe poll.Probe) bool {
	starter, ok := sessionOf(probe).(interface{ StartDue() bool })
	return ok && starter.StartDue()
}

// attach makes the targets go on with what the log says, and tell it before they start
// something.
func (j *jobs) attach(pollers []*poll.Poller, lines []*Spec, sums [][sha256.Size]byte) {
	for i, p := range pollers {
		id := j.log.ID(sums[i][:])
		past, _ := j.log.Past(id)
		if past != nil {
			p.Past = j.take(*past)
			j.exits[id] = past.Exit
		}
		name := cmp.Or(p.Target, nameOf(p.Probe))
		p.Starting = func(s poll.State) error {
			if err := j.log.Start(joblog.Entry{ID: id, Name: name, State: s}); err != nil {
				return &unrecorded{err}
			}
			return nil
		}
		if p.Elements == nil {
			j.ids = append(j.ids, id)
			continue
		}
		j.lists[name] = id
		j.attachElements(p.Elements, identity(identityOf(lines[i], p.Probe), "", templateOf(lines[i], p.Probe)))
	}
}

// take returns the state of a target that the log knows.
func (j *jobs) take(e joblog.Entry) *poll.State {
	j.knows++
	if e.Ended() {
		j.ended++
	}
	return &e.State
}

// note says what the targets go on with, "" if they are new.
func (j *jobs) note() string {
	switch {
	case j == nil || j.knows == 0:
		return ""
	case j.ended > 0:
		return fmt.Sprintf("%s: %d had ended before", j.path, j.ended)
	}
	return "goes on with " + j.path
}

// attachElements is attach for the elements of a list, which are the same in whatever
// batches they are asked for.
func (j *jobs) attachElements(list *poll.Elements, sum [sha256.Size]byte) {
	j.elements = j.log.ID(append([]byte("elements "), sum[:]...)) // the list may have the same sum
	_, elements := j.log.Past(j.elements)
	keys := list.Known
	if keys == nil {
		for key := range elements {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		if e, is := elements[key]; is {
			put(&list.Past, key, *j.take(e))
		}
	}
}

func nameOf(probe poll.Probe) string {
	if t, ok := probe.(interface{ Target() string }); ok {
		return t.Target()
	}
	return ""
}

// templateOf returns a probe as the command line has it, before it is filled with the keys
// of a batch.
func templateOf(l *Spec, probe poll.Probe) poll.Probe {
	switch probe := probe.(type) {
	case *poll.HTTP:
		template := *probe
		template.URL = l.Operands[0]
		return &template
	case *poll.Command:
		return &poll.Command{Args: l.Operands, Stdin: probe.Stdin}
	}
	return probe
}

// identities returns what makes each of the targets this one. Two that are the same would
// take each other's place in a later run.
func identities(origin string, pollers []*poll.Poller, lines []*Spec, names []string) ([][sha256.Size]byte, error) {
	sums := make([][sha256.Size]byte, len(pollers))
	settings := make(map[*Spec][]byte) // many have the same
	given := make(map[[sha256.Size]byte]*poll.Poller)
	for i, p := range pollers {
		if settings[lines[i]] == nil {
			settings[lines[i]] = identityOf(lines[i], p.Probe)
		}
		sums[i] = identity(settings[lines[i]], names[i], p.Probe)
		if same := given[sums[i]]; same != nil {
			return nil, argv.Usagef("%s cannot tell %s and %s apart: they differ only in limits or credentials", origin, same.Target, p.Target).
				Hint(`give each a name in a targets file: {"name": "blue", "url": "https://..."}`)
		}
		given[sums[i]] = p
	}
	return sums, nil
}

// identity returns what makes a target this one: what is looked at, what its user calls it,
// and the settings of identityOf.
func identity(settings []byte, name string, probe poll.Probe) (sum [sha256.Size]byte) {
	h := sha256.New()
	h.Write(settings)
	write(h, name)
	switch probe := probe.(type) {
	case *poll.HTTP:
		write(h, "http", probe.Method, withoutUser(probe.URL), string(probe.Body), fmt.Sprint(probe.Body != nil))
	case *poll.Command:
		dir, _ := os.Getwd()
		write(h, "command", dir)
		write(h, probe.Args...)
		h.Write(probe.Stdin)
	case poll.TCP:
		write(h, "tcp", probe.Address)
	}
	h.Sum(sum[:0])
	return sum
}

// environName finds the names of variables in expressions: $ENV.NAME and $ENV["NAME"], of jq env.NAME, too.
var environName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\$ENV|\benv)\s*(?:\.\s*(\w+)|\.?\s*\[?\s*["']([^"']+))`)
})

// identityOf returns what settings have to do with which target it is: the conditions, with
// the variables that they name, what they are about, and which server is asked for what, but
// no limit, and nothing that is renewed.
func identityOf(l *Spec, probe poll.Probe) []byte {
	h := sha256.New()
	request, isRequest := probe.(*poll.HTTP)
	settings := l.settings()
	for i := range l.Command.Flags {
		f := &l.Command.Flags[i]
		isPart := f.Group == groupConditions && f.Name != "success-threshold" && f.Name != "error-threshold" ||
			f.Name == "follow" || f.Name == "each" || f.Name == "id" ||
			isRequest && slices.Contains([]string{"resolve", "connect-to", "unix-socket", "user-agent"}, f.Name)
		values := settings[f.Name]
		if !isPart || values == nil {
			continue
		}
		if f.Name == "unix-socket" {
			values[0], _ = filepath.Abs(values[0])
		}
		write(h, append(values, f.Name)...)
		for _, names := range environName().FindAllStringSubmatch(strings.Join(values, "\n"), -1) {
			write(h, l.Getenv(names[1]+names[2]))
		}
	}
	if isRequest {
		write(h, withoutUser(l.proxy()))
		writeHeader(h, l, request.Header)
	}
	return h.Sum(nil)
}

// writeHeader writes a header without its credentials. Of fields that stand in a file, which
// is read again, it writes the names only.
func writeHeader(h hash.Hash, l *Spec, header http.Header) {
	typed := http.Header{}
	for _, line := range l.Header {
		if !strings.HasPrefix(line, "@") {
			addHeader(typed, line)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if !slices.Contains([]string{"Authorization", "Cookie", "Proxy-Authorization"}, name) {
			write(h, name)
			write(h, typed[name]...)
		}
	}
}

// write adds texts to a hash, so that no others have the same sum.
func write(h hash.Hash, texts ...string) {
	var size [8]byte
	for _, text := range texts {
		binary.BigEndian.PutUint64(size[:], uint64(len(text))+1)
		h.Write(size[:])
		h.Write([]byte(text))
	}
	h.Write(make([]byte, 8))
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

// An unrecorded error means that a start was not sent, since the job log could not be
// written.
type unrecorded struct{ error }

func (e *unrecorded) Error() string { return "nothing was started: " + e.error.Error() }
func (e *unrecorded) Unwrap() error { return e.error }

// entry returns what the log is to say of the target of an event.
func (j *jobs) entry(ev poll.Event) joblog.Entry {
	e := joblog.Entry{Name: ev.Target, State: ev.State}
	switch {
	case len(j.lists) == 0:
		e.ID = j.ids[max(ev.N, 1)-1]
	case ev.N == 0:
		e.ID = j.lists[ev.Target]
	default:
		key := ev.Target
		e.ID, e.Key, e.Name = j.elements, &key, ""
	}
	return e
}

// observe notes where an operation that was started is followed. What a list has come to is
// kept until the end: no event tells of that.
func (j *jobs) observe(ev poll.Event) {
	if j == nil {
		return
	}
	isList := ev.N == 0 && len(j.lists) > 0
	switch {
	case ev.Kind == poll.EventAttempt && (ev.Observation.Following.Start || ev.Observation.Following.Next != ""):
		e := j.entry(ev)
		if e.Began.IsZero() { // it is to be started yet
			j.failed(j.log.End(e))
		} else {
			j.failed(j.log.Follow(e))
		}
		delete(j.open, ev.Target)
	case isList && (ev.Kind == poll.EventAttempt || ev.Kind == poll.EventWait):
		j.open[ev.Target] = j.entry(ev)
	case ev.Kind == poll.EventWait && len(j.lists) > 0 && ev.Attempt == 1: // an element that is looked at alone
		if e := j.entry(ev); len(e.Session) > 0 {
			j.failed(j.log.End(e))
		}
	}
}

// end notes how a target ended. What it returns does so: it is to be called once the result
// was delivered, so that one that is lost is looked for again.
func (j *jobs) end(ev poll.Event, code ExitCode) (deliver func()) {
	if j == nil || ev.Outcome.Resumed {
		return func() {}
	}
	e := j.entry(ev)
	e.Exit = int(code)
	delete(j.open, ev.Target)
	return func() {
		if e.Attempts > 0 {
			j.failed(j.log.End(e))
		}
	}
}

// exit returns the exit code of a target that had ended before.
func (j *jobs) exit(ev poll.Event) ExitCode { return ExitCode(j.exits[j.entry(ev).ID]) }

// code returns the exit code of a run that ends with one. That a later run cannot go on with
// a log that was lost counts before why this one has not succeeded.
func (j *jobs) code(code ExitCode) ExitCode {
	if j == nil || code == ExitSuccess || code > ExitNotFound || j.log.Lost() == nil {
		return code
	}
	return ExitInternal
}

// failed keeps the first error.
func (j *jobs) failed(err error) {
	if err != nil {
		j.once.Do(func() { j.trouble = err })
	}
}

// close ends the job log. What it lacks is said on stderr.
func (j *jobs) close(world World) {
	if j == nil {
		return
	}
	for _, e := range j.open {
		j.failed(j.log.End(e))
	}
	j.failed(j.log.Close())
	if j.trouble != nil {
		fmt.Fprintf(world.Streams.Err, "poll: %s\n", term.Line(j.trouble.Error()+"; what the file lacks is looked at again with --resume"))
	}
}
