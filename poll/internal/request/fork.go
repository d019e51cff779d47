package request

import (
	"context"
	"errors"

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
	if !s.pages.readsPages() || !isPage(got) {
		s.list(ctx, o, got)
		return
	}
	next, err := s.pages.after(ctx, got, 1)
	o.Doubt = got.Doubt
	switch {
	case err != nil:
		o.Failure = fail(status.FailureMayHaveStarted, "the operations have started, but it is not known whether their list goes on: "+err.Error(), err)
	case next.url != nil:
		o.Failure = fail(status.FailureMayHaveStarted, "the operations have started, but their list goes on on another page, "+
			"and only the first page of the answer to a start is read", nil)
	default:
		s.list(ctx, o, got)
	}
}

// Lists reports whether the elements of an answer say where to look.
func (s *Session) Lists() bool { return s.client.FollowEach }

// Fork returns the session that looks at an element of the last answer. It shares the
// transport, the cookies and the header with this one, but what it keeps is its own.
func (s *Session) Fork(element []byte) (*Session, error) {
	if s.listed == nil {
		return nil, errors.New("no answer has listed what to follow")
	}
	from := s.listed.asked.at
	env := s.listed.env(context.Background())
	env.Doc, env.Element = s.listed.doc, expr.NewDoc(element)
	to, err := s.follow.resolve(s.client, from, env, text)
	if err != nil {
		return nil, err
	}
	own := *s.client
	own.FollowEach = false
	own.hold = body.Hold{Budget: own.Bodies}
	fork := &Session{client: &own, follow: s.follow, pages: newPages(&own, pager{}), at: to}
	fork.following, fork.monitor = true, status.MonitorBuilt
	if words := s.client.withheld(from, to); words != "" {
		fork.arrival = "following " + urlName(to.url) + ", as its element says" + words
	}
	return fork, nil
}
