package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// kept is what a session leaves to a later one: no header, no credentials, no cookies. It
// has no validators either: the answer that a 304 would confirm is not kept.
type kept struct {
	StartDue bool `json:"start_due,omitempty"`
	Sent     bool `json:"sent,omitempty"`
	// At is the URL that is followed, "" if it is the request's own. Trusted is true if it
	// may get the credentials, should there be any.
	At      string         `json:"at,omitempty"`
	Trusted bool           `json:"trusted,omitempty"`
	Monitor status.Monitor `json:"monitor,omitempty"`
	// Result is the Location of the answer to the start, which may be where the result is.
	Result        string `json:"result,omitempty"`
	ResultTrusted bool   `json:"result_trusted,omitempty"`
	Statement     string `json:"statement,omitempty"`
}

// Save returns what a later session of the same request goes on from; nil if it can as
// well begin anew.
func (s *Session) Save() json.RawMessage {
	k := kept{StartDue: s.startDue, Sent: s.sent && s.changes(), Statement: s.statement}
	if s.following {
		k.At, k.Trusted, k.Monitor = s.at.url.String(), s.at.trusted, s.monitor
	}
	if s.location.url != nil && s.locationErr == nil {
		k.Result, k.ResultTrusted = s.location.url.String(), s.location.trusted
	}
	if k == (kept{}) && !s.starts() {
		return nil
	}
	text, err := json.Marshal(k)
	if err != nil {
		panic(err) // it has only text and numbers
	}
	return text
}

// KeepsEnviron reports whether what Save returns can hold a variable of the environment: the
// URL that is followed is built from one.
func (s *Session) KeepsEnviron() bool { return s.follow.namesEnviron() }

// namesEnviron reports whether the URL is built from a variable of the environment.
func (r reference) namesEnviron() bool {
	return r.template != nil && slices.ContainsFunc(r.template.values, (*expr.Expr).NamesEnviron)
}

// Resume makes a session go on where an earlier one was. It does not believe that a place
// is trusted where a new session would not trust it.
func (s *Session) Resume(text json.RawMessage) error {
	var k kept
	if err := json.Unmarshal(text, &k); err != nil {
		return errors.New("what is known of the operation is not readable")
	}
	if k.Monitor > status.MonitorCreated {
		return fmt.Errorf("the URL that is followed is of an unknown kind, %d", k.Monitor)
	}
	if k.At != "" {
		at, err := s.client.given.again(k.At, k.Trusted, s.client.LocationTrusted)
		if err != nil {
			return fmt.Errorf("the URL that is followed %w", err)
		}
		s.at, s.monitor, s.following = at, k.Monitor, true
		if s.client.FollowEach && k.Monitor == status.MonitorBuilt { // a fork was there
			s.client.FollowEach, s.pager = false, pager{}
		}
	}
	if k.Result != "" {
		s.location, s.locationErr = s.client.given.again(k.Result, k.ResultTrusted, s.client.LocationTrusted)
	}
	s.startDue, s.sent, s.statement = k.StartDue && s.starts(), k.Sent, k.Statement
	return nil
}

// again returns the place of a URL that an answer from p, or from where that led, had named.
// Whoever did not trust it then does not trust it now.
func (p place) again(url string, trusted, trustAll bool) (place, error) {
	to, err := p.refer(url, trustAll)
	if errors.Is(err, ErrUntrusted) && !trusted {
		err = nil
	}
	to.trusted = to.trusted && (trusted || trustAll)
	to.guarded = to.guarded && to.trusted
	return to, err
}
