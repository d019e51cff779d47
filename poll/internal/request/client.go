package request

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pollcli/poll/poll/internal/stream"
	"github.com/pollcli/poll/status"
)

// maxSends is the largest number of times that one attempt sends a start request because of redirects. A server may
// start the operation each time.
const maxSends = 3

// A client is the innermost layer. It sends requests, follows redirects, and sends credentials only to their origin.
type client struct {
	Request          // after complete; never changed
	given   location // location of the URL in Request
	cookies cookies

	// stripped is the Transport without its client certificate. It is nil if the Transport has no client certificate.
	stripped *http.Transport
	strip    sync.Once

	header  http.Header // header of Request, with renewed fields
	memory  stream.Memory
	from    string   // origin of memory.LastID
	renewed []string // secret values that Refresh has returned, latest first
	// withheld is the last origin to which credentials were not sent. unreported is true until a remark reports that.
	withheld   string
	unreported bool
}

// newClient returns the client of r, or an error if r is malformed. The error holds no secrets.
func newClient(r Request) (*client, error) {
	u, err := ParseURL(r.URL)
	if err != nil {
		return nil, err
	}
	if err := r.complete(); err != nil {
		return nil, err
	}
	r.User = cmp.Or(r.User, u.User)
	return &client{Request: r, given: newLocation(u, true), header: r.Header}, nil
}

// secrets returns the strings that no error may repeat: user, password, and the values of secret header fields.
func (c *client) secrets() []string {
	all := slices.Concat(userSecrets(c.User), c.renewed)
	if u, err := url.Parse(c.URL); err == nil {
		all = append(all, userSecrets(u.User)...)
	}
	for name, values := range c.Header {
		if !goesAnywhere(name) {
			all = append(all, values...)
		}
	}
	return all
}

// sendsUser reports whether requests send User. An Authorization in the header replaces User.
func (c *client) sendsUser() bool { return c.User != nil && len(c.header["Authorization"]) == 0 }

// credentials returns the parts of a request that only the user's origin receives: the user, secret header fields, and
// client certificates. A Host is not a secret.
func (c *client) credentials() (all []string) {
	if c.sendsUser() {
		all = append(all, "user "+c.User.String())
	}
	for name, values := range c.header {
		if !goesAnywhere(name) && name != "Host" && len(values) > 0 {
			all = append(all, fmt.Sprintf("%s %q", name, values))
		}
	}
	if c.bare() == nil {
		return all
	}
	config := c.Transport.(*http.Transport).Clone().TLSClientConfig
	if config.GetClientCertificate != nil {
		all = append(all, "certificate of a function")
	}
	for _, certificate := range config.Certificates {
		all = append(all, fmt.Sprintf("certificate %x", certificate.Certificate))
	}
	return all
}

// bare returns a copy of the Transport without client certificates. It returns nil if the Transport itself has no client
// certificate, or is not an [http.Transport]. It reads only the copy: the first request through a Transport changes its
// fields, and another goroutine may send that request at any time.
func (c *client) bare() *http.Transport {
	c.strip.Do(func() {
		original, ok := c.Transport.(*http.Transport)
		if !ok {
			return
		}
		bare := original.Clone()
		tls := bare.TLSClientConfig
		if tls == nil || len(tls.Certificates) == 0 && tls.GetClientCertificate == nil {
			return
		}
		tls.Certificates, tls.GetClientCertificate = nil, nil
		bare.DisableKeepAlives = true // nobody could close its idle connections
		c.stripped = bare
	})
	return c.stripped
}

// guards reports whether requests to p carry credentials.
func (c *client) guards(p location) bool {
	return p.trusted && len(c.credentials()) > 0
}

// noteWithheld sets withheld and unreported after a response from another origin, if there are credentials.
func (c *client) noteWithheld(from location) {
	if from.trusted || sameOrigin(from.url, c.given.url) || len(c.credentials()) == 0 {
		return
	}
	if origin := from.url.Scheme + "://" + from.url.Host; origin != c.withheld {
		c.withheld, c.unreported = origin, true
	}
}

// refer returns the location that reference names in a response from a location. If requests to from carry credentials
// over https, a reference to http is an error that wraps [ErrUntrusted], because the next response could be forged.
// LocationTrusted allows such references.
func (c *client) refer(from location, reference string) (location, error) {
	to, err := from.resolve(reference, c.LocationTrusted)
	downgraded := err == nil && from.url.Scheme == "https" && to.url.Scheme == "http"
	if downgraded && !c.LocationTrusted && c.guards(from) {
		err = &safeError{words: "leads from https to http", cause: ErrUntrusted}
	}
	return to, err
}

