package exchange

import (
	"context"
	"errors"
	"slices"

	"github.com/pollcli/poll/poll/internal/body"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A listing is an answer whose elements are followed.
type listing struct {
	*answer
	doc *expr.Doc
}

// list notes that the elements of a good answer say where to look.
func (s *Session) list(ctx context.Context, o *status.Observation, got *answer) {
	s.listed = &listing{got, got.env(ctx).Doc}
	o.Following.Each = true
}

// listStarted notes the elements of the answer to a start, unless there are more on a page
// that follows it: the look that would have to be made again if that failed is the start.
func (s *Session) listStarted(ctx context.Context, o *status.Observation, got *answer) {
	if !s.pager.pages() || !isPage(got) {
		s.list(ctx, o, got)
		return
	}
	const started = "the operations have started, but "
	switch _, err := s.pager.next(ctx, got, s.client.LocationTrusted); {
	case endsList(err, got, 1):
		s.remarkMissing(o, err)
		s.list(ctx, o, got)
		return
	case err == nil:
		o.Failure = fail(status.FailureMayHaveStarted, started+
			"their list goes on on another page, and only the first page of the answer to a start is read", nil)
	default:
		o.Failure = fail(status.FailureMayHaveStarted, started+"it is not known whether their list goes on: "+err.Error(), err)
	}
}

// Fork returns the session that looks at an element of the last answer. It shares the
// transport, the cookies and the header with this one, but what it keeps is its own.
func (s *Session) Fork(element []byte) (*Session, error) {
	if s.listed == nil {
		return nil, errors.New("no answer has listed what to follow")
	}
	env := s.listed.env(context.Background())
	env.Doc, env.Element = s.listed.doc, expr.NewDoc(element)
	to, err := s.follow.resolve(s.listed.from, env, text, s.client.LocationTrusted)
	if err != nil {
		return nil, err
	}
	s.client.transport(to) // one for all forks
	own := *s.client
	own.FollowEach = false
	own.hold = body.Hold{Budget: own.Bodies}
	own.secrets.renewed = slices.Clip(own.secrets.renewed)
	fork := &Session{
		client: &own, follow: s.follow, cache: own.newCache(), locationErr: errNotNamed,
		at: to, following: true, monitor: status.MonitorBuilt,
	}
	if words := withheld(s.listed.from, to); words != "" {
		fork.arrival = "following " + urlName(to.url) + ", as its element says" + words
	}
	return fork, nil
}
