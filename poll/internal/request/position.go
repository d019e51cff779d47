package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/pollcli/poll/poll/internal/meaning"
)

// A Position is where an operation stands: what the next attempt sends, and where. It is a value, which the attempts
// of an [Operation] do not change.
//
// Its JSON form holds no header, and no credentials except for the cookies of the URL that is followed: the
// operation may be known to one server behind that URL only. It has no validators either: the response that a 304
// would confirm is not kept.
type Position struct {
	Phase phase `json:"phase"`
	// At is where the next attempt looks. The JSON form has no At if that is the given URL.
	At location `json:"at,omitzero"`
	// Monitor is the kind of At, and Accepted is true if it has returned a 202, while At is followed.
	Monitor  meaning.Monitor `json:"monitor,omitempty"`
	Accepted bool            `json:"accepted,omitempty"`
	// Statement is the last one in the responses from the URLs that were followed, "" for none.
	Statement string `json:"statement,omitempty"`
	// Named is the Location in the response to the start, if there is one. It may be where the result is.
	Named location `json:"named,omitzero"`
	// Led is how many redirects have led the start, which is due, to At; Cookies are those of At. Only the JSON form
	// has both.
	Led     int      `json:"led,omitempty"`
	Cookies []string `json:"cookies,omitempty"`

	redirects []redirect // that have led the start to At
	namedErr  error      // [ErrUntrusted] if Named must not be requested
}

// A phase says what the next attempt sends.
type phase string

const (
	given     phase = "given"  // the request that was given, which starts nothing
	unsent    phase = "unsent" // the same for the first time; it changes something
	startDue  phase = "start"  // the request that starts the operation
	started   phase = "sent"   // nothing: it was sent, and its response names no URL to follow
	returned  phase = "self"   // a GET of the URL that was given; the operation was started
	following phase = "follow" // a GET of a URL that a response has named
	fetching  phase = "result" // a GET of the result of the operation
)

// Origin returns the scheme, host and port that the next attempt sends its first request to.
func (p Position) Origin() string { return p.At.origin() }

// Name returns the scheme, host and path of the URL of the next attempt.
func (p Position) Name() string { return urlName(p.At.url) }

// IsStart reports whether the next attempt sends the request that starts the operation.
func (p Position) IsStart() bool { return p.Phase == startDue }

// Save returns the JSON form of a position; nil if a later run can as well begin anew.
func (o *Operation) Save(p Position) json.RawMessage {
	if p.Phase == o.first && !p.IsStart() {
		return nil
	}
	if p.Phase == following {
		p.Cookies = o.client.cookies.save(p.At)
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

// Resume returns the position that Save has kept for the same request. It does not believe that a location is
// trusted where a new operation would not trust it.
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

// again returns a location that a response had named. A location that was not trusted then is not trusted now.
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
