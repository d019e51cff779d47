package request

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

const (
	// maxPages limits how many pages one attempt reads.
	maxPages = 1000
	// maxTries limits how often one attempt requests the same page while the server is overloaded.
	maxTries = 10
)

// errLastPage means that a page does not name a next page. It may be wrapped in a [safeError], which then names the
// value that is missing from the page.
var errLastPage = errors.New("is the last page")

// sendPages returns the response of the layer sendRenewed. If the response is the first page of a list, sendPages
// requests the further pages and adds them to the response.
func (c *client) sendPages(ctx context.Context, next call) *response {
	whole := c.sendRenewed(ctx, next)
	if c.next == nil || next.single || whole.call.start || !isPage(whole) {
		return whole
	}
	seen := map[string]int{next.at.identity(): 1, whole.call.at.identity(): 1}
	last, room := whole, c.MaxBody
	for n := 1; !whole.Truncated; {
		to, err := c.after(ctx, last, n, seen)
		if err != nil {
			return whole.incomplete(failed(unreadPage(ctx, err), call{}), n)
		}
		if to.url == nil {
			whole.Complete = last.Complete
			return whole
		}
		room -= int64(len(last.Body))
		if whole.Truncated = room <= 0; whole.Truncated {
			break
		}
		n++
		last = c.page(ctx, call{Attempt: next.Attempt, method: last.call.method, body: last.call.body, at: to, room: room})
		if !last.Good() {
			return whole.incomplete(last, n)
		}
		addPage(whole, last)
		seen[to.identity()] = n
	}
	whole.note(fmt.Sprintf("not all of the list is kept: its pages are longer than %d bytes", c.MaxBody))
	return whole
}

// after returns the location of the page that follows the page in the response a. n is the number of the page
// in a. If that page is the last page, after returns a location without a URL. seen maps the identity of each
// page's location to the page's number. A list that leads back to a page in seen is an error, with one
// exception: a page with an empty list that names itself is the last page.
func (c *client) after(ctx context.Context, a *response, n int, seen map[string]int) (location, error) {
	to, err := c.next.after(ctx, c, a, n)
	if err != nil || to.url == nil {
		return location{}, err
	}
	if len(a.call.body) > 0 {
		err = c.mayTakeBody(a.call.at, to)
	}
	if earlier, loop := seen[to.identity()]; loop && earlier == n && emptyList().Match(a.Body) && !fullList().Match(a.Body) {
		a.Complete = true // a list whose end names itself, so there is nothing more to read
		return location{}, nil
	} else if loop {
		err = fmt.Errorf("the page names page %d as the next page: a loop", earlier)
	} else if n == maxPages {
		err = fmt.Errorf("the page names another page, but poll reads at most %d: "+
			"request longer pages, or fewer elements", maxPages)
	}
	return to, err
}

// page sends next, the request for one page of a list. If the server rejects the request because of load, page
// sends it again, as long as next.Pace permits, up to maxTries times in all. Without a Pace, page sends the
// request only once. The response has a failure if the page is not JSON.
func (c *client) page(ctx context.Context, next call) (a *response) {
	for range maxTries {
		if f := next.wait(ctx, next.at); f != nil {
			return failed(f, next)
		}
		a = c.sendRenewed(ctx, next)
		if next.Pace == nil || !next.Pace.Done(next.at.origin, a.observation()) {
			break
		}
	}
	if a.Good() && !isPage(a) {
		return failed(fail(status.FailureTransient, "the page is not JSON", nil), a.call)
	}
	return a
}

// incomplete returns the response for an incomplete list. a is the response for the first page, and n is the number of
// the missing page. page is the response to the request for that page, or holds the reason why the page could not be
// requested. incomplete changes page, and returns page.
func (a *response) incomplete(page *response, n int) *response {
	page.call, page.unsent = a.call, a.unsent
	page.Hints, page.Page = append(a.Hints, page.Hints...), n
	return page
}

// unreadPage returns the failure of an attempt that cannot request the next page because of err. If err is or
// wraps a [status.Failure], unreadPage returns that failure: the previous page could not be read, but may be
// readable later. Any other error is hopeless. This includes a loop. Even if the list changes between two
// requests, each page must lead to a later position. So a loop is a mistake of the server or of the user's
// expression, and would occur in every attempt.
func unreadPage(ctx context.Context, err error) *status.Failure {
	if ctx.Err() != nil {
		return cutOff(ctx, false, 0)
	}
	if f, ok := errors.AsType[*status.Failure](err); ok {
		return f
	}
	return fail(status.FailureHopeless, err.Error(), err)
}

