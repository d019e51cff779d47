package request

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/pollcli/poll/internal/detail"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// saved is what a session leaves to a later one: no header, and no credentials but the
// cookies of the URL that is followed, which may be known to one server behind it only. It
// has no validators either: the answer that a 304 would confirm is not kept.
type saved struct {
	StartDue bool `json:"start_due,omitempty"`
	Sent     bool `json:"sent,omitempty"`
	// At is the URL that is followed, "" if it is the request's own, or that to which Led
	// redirects have led the start, which is due. Trusted is true if it may get the credentials,
	// should there be any.
	At      string         `json:"at,omitempty"`
	Trusted bool           `json:"trusted,omitempty"`
	Led     int            `json:"led,omitempty"`
	Monitor detail.Monitor `json:"monitor,omitempty"`
	Cookies []string       `json:"cookies,omitempty"`
	// Result is the Location of the answer to the start, which may be where the result is.
	Result        string `json:"result,omitempty"`
	ResultTrusted bool   `json:"result_trusted,omitempty"`
	Statement     string `json:"statement,omitempty"`
}

// Save returns what a later session of the same request goes on from; nil if it can as
// well begin anew.
func (s *Session) Save() json.RawMessage {
	k := s.saved()
	if s.following {
		k.Cookies = s.client.cookies.save(s.at)
	}
	return s.marshal(k)
}

// saved returns all that is saved but for the cookies.
func (s *Session) saved() saved {
	k := saved{StartDue: s.startDue, Sent: s.sent && s.changes(), Statement: s.statement}
	if k.Led = len(s.led); s.following || k.StartDue && k.Led > 0 {
		k.At, k.Trusted, k.Monitor = s.at.url.String(), s.at.trusted, s.monitor
	}
	if s.location.url != nil && s.locationErr == nil {
		k.Result, k.ResultTrusted = s.location.url.String(), s.location.trusted
	}
	return k
}

func (s *Session) marshal(k saved) json.RawMessage {
	text, _ := json.Marshal(k) // it has only text and numbers
	if string(text) == "{}" && !s.starts() {
		return nil
	}
	return text
}

// KeepsEnviron reports whether what Save returns can hold a variable of the environment: the
// URL that is followed is built from one.
func (s *Session) KeepsEnviron() bool { return s.follow.namesEnviron() }

// Resume makes a session go on where an earlier one was. It does not believe that a place
// is trusted where a new session would not trust it.
func (s *Session) Resume(text json.RawMessage) error {
	var k saved
	if err := json.Unmarshal(text, &k); err != nil {
		return errors.New("what is known of the operation is not readable")
	}
	if k.Monitor > detail.MonitorCreated {
		return fmt.Errorf("the URL that is followed is of an unknown kind, %d", k.Monitor)
	}
	if k.At != "" {
		at, err := s.again(k.At, k.Trusted)
		if err != nil {
			return fmt.Errorf("the URL that is followed %w", err)
		}
		s.at, s.monitor, s.following = at, k.Monitor, !k.StartDue
		s.led = slices.Repeat([]redirect{{http.StatusTemporaryRedirect, s.client.given, at, false, true}}, min(max(k.Led, 0), mostSends))
		s.client.cookies.restore(at, k.Cookies)
		if s.each && k.Monitor == detail.MonitorBuilt { // a fork was there
			s.each, s.next = false, nil
			s.outer = layers(s.client, nil)
		}
	}
	if k.Result != "" {
		s.location, s.locationErr = s.again(k.Result, k.ResultTrusted)
	}
	s.startDue, s.sent, s.statement = k.StartDue && s.starts(), k.Sent, k.Statement
	return nil
}

// again returns the place of a URL that an answer had named. Whoever did not trust it then
// does not trust it now.
func (s *Session) again(url string, trusted bool) (place, error) {
	to, err := s.client.refer(s.client.given, url)
	if errors.Is(err, ErrUntrusted) && !trusted {
		err = nil
	}
	to.trusted = to.trusted && (trusted || s.client.LocationTrusted)
	return to, err
}

// Identity returns all that makes the next attempt, with credentials. It is nil if the answer
// is not to be shared: the request may change something, and no name vouches that it does
// not; the elements of the answer are followed, which changes the session of one run; or it is
// not known what the request goes through, or which credentials it will have.
func (s *Session) Identity(name string) []byte {
	c := s.client
	method, body := http.MethodGet, ""
	if !s.following {
		method, body = c.Method, string(c.Body)
	}
	isRead := (method == http.MethodGet || method == http.MethodHead) && body == ""
	isKnown := c.Refresh == nil && (s.next == nil || !s.next.namesEnviron()) && (c.Through != "" || c.Transport == http.DefaultTransport)
	if s.startDue || s.each || name == "" && !isRead || !isKnown {
		return nil
	}
	machine := ""
	if name == "" && IsLocal(s.at.url.Hostname()) {
		machine = Machine()
	}
	k := s.saved() // what the answers mean, and lead to
	return fmt.Appendf(nil, "%q", []any{
		machine,
		name, method, s.at.url.String(), s.at.trusted, body, userSecrets(c.User), c.header, c.Through,
		c.Follow, c.Next, c.MaxBody, c.MaxRedirects, c.LocationTrusted,
		s.following, k.Monitor, k.Result, k.ResultTrusted,
	})
}

// Leave returns what the last answer left for the sessions of others: where to look next.
func (s *Session) Leave() json.RawMessage { return s.marshal(s.saved()) }

// Adopt takes over an answer, and what it left in the session of another.
func (s *Session) Adopt(o status.Observation, text json.RawMessage) error {
	if o.Kind != status.KindHTTP || o.Code == nil {
		return errors.New("it is no HTTP answer")
	}
	if len(text) == 0 {
		return nil
	}
	return s.Resume(text)
}

// Lists reports whether the elements of an answer say where to look.
func (s *Session) Lists() bool { return s.each }

// Fork returns the session that looks at an element of the last answer. It shares the
// transport, the cookies and the header with this one, but what it keeps is its own.
func (s *Session) Fork(element []byte) (*Session, error) {
	if s.listed == nil {
		return nil, errors.New("no answer has listed what to follow")
	}
	from := s.listed.asked.at
	env := s.listed.env(context.Background())
	env.Doc, env.Element = s.doc, expr.NewDoc(element)
	to, err := s.follow.resolve(s.client, from, env, text)
	if err != nil {
		return nil, err
	}
	own := s.client.client(s.client.header)
	own.renewed = slices.Clone(s.client.renewed)
	own.withheld = s.client.withheld
	fork := &Session{client: own, follow: s.follow, at: to, following: true, monitor: detail.MonitorBuilt}
	fork.outer = layers(own, nil)
	return fork, nil
}
