package request

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/pollcli/poll/poll/internal/meaning"
)

// A Position is the state of an operation before an attempt: it determines the request of the attempt and its URL. A
// Position is a value: attempts return a new Position.
//
// The JSON form holds no header and no credentials, except the cookies of the followed URL: a load balancer may need the
// cookies to find the server that knows the operation. The JSON form has no validators, because the response that a
// 304 would confirm is not saved.
type Position struct {
	Phase phase `json:"phase"`
	// At is the location of the next request. The JSON form omits At if it is the given URL.
	At location `json:"at,omitzero"`
	// Monitor is the kind of the followed URL At. Accepted is true if At has returned a 202.
	Monitor  meaning.Monitor `json:"monitor,omitempty"`
	Accepted bool            `json:"accepted,omitempty"`
	// Statement is the last meaning.Stated of a response from a followed URL, or "".
	Statement string `json:"statement,omitempty"`
	// Named is the Location in the response to the start request. It has no URL without a Location. The result of the
	// operation may be there.
	Named location `json:"named,omitzero"`
	// Led is the number of redirects from the given URL to At, for a start request that is still due. Cookies are the
	// cookies for At. Only the JSON form uses Led and Cookies.
	Led     int      `json:"led,omitempty"`
	Cookies []string `json:"cookies,omitempty"`

	redirects []redirect // redirects of the start request, from the given URL to At
	namedErr  error      // [ErrUntrusted] if Named must not be requested
}

// A phase determines the request of the next attempt.
type phase string

const (
	given     phase = "given"  // the given request, sent in each attempt
	unsent    phase = "unsent" // the given request for the first time; it may change something
	startDue  phase = "start"  // the start request
	started   phase = "sent"   // no request: the start request was sent, and its response names no URL to follow
	returned  phase = "self"   // a GET of the given URL, after the start request
	following phase = "follow" // a GET of a URL that a response has named
	fetching  phase = "result" // a GET of the result of the operation
)

// Origin returns the scheme, host and port of the first request of the next attempt.
func (p Position) Origin() string { return p.At.origin() }

// Name returns the scheme, host and path of the URL of the next attempt.
func (p Position) Name() string { return urlName(p.At.url) }

// IsStart reports whether the next attempt sends the request that starts the operation.
func (p Position) IsStart() bool { return p.Phase == startDue }

// A Start identifies a start request by its method, URL and body. The zero Start identifies no request.
type Start [sha256.Size]byte

// StartOf returns the start request that the next attempt sends. It returns the zero Start if the attempt sends no start request.
func (o *Operation) StartOf(p Position) Start {
	if !p.IsStart() {
		return Start{}
	}
	return sha256.Sum256(fmt.Appendf(nil, "%s %s\n%s", o.client.Method, p.At.url, o.client.Body))
}

// Save returns the JSON form of p, with the cookies for a followed URL. It returns nil if a later run can start from the
// first position instead.
func (o *Operation) Save(p Position) json.RawMessage {
	if p.Phase == o.first && !p.IsStart() {
		return nil
	}
	if p.Phase == following {
		o.mu.Lock()
		p.Cookies = o.client.cookies.save(p.At)
		o.mu.Unlock()
	}
	if p.At.same(o.client.given) {
		p.At = location{} // the given URL may hold secrets
	}
	p.Led = len(p.redirects)
	if p.namedErr != nil {
		p.Named = location{}
	}
	text, _ := json.Marshal(p) // it has only text and numbers
	return text
}

// Resume returns the position in text, the result of Save for the same request, and restores its cookies. It returns an
// error if text is malformed or belongs to another request. Resume never trusts a saved location that a new operation
// would not trust.
func (o *Operation) Resume(text json.RawMessage) (p Position, err error) {
	switch err = json.Unmarshal(text, &p); {
	case err != nil:
		return p, errors.New("the saved state of the operation cannot be read")
	case p.Monitor > meaning.MonitorCreated:
		return p, fmt.Errorf("the URL that is followed is of an unknown kind, %d", p.Monitor)
	case !slices.Contains([]phase{o.first, o.second, following}, p.Phase):
		return p, fmt.Errorf("the saved state of the operation is of another request, or unknown: %q", p.Phase)
	}
	if p.Named.url != nil {
		p.Named, p.namedErr = o.again(p.Named)
	}
	if p.At.url == nil {
		p.At = o.client.given
	} else if p.At, err = o.again(p.At); err != nil {
		return p, fmt.Errorf("the URL that is followed %w", err)
	}
	p.redirects = slices.Repeat([]redirect{{code: http.StatusTemporaryRedirect, from: o.client.given, to: p.At, start: true}}, min(max(p.Led, 0), maxSends))
	o.client.cookies.restore(p.At, p.Cookies)
	return p, nil
}

// again returns a saved location that a response had named. The location is trusted only if it was trusted when it was
// saved, or if LocationTrusted is true, and if the given URL allows it.
func (o *Operation) again(saved location) (location, error) {
	to, err := o.client.refer(o.client.given, saved.url.String())
	if errors.Is(err, ErrUntrusted) && !saved.trusted {
		err = nil
	}
	to.trusted = to.trusted && (saved.trusted || o.client.LocationTrusted)
	return to, err
}

// A savedLocation is the JSON form of a location.
type savedLocation struct {
	URL     string `json:"url"`
	Trusted bool   `json:"trusted,omitempty"`
}

// MarshalJSON returns the JSON form of a location.
func (p location) MarshalJSON() ([]byte, error) {
	return json.Marshal(savedLocation{p.url.String(), p.trusted})
}

// UnmarshalJSON reads the JSON form of a location.
func (p *location) UnmarshalJSON(text []byte) (err error) {
	var saved savedLocation
	if err = json.Unmarshal(text, &saved); err == nil {
		p.trusted = saved.Trusted
		p.url, err = url.Parse(saved.URL)
	}
	return err
}