// addPage adds the page a to o, the response with the list's first page. It keeps the longest RetryAfter, the last
// Quota, the oldest Date and the largest Age of all pages. It does not add the body of a truncated page.
func addPage(o, a *response) {
	o.Size += a.Size
	o.Exhausted = o.Exhausted || a.Exhausted
	o.Age = max(o.Age, a.Age)
	if isOlder := o.Date.IsZero() || a.Date.Before(o.Date); isOlder && a.Origin == o.Origin && !a.Date.IsZero() {
		o.Date = a.Date
	}
	if a.Moved {
		o.Moved, o.Redirect = true, a.Redirect
	}
	if a.RetryAfter != nil && (o.RetryAfter == nil || a.RetryAfter.Wait > o.RetryAfter.Wait) {
		o.RetryAfter = a.RetryAfter
	}
	o.Quota = cmp.Or(a.Quota, o.Quota)
	if o.Truncated = a.Truncated; !a.Truncated {
		o.Pages = append(o.Pages, a.Body)
	}
}

// isPage reports whether the response a is successful and starts with JSON. An empty body counts, because JSON
// lines may have no elements.
func isPage(a *response) bool {
	_, err := json.NewDecoder(bytes.NewReader(expr.NewDoc(a.Body).Bytes())).Token()
	return a.Good() && (err == nil || errors.Is(err, io.EOF))
}

// A pager finds the next page of a list. It evaluates a reference or, for the keyword "auto", reads the Link header.
type pager struct {
	reference
	searched bool // after has been called before
}

// parsePager parses s, the Next of poll.HTTP. It returns nil if s is "" or "none", because responses are then single
// pages.
func parsePager(s string, opts ...expr.Option) (*pager, error) {
	if s == "" || s == "none" {
		return nil, nil
	}
	r, err := parseReference(s, []string{"auto"}, opts...)
	if err == nil && r.explicit() && !r.reads() { // the error does not repeat s, because a URL can hold secrets
		err = errors.New("the expression for the next page is the same on every page: write a part of the page, such as .next, " +
			"or in a URL ?page_token={.next}")
	}
	return &pager{reference: r}, err
}

// after returns the location of the page that follows the page in the response a. n is the number of the page
// in a. If that page is the last page, after returns a location without a URL. If the page cannot be read,
// after returns a transient failure. It does the same if the expression for the next page finds no value, but
// the page names a further page in another way. If the value is missing from the first page, after sets
// a.Doubt, because the expression may be misspelled.
func (p *pager) after(ctx context.Context, c *client, a *response, n int) (location, error) {
	to, err := p.nextOf(ctx, c, a)
	earlier := p.searched
	p.searched = true
	_, unreadable := errors.AsType[*status.Failure](err)
	missing, isMissing := errors.AsType[*safeError](err)
	switch {
	case unreadable && n == 1 && len(bytes.TrimSpace(a.Body)) == 0:
		return location{}, nil // JSON lines without elements. On a later page, an empty body may mean lost data
	case !errors.Is(err, errLastPage):
		return to, err
	case !isMissing:
		return location{}, nil
	}
	// If the document or the header names a further page in another way, this page is not the last page.
	if member := meaning.ReadPage(expr.NewDoc(a.Body), a.Header).Next(n); member != "" {
		words := strings.TrimPrefix(missing.words+", and "+member+" names another page", ", and ")
		f := fail(status.FailureTransient, words, nil)
		f.Hints = []status.Hint{{Kind: status.HintNext}}
		return location{}, f
	}
	// The expression for the next page may be misspelled. The Doubt is the only sign of that mistake.
	if !earlier && missing.words != "" {
		a.Doubt = "no next page: " + missing.words
	}
	return location{}, nil
}

// nextOf returns the location of the page that follows the page in the response a. If the page names no next
// page, the error wraps [errLastPage].
func (p *pager) nextOf(ctx context.Context, c *client, a *response) (to location, err error) {
	if p.explicit() {
		return p.resolve(c, a.call.at, a.env(ctx), p.read)
	}
	target, found := meaning.NextLink(a.Header["Link"])
	if !found {
		return location{}, &safeError{cause: errLastPage}
	}
	if to, err = c.refer(a.call.at, target); err != nil {
		err = fmt.Errorf("its Link to the next page %w", err)
	}
	return to, err
}

// read is a [reader] for the value that names the next page. If p has no URL in which to insert the value, the
// value must itself be a URL, a path or a query: a cursor alone does not show the name of its parameter. If the
// value is null, false, "" or missing, read returns an error that wraps errLastPage.
func (p *pager) read(x *expr.Expr, env *expr.Env) (string, error) {
	got := x.Eval(env).Value()
	switch {
	case got.Type == "unknown":
		return "", fail(status.FailureTransient, got.Reason, nil)
	case got.Type == "missing":
		return "", &safeError{words: got.Reason, cause: errLastPage}
	case got.Type == "null", got.Raw == "false", got.Raw == `""`:
		return "", errLastPage
	}
	value, err := TextOf(x, got)
	if err == nil && p.texts == nil && !isURL(value) {
		err = fmt.Errorf("the value of %s is neither a URL nor a path: if the value is a parameter, write ?NAME={%s}", x, x)
	}
	return value, err
}

var (
	// emptyList matches an empty array in a JSON document. fullList matches an array that has elements.
	emptyList = words.Pattern(`\[\s*\]`)
	fullList  = words.Pattern(`\[\s*[^\s\]]`)
)
