package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/fleet"
)

// shareSecret is the variable with the secret of those who share. It is no flag: others can
// see the arguments of a process.
const shareSecret = "POLL_SHARE_SECRET"

// The words of --share-answers that are no name.
const (
	shareAuto = "auto"
	shareNone = "none"
)

// A share is what this process shares with others.
type share struct {
	*fleet.Fleet
	notes notes
}

// close gives back what is held. Nil holds nothing.
func (s *share) close() {
	if s != nil {
		s.Close()
	}
}

// notes are told as they come, and those that came before there was a reporter at once.
type notes struct {
	mu      sync.Mutex
	waiting []string
	say     func(string) // nil until there is a reporter
}

func (n *notes) add(note string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.say == nil {
		n.waiting = append(n.waiting, note)
		return
	}
	n.say(note)
}

// tell tells a reporter what there is to tell. Nil has nothing.
func (s *share) tell(r *ui.Reporter) {
	if s == nil {
		return
	}
	s.notes.mu.Lock()
	defer s.notes.mu.Unlock()
	for _, note := range s.notes.waiting {
		r.Say(note)
	}
	s.notes.waiting, s.notes.say = nil, r.Say
}

// refuseStore refuses what no job log can be, and drops a place to share that is meant for
// other runs.
func (s *Spec) refuseStore() error {
	if s.IsCommand && s.ShareKey == "" {
		s.DropVariable("share")
	}
	if s.Joblog == "-" {
		return argv.Usagef("%s needs a file, which - is not", s.Origin("joblog"))
	}
	return nil
}

// openShare has targets share what --share says; it returns nil without.
func openShare(s *Spec, pollers []*poll.Poller, specs []*Spec) (*share, error) {
	isCommand := func(p *poll.Poller) bool { _, is := p.Probe.(*poll.Command); return is }
	switch isUnknown := s.ShareKey == "" && slices.ContainsFunc(pollers, isCommand); {
	case s.Share == "" || isUnknown && s.DropVariable("share"):
		return nil, nil
	case isUnknown:
		return nil, argv.Usagef("%s: of a command it is not known whose limit it uses", s.Origin("share")).
			Hint("--share-key NAME says so: all with the same NAME keep to one limit, such as --share-key aws-cfn")
	}
	own := &share{}
	var err error
	own.Fleet, err = fleet.Open(s.Share, fleet.Options{
		PerSecond: s.perSecond(), Known: s.Rate != nil,
		Name: s.ShareKey, Key: credentialsOf(pollers, specs).at,
		Secret: []byte(s.Getenv(shareSecret)), Note: own.notes.add,
	})
	if err != nil {
		return nil, argv.Usagef("%s: %w", s.Origin("share"), cmp.Or(errors.Unwrap(err), err)).
			Hint("rediss://HOST or redis://HOST, or a directory of your own for the processes of one machine")
	}
	own.shareAnswers(s.SharedAnswers, pollers)
	return own, nil
}

// shareAnswers has targets share what --share-answers says.
func (s *share) shareAnswers(what string, pollers []*poll.Poller) {
	if what == shareNone {
		return
	}
	for _, p := range pollers {
		if p.Answers = s.Fleet; what != shareAuto {
			p.AnswersName = what
		}
	}
}

// credentials are what targets send to each place; those under "" are sent everywhere.
type credentials map[string]map[string]bool

// credentialsOf returns what targets send, of each of which there is a spec.
func credentialsOf(pollers []*poll.Poller, specs []*Spec) credentials {
	all := credentials{}
	for i, p := range pollers {
		request, ok := p.Probe.(*poll.HTTP)
		if !ok {
			continue
		}
		secret := request.Credentials()
		if socket := specs[i].UnixSocket; socket != "" {
			machine, _ := os.Hostname() // a container has one of its own
			secret += fmt.Sprintf(" at %q of %q", socket, machine)
		}
		if secret == "" {
			continue
		}
		place := request.Place()
		if request.LocationTrusted {
			place = "" // they go wherever an answer leads
		}
		if all[place] == nil {
			all[place] = map[string]bool{}
		}
		all[place][secret] = true
	}
	return all
}

// at returns what is sent to a place. It may hold secrets, and is hashed before it goes
// anywhere.
func (c credentials) at(place string) string {
	var secrets []string
	for _, to := range []string{"", place} {
		secrets = slices.AppendSeq(secrets, maps.Keys(c[to]))
	}
	slices.Sort(secrets)
	return fmt.Sprintf("%q", slices.Compact(secrets))
}