// mayTakeBody returns an error that wraps [ErrUntrusted] if the body of a request to one location may not be sent to
// another location that a response names.
func (c *client) mayTakeBody(from, to location) error {
	if c.LocationTrusted || sameOrigin(from.url, to.url) || upgraded(from.url, to.url) {
		return nil
	}
	return &safeError{words: "takes the body to another origin", cause: ErrUntrusted}
}

// do sends the request of next, and follows redirects. The result is the last response, or a failure.
func (c *client) do(ctx context.Context, next call) *answer {
	next.began = time.Now()
	for {
		a := c.send(ctx, next)
		r, hopeless := c.redirect(a)
		if hopeless != nil {
			a = failed(hopeless, a.asked)
		}
		if r == nil {
			c.describe(a)
			return a
		}
		next.redirects = append(next.redirects, *r)
		next.at = r.to
		if r.toGET {
			next.method, next.body, next.start, next.NoCache = http.MethodGet, nil, false, next.NoCache || next.start
		}
		if f := next.wait(ctx, next.at); f != nil {
			a = failed(f, next)
			a.unsent = true
			return a
		}
		if next.Pace != nil {
			next.began = time.Now()
		}
	}
}

// A redirect is a redirect that the client has followed.
type redirect struct {
	code     int
	from, to location
	toGET    bool      // the redirect turned the request into a GET
	start    bool      // the redirected request was the start request
	date     time.Time // Date of the response; zero without a Date
}

// redirect returns the redirect in a. It returns nil if a is not a redirect, or if the client does not follow it:
// MaxRedirects is negative, the target is ambiguous or unusable, or a 303 to the start request names the result. It
// returns a failure if the client must not follow the redirect, because of an untrusted target or too many redirects.
func (c *client) redirect(a *answer) (*redirect, *status.Failure) {
	asked := a.asked
	isResult := asked.start && c.Follow == "self" && a.code == http.StatusSeeOther
	if !isRedirect(a.code) || c.MaxRedirects < 0 || isAmbiguous(a.code, asked.method) || isResult {
		return nil, nil
	}
	r := &redirect{code: a.code, from: asked.at, start: asked.start, date: a.Date}
	r.toGET = a.code == http.StatusSeeOther && asked.method != http.MethodHead // RFC 9110 section 15.4.4
	var err error
	r.to, err = c.refer(r.from, a.Header.Get("Location"))
	if err == nil && asked.body != nil && !r.toGET {
		err = c.mayTakeBody(r.from, r.to)
	}
	n, most := len(asked.redirects), c.MaxRedirects
	if r.start && !r.toGET {
		most = min(most, maxSends-1)
	}
	switch {
	case errors.Is(err, ErrUntrusted):
		words := fmt.Sprintf("redirected by %d to %s, which was not followed: it %s", r.code, urlName(r.to.url), err)
		return nil, fail(status.FailureHopeless, words, err)
	case err != nil:
		return nil, nil
	case n == most:
		words := fmt.Sprintf("redirect loop: more than %d redirects, the last to %s", n, urlName(r.to.url))
		return nil, fail(status.FailureHopeless, words, nil)
	}
	return r, nil
}

// describe adds the redirects of the call to a: Elsewhere, Moved, Redirect, Started and a remark for each redirect. It does
// nothing without redirects.
func (c *client) describe(a *answer) {
	n := len(a.asked.redirects)
	if n == 0 {
		return
	}
	from, to := a.asked.redirects[0].from, a.asked.redirects[n-1].to
	first, last := from.url, to.url
	a.Elsewhere = !sameOrigin(first, last) && !upgraded(first, last)
	isWithheld := a.Failure == nil && !to.trusted && c.guards(from)
	a.Moved = isWithheld || from.leavesFor(to)
	if a.Redirect = urlName(last); !a.Elsewhere {
		a.Redirect = strings.TrimPrefix(a.Redirect, last.Scheme+"://"+last.Host)
	}
	if isWithheld {
		a.Redirect += " without the credentials"
	} else if a.Moved && !a.Elsewhere && first.Path == last.Path {
		a.Redirect += " with another query"
	}
	started := make(map[string]time.Time)
	for _, r := range a.asked.redirects {
		if r.start {
			started[r.from.origin()] = r.date
		}
		if a.Failure == nil {
			a.remark(fmt.Sprintf("redirected by %d to %s", r.code, urlName(r.to.url)))
		}
	}
	a.Started = started
}

// isRedirect reports whether code is a redirect that a client may follow: 301, 302, 303, 307 or 308.
func isRedirect(code int) bool {
	return slices.Contains([]int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect}, code)
}

// isAmbiguous reports whether the target of a redirect has two possible meanings: a 301 or 302 to a POST names the new
// address for the request (RFC 9110 sections 15.4.2 and 15.4.3) or, by custom, the address of the result.
func isAmbiguous(code int, method string) bool {
	return method == http.MethodPost && (code == http.StatusMovedPermanently || code == http.StatusFound)
}
