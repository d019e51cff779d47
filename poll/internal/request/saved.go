package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/pollcli/poll/poll/internal/meaning"
)

// saved is the state of a session that a later one goes on from: no header, and no credentials but the
// cookies of the URL that is followed, which may be known to one server behind it only. It
// has no validators either: the answer that a 304 would confirm is not kept.
type saved struct {
	StartDue bool `json:"start_due,omitempty"`
	Sent     bool `json:"sent,omitempty"`
	// At is the URL that is followed, "" if it is the request's own, or that to which Led
	// redirects have led the start, which is due. Trusted is true if it may get the credentials,
	// should there be any.
	At      string          `json:"at,omitempty"`
	Trusted bool            `json:"trusted,omitempty"`
	Led     int             `json:"led,omitempty"`
	Monitor meaning.Monitor `json:"monitor,omitempty"`
	Cookies []string        `json:"cookies,omitempty"`
	// Accepted is true if the URL that is followed has returned a 202.
	Accepted bool `json:"accepted,omitempty"`
	// Result is the Location of the answer to the start, which may be where the result is.
	Result        string `json:"result,omitempty"`
	ResultTrusted bool   `json:"result_trusted,omitempty"`
	Statement     string `json:"statement,omitempty"`
}

// Save returns the state that a later session of the same request goes on from; nil if that
// can as well begin anew.
func (s *Session) Save() json.RawMessage {
	if s.phase == s.first && s.phase != startDue {
		return nil
	}
	k := saved{StartDue: s.phase == startDue, Sent: s.phase != s.first && s.first == unsent, Statement: s.statement}
	if k.Led = len(s.led); s.phase == following || k.StartDue && k.Led > 0 {
		k.At, k.Trusted, k.Monitor, k.Accepted = s.at.url.String(), s.at.trusted, s.monitor, s.accepted
	}
	if s.named.url != nil && s.namedErr == nil {
		k.Result, k.ResultTrusted = s.named.url.String(), s.named.trusted
	}
	if s.phase == following {
		k.Cookies = s.client.cookies.save(s.at)
	}
	text, _ := json.Marshal(k) // it has only text and numbers
	return text
}

// KeepsEnviron reports whether the result of Save can hold a variable of the environment: the
// URL that is followed is built from one.
func (s *Session) KeepsEnviron() bool { return s.follow.namesEnviron() }

// Resume makes a session go on where an earlier one was. It does not believe that a location
// is trusted where a new session would not trust it.
func (s *Session) Resume(text json.RawMessage) error {
	var k saved
	if err := json.Unmarshal(text, &k); err != nil {
		return errors.New("the saved state of the operation cannot be read")
	}
	if k.Monitor > meaning.MonitorCreated {
		return fmt.Errorf("the URL that is followed is of an unknown kind, %d", k.Monitor)
	}
	if k.At != "" {
		at, err := s.again(k.At, k.Trusted)
		if err != nil {
			return fmt.Errorf("the URL that is followed %w", err)
		}
		s.at, s.monitor, s.accepted = at, k.Monitor, k.Accepted
		s.led = slices.Repeat([]redirect{{code: http.StatusTemporaryRedirect, from: s.client.given, to: at, start: true}}, min(max(k.Led, 0), maxSends))
		s.client.cookies.restore(at, k.Cookies)
	}
	if k.Result != "" {
		s.named, s.namedErr = s.again(k.Result, k.ResultTrusted)
	}
	switch s.statement = k.Statement; {
	case k.At != "" && !k.StartDue:
		s.phase = following
	case !k.StartDue && (s.first == startDue || k.Sent):
		s.phase = s.second
	default:
		s.phase = s.first
	}
	return nil
}

// again returns the location of a URL that an answer had named. One that was not trusted then is
// not trusted now.
func (s *Session) again(url string, trusted bool) (location, error) {
	to, err := s.client.refer(s.client.given, url)
	if errors.Is(err, ErrUntrusted) && !trusted {
		err = nil
	}
	to.trusted = to.trusted && (trusted || s.client.LocationTrusted)
	return to, err
}
