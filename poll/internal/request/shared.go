package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/pollcli/poll/status"
)

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
	isKnown := c.Refresh == nil && !s.pages.namesEnviron() && (c.Through != "" || c.Transport == http.DefaultTransport)
	if s.startDue || c.FollowEach || name == "" && !isRead || !isKnown {
		return nil
	}
	user := ""
	if c.User != nil {
		user = c.User.String()
	}
	k := s.saved() // what the answers mean, and lead to
	return fmt.Appendf(nil, "%q", []any{
		name, method, s.at.url.String(), s.at.trusted, body, user, c.Header, c.Through,
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
