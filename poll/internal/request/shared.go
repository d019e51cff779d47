package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/pollcli/poll/status"
)

// identity is all that makes an attempt: those for whom it is equal would get the same
// answer, and may all see it.
type identity struct {
	Name, Method, URL, User string
	Trusted                 bool
	Header                  http.Header
	Body                    string
	Through                 string
	Follow, Next            string
	MaxBody                 int64
	MaxRedirects            int
	LocationTrusted         bool
	Following               bool // and what the answers mean then, and lead to:
	Monitor                 status.Monitor
	Result                  string
	ResultTrusted           bool
}

// Identity returns all that makes the next attempt, with credentials. It is nil if the answer
// is not to be shared: the request may change something, and no name vouches that it does
// not; the elements of the answer are followed, which changes the session of one run; or it is
// not known what the request goes through, or which credentials it will have.
func (s *Session) Identity(name string) []byte {
	c := s.client
	i := identity{
		Name: name, Method: http.MethodGet, URL: s.at.url.String(), Trusted: s.at.trusted, Header: c.Header, Through: c.Through,
		Follow: c.Follow, Next: c.Next, MaxBody: c.MaxBody, MaxRedirects: c.MaxRedirects, LocationTrusted: c.LocationTrusted,
	}
	if !s.following {
		i.Method, i.Body = c.Method, string(c.Body)
	} else {
		i.Following, i.Monitor = true, s.monitor
	}
	if s.location.url != nil && s.locationErr == nil {
		i.Result, i.ResultTrusted = s.location.url.String(), s.location.trusted
	}
	isRead := (i.Method == http.MethodGet || i.Method == http.MethodHead) && len(i.Body) == 0
	isKnown := c.Refresh == nil && !s.pages.namesEnviron() && (c.Through != "" || c.Transport == http.DefaultTransport)
	if s.startDue || c.FollowEach || name == "" && !isRead || !isKnown {
		return nil
	}
	if c.User != nil {
		i.User = c.User.String()
	}
	return fmt.Appendf(nil, "%#v", i) // JSON would have all that is no UTF-8 alike
}

// left is what an answer left in a session.
type left struct {
	Saved json.RawMessage `json:"kept,omitempty"`
	// ETag and LastModified make the next request conditional.
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
}

// Leave returns what the last answer left for the sessions of others: where to look next,
// and what makes the next request conditional.
func (s *Session) Leave() json.RawMessage {
	l := left{Saved: s.save(&cookies{})}
	if v := s.sharedValid(); v != nil {
		l.ETag, l.LastModified = v.etag, v.lastModified
	}
	if text := marshal(l); string(text) != "{}" {
		return text
	}
	return nil
}

// sharedValid returns what is kept of the last answer, if another can go on with it: it is
// one page, and came from where the next attempt looks.
func (s *Session) sharedValid() *valid {
	kept := s.pages.kept
	if s.pages.readsPages() || len(kept) == 0 || kept[0] == nil ||
		len(kept[0].asked.redirects) > 0 || !kept[0].asked.at.same(s.at) {
		return nil
	}
	return kept[0]
}

// Adopt takes over an answer, and what it left in the session of another.
func (s *Session) Adopt(o status.Observation, text json.RawMessage) error {
	if o.Kind != status.KindHTTP || o.Code == nil {
		return errors.New("it is no HTTP answer")
	}
	var l left
	if len(text) > 0 {
		if err := json.Unmarshal(text, &l); err != nil {
			return errors.New("what it left is not readable")
		}
	}
	if len(l.Saved) > 0 {
		if err := s.Resume(l.Saved); err != nil {
			return err
		}
	}
	if s.pages.off || s.pages.readsPages() {
		return nil
	}
	s.pages.looks++ // of which a share is unconditional
	s.pages.page, s.pages.kept = 0, nil
	a := &answer{Observation: o, code: *o.Code, asked: call{at: s.at}}
	v := validators{etag: l.ETag, lastModified: l.LastModified}
	if v != (validators{}) && a.code == http.StatusOK && !s.client.isTooLong(o.Body) {
		s.pages.keep(&valid{a, v})
	}
	return nil
}
