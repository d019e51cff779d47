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

// A Position is the state of an operation between two attempts. It determines the URL and the request of the next
// attempt. A Position is a value: an attempt does not change its Position, but returns a new Position.
//
// The JSON form of a Position holds no header fields and no credentials. The cookies of the followed URL are an
// exception, because a load balancer may need them to find the server that knows the operation. The JSON form does
// not support conditional requests, because the previous response is not saved.
type Position struct {
	Phase phase `json:"phase"`
	// At is the location of the next request. The JSON form omits At if At is the user's URL.
	At location `json:"at,omitzero"`
	// Monitor is the kind of the URL At. Accepted is true if At has already responded with a 202.
	Monitor  meaning.Monitor `json:"monitor,omitempty"`
	Accepted bool            `json:"accepted,omitempty"`
	// Statement is the last known state of the operation in a response from a followed URL (see meaning.StateText), or
	// "".
	Statement string `json:"statement,omitempty"`
	// Named is the location in the Location field of the response to the start request. It may be the location
	// of the operation's result. Named has no URL if the response had no Location.
	Named location `json:"named,omitzero"`
	// Led is the number of redirects that led from the user's URL to At, if the start request is still to be sent.
	// Cookies are the cookies for At. Led and Cookies are only set in the JSON form.
	Led     int      `json:"led,omitempty"`
	Cookies []string `json:"cookies,omitempty"`

	redirects []redirect // redirects that led from the user's URL to At, if the start request is still to be sent
	namedErr  error      // error that wraps [ErrUntrusted] if Named must not be requested
}

// A phase determines which request the next attempt sends.
type phase string

const (
	given     phase = "given"  // the user's request, in every attempt
	unsent    phase = "unsent" // the user's request, for the first time: it may have effects on the server
	startDue  phase = "start"  // the user's request, which starts the operation
	started   phase = "sent"   // no request: the start request was sent, but its response names no URL to follow
	returned  phase = "self"   // a GET of the user's URL, after the start request
	following phase = "follow" // a GET of the URL that a response has named
	fetching  phase = "result" // a GET of the operation's result
)

// Origin returns the scheme, host and port of the first request of the next attempt.
func (p Position) Origin() string { return p.At.origin }

// Name returns the scheme, host and path of the next attempt's URL, as a name for messages.
func (p Position) Name() string { return urlName(p.At.url) }

// IsStart reports whether the next attempt sends the start request.
func (p Position) IsStart() bool { return p.Phase == startDue }

// A Start is a hash of the method, URL and body of a start request. Equal requests have equal hashes. The zero Start
// stands for no request.
type Start [sha256.Size]byte

// StartOf returns the hash of the start request that the next attempt sends from p. It returns the zero Start if the
// next attempt sends no start request.
func (o *Operation) StartOf(p Position) Start {
	if !p.IsStart() {
		return Start{}
	}
	return sha256.Sum256(fmt.Appendf(nil, "%s %s\n%s", o.client.Method, p.At.url, o.client.Body))
}

// Save returns the JSON form of p. It returns nil if a later run need not resume from p, but can start from the first
// position.
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
		p.At = location{} // do not save the user's URL, which may hold secrets
	}
	p.Led = len(p.redirects)
	if p.namedErr != nil {
		p.Named = location{}
	}
	text, _ := json.Marshal(p) // cannot fail: p consists of strings, numbers and booleans
	return text
}

// Resume parses text, which Save has returned in an earlier run for the same request. It returns the position, and
// restores its cookies. It returns an error if text is malformed or belongs to another request. A saved location
// becomes trusted only if a new operation would trust it, too.
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
		p.Named, p.namedErr = o.checkAgain(p.Named)
	}
	if p.At.url == nil {
		p.At = o.client.given
	} else if p.At, err = o.checkAgain(p.At); err != nil {
		return p, fmt.Errorf("the URL that is followed %w", err)
	}
	p.redirects = slices.Repeat([]redirect{{code: http.StatusTemporaryRedirect, from: o.client.given, to: p.At, start: true}}, min(max(p.Led, 0), maxSends))
	o.client.cookies.restore(p.At, p.Cookies)
	return p, nil
}

// checkAgain checks a location from a saved position before it is requested. It returns the location. The
// location remains trusted only if the user's URL could pass on its trust, for example to a URL of the same
// origin. With LocationTrusted, every location is trusted. checkAgain returns an error if the location must not
// be requested.
func (o *Operation) checkAgain(saved location) (location, error) {
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

// MarshalJSON returns the JSON form of p. p must have a URL.
func (p location) MarshalJSON() ([]byte, error) {
	return json.Marshal(savedLocation{p.url.String(), p.trusted})
}

// UnmarshalJSON parses the JSON form of a location.
func (p *location) UnmarshalJSON(text []byte) (err error) {
	var saved savedLocation
	if err = json.Unmarshal(text, &saved); err == nil {
		p.trusted = saved.Trusted
		p.url, err = url.Parse(saved.URL)
	}
	return err
}
