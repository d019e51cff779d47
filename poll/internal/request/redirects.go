package request

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/pollcli/poll/status"
)

// maxSends limits how often one attempt sends a start request because of redirects. Each server that receives the
// request may start the operation.
const maxSends = 3

// sendFollowing sends the request that next describes, and follows redirects. It returns the last response, or
// a response with a failure.
func (c *client) sendFollowing(ctx context.Context, next call) *response {
	next.began = time.Now()
	for {
		a := c.send(ctx, next)
		r, hopeless := c.redirect(a)
		if hopeless != nil {
			a = failed(hopeless, a.call)
			a.unsent = next.start // the redirecting server has not started the operation
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

// redirect returns the redirect that the client should follow after the response a. It returns nil, nil if the
// response itself is the result:
//
//   - the response is not a redirect, or MaxRedirects is negative
//   - the redirect is ambiguous (see isAmbiguous), or its Location is unusable
//   - the response is a 303 to the start request, and Follow is "self": the Location names the result
//
// It returns a failure if the client must not follow the redirect, because the Location is untrusted or there were
// too many redirects.
func (c *client) redirect(a *response) (*redirect, *status.Failure) {
	sent := a.call
	isResult := sent.start && c.Follow == "self" && a.code == http.StatusSeeOther
	if !isRedirect(a.code) || c.MaxRedirects < 0 || isAmbiguous(a.code, sent.method) || isResult {
		return nil, nil
	}
	r := &redirect{code: a.code, from: sent.at, start: sent.start, date: a.Date}
	r.toGET = a.code == http.StatusSeeOther && sent.method != http.MethodHead // RFC 9110 section 15.4.4
	var err error
	r.to, err = c.refer(r.from, a.Header.Get("Location"))
	if err == nil && sent.body != nil && !r.toGET {
		err = c.mayTakeBody(r.from, r.to)
	}
	n, most := len(sent.redirects), c.MaxRedirects
	if r.start && !r.toGET {
		most = min(most, maxSends-1)
	}
	switch {
	case errors.Is(err, ErrUntrusted):
		words := fmt.Sprintf("redirected by %d to %s, which was not followed: the redirect %s", r.code, urlName(r.to.url), err)
		return nil, fail(status.FailureHopeless, words, err)
	case err != nil:
		return nil, nil
	case n >= most: // a saved position may have more redirects than most
		words := fmt.Sprintf("redirect loop: more than %d redirects, the last to %s", n, urlName(r.to.url))
		return nil, fail(status.FailureHopeless, words, nil)
	}
	return r, nil
}

// isRedirect reports whether code is one of the redirects that clients follow automatically: 301, 302, 303, 307 or
// 308.
func isRedirect(code int) bool {
	return slices.Contains([]int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect}, code)
}

// isAmbiguous reports whether a redirect can be understood in two ways. After a POST, the Location of a 301 or 302 is
// either the new address for the same request (RFC 9110 sections 15.4.2 and 15.4.3) or, by custom, the address of the
// result.
func isAmbiguous(code int, method string) bool {
	return method == http.MethodPost && (code == http.StatusMovedPermanently || code == http.StatusFound)
}
