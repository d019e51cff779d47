package request

import (
	"bytes"
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
	// maxPages is the largest number of pages that one attempt reads.
	maxPages = 1000
	// maxTries is the number of times that one attempt requests a page which the server rejects because of load.
	maxTries = 10
)

// errLastPage means that a page names no next page. A [safeError] that wraps errLastPage names the missing value.
var errLastPage = errors.New("is the last page")

// pages returns the answer of the layer fresh, with the further pages of a list.
func (c *client) pages(ctx context.Context, next call) *answer {
	whole := c.fresh(ctx, next)
	if c.next == nil || next.single || whole.asked.start || !isPage(whole) {
		return whole
	}
	seen := map[string]int{next.at.identity(): 1, whole.asked.at.identity(): 1}
	last, room := whole, c.MaxBody
	for n := 1; !whole.Truncated; {
		to, err := c.after(ctx, last, n, seen)
		if err != nil {
			return whole.without(failed(unread(ctx, err), call{}), n)
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
		last = c.page(ctx, call{Attempt: next.Attempt, method: last.asked.method, body: last.asked.body, at: to, room: room})
		if !last.Good() {
			return whole.without(last, n)
		}
		addPage(&whole.seen, last)
		seen[to.identity()] = n
	}
	whole.remark(fmt.Sprintf("not all of the list is kept: its pages are longer than %d bytes", c.MaxBody))
	return whole
}

// after returns the location of the page after a, which is page n. It returns a location without a URL if a is the last
// page. seen maps the identity of each page's location to the number of the page. A page that was already read is an
// error, except if the list of a is empty and a names itself: then a is the last page.
func (c *client) after(ctx context.Context, a *answer, n int, seen map[string]int) (location, error) {
	to, err := c.next.after(ctx, c, a, n)
	if err != nil || to.url == nil {
		return location{}, err
	}
	if len(a.asked.body) > 0 {
		err = c.mayTakeBody(a.asked.at, to)
	}
	if earlier, loop := seen[to.identity()]; loop && earlier == n && emptyList().Match(a.Body) && !fullList().Match(a.Body) {
		a.Complete = true // the position in the list stays the same, so no client can read more
		return location{}, nil
	} else if loop {
		err = fmt.Errorf("it names page %d as the next one: a loop", earlier)
	} else if n == maxPages {
		err = fmt.Errorf("it names another one, and at most %d are read: "+
			"ask for longer pages, or for fewer elements", maxPages)
	}
	return to, err
}

// page requests a page. It repeats the request while the server rejects it because of load, up to maxTries times and as far
// as the Pace allows. A successful response that is not JSON is a failure.
func (c *client) page(ctx context.Context, next call) (a *answer) {
	for range maxTries {
		if f := next.wait(ctx, next.at); f != nil {
			return failed(f, next)
		}
		a = c.fresh(ctx, next)
		if next.Pace == nil || !next.Pace.Done(next.at.origin(), a.observation()) {
			break
		}
	}
	if a.Good() && !isPage(a) {
		return failed(fail(status.FailureTransient, "it is no JSON", nil), a.asked)
	}
	return a
}

// without turns a into the result of an incomplete list. page is the response or failure of page n, or a failure to find
// the page after page n. a keeps its remarks.
func (a *answer) without(page *answer, n int) *answer {
	remarks := append(a.Remarks, page.Remarks...)
	a.seen, a.code = page.seen, page.code
	a.Remarks, a.Page = remarks, n
	return a
}

// unread returns the failure of an attempt whose next page cannot be requested because of err. A page that cannot be read
// may be readable later, so err is then a transient failure. Every other error is hopeless. A loop is also hopeless: a
// position in a list advances from page to page even while the list changes. So a position that returns is a mistake
// of the server or of the expression, and every attempt would meet it.
func unread(ctx context.Context, err error) *status.Failure {
	if ctx.Err() != nil {
		return cutOff(ctx, false, 0)
	}
	if f, ok := errors.AsType[*status.Failure](err); ok {
		return f
	}
	return fail(status.FailureHopeless, err.Error(), err)
}

// addPage adds page a to o, the observation of the first page. It keeps the longest Hint, the last Quota, the oldest Date
// and the largest Age. A truncated page is not kept.
func addPage(o *seen, a *answer) {
	o.Size += a.Size
	o.Exhausted = o.Exhausted || a.Exhausted
	o.Age = max(o.Age, a.Age)
	if isOlder := o.Date.IsZero() || a.Date.Before(o.Date); isOlder && a.Origin == o.Origin && !a.Date.IsZero() {
		o.Date = a.Date
	}
	if a.Moved {
		o.Moved, o.Redirect = true, a.Redirect
	}
	if a.Hint != nil && (o.Hint == nil || a.Hint.Wait > o.Hint.Wait) {
		o.Hint = a.Hint
	}
	if a.Quota != nil {
		o.Quota = a.Quota
	}
	if o.Truncated = a.Truncated; !a.Truncated {
		o.Pages = append(o.Pages, a.Body)
	}
}

// isPage reports whether a is successful, and starts like a JSON document or JSON lines. An empty body is a list without
// elements in JSON lines.
func isPage(a *answer) bool {
	_, err := json.NewDecoder(bytes.NewReader(expr.NewDoc(a.Body).Bytes())).Token()
	return a.Good() && (err == nil || errors.Is(err, io.EOF))
}

// A pager finds the next page of a list: by a reference, or by the Link header for "auto".
type pager struct {
	reference
	searched bool // a page was already searched for the next page
}

// parsePager parses the Next of poll.HTTP. It returns nil for "" and "none": responses have one page.
func parsePager(s string, opts ...expr.Option) (*pager, error) {
	if s == "" || s == "none" {
		return nil, nil
	}
	r, err := parseReference(s, []string{"auto"}, opts...)
	if err == nil && r.explicit() && !r.varies() { // not shown: a URL can hold secrets
		err = errors.New("the expression for the next page is the same on every page: it takes an expression, " +
			"in a URL one in braces, as in ?page_token={.next}")
	}
	return &pager{reference: r}, err
}

// after returns the location of the page after a, which is page n. It returns a location without a URL if a is the last
// page. It returns a transient failure if a cannot be read, or if a names a further page in another way. On the first
// call, a missing value leads to a Doubt, because the expression may be misspelled.
func (p *pager) after(ctx context.Context, c *client, a *answer, n int) (location, error) {
	to, err := p.of(ctx, c, a)
	earlier := p.searched
	p.searched = true
	_, unreadable := errors.AsType[*status.Failure](err)
	missing, isMissing := errors.AsType[*safeError](err)
	switch {
	case unreadable && n == 1 && len(bytes.TrimSpace(a.Body)) == 0:
		return location{}, nil // an empty list of JSON lines; the body of a later page may have been lost
	case !errors.Is(err, errLastPage):
		return to, err
	case !isMissing:
		return location{}, nil
	}
	// A page is not the last page if its document or its header names a further page.
	if member := meaning.ReadPage(a.Body, a.Header).Next(n); member != "" {
		words := strings.TrimPrefix(missing.words+", and "+member+" names another page", ", and ")
		f := fail(status.FailureTransient, words, nil)
		f.Advice.Code = status.AdviceNext
		return location{}, f
	}
	// The expression for the next page may be misspelled. Only this doubt shows the mistake.
	if !earlier && missing.words != "" {
		a.Doubt = "no next page: " + missing.words
	}
	return location{}, nil
}

// of returns the location of the page after a. The error wraps [errLastPage] if a names no next page.
func (p *pager) of(ctx context.Context, c *client, a *answer) (to location, err error) {
	if p.explicit() {
		return p.resolve(c, a.asked.at, a.env(ctx), p.read)
	}
	target, found := meaning.NextLink(a.Header["Link"])
	if !found {
		return location{}, &safeError{cause: errLastPage}
	}
	if to, err = c.refer(a.asked.at, target); err != nil {
		err = fmt.Errorf("its Link to the next page %w", err)
	}
	return to, err
}

// read returns the value that names the next page. It is a [reader]. If the value is the whole URL, it must be a URL, a path or a
// query: a cursor alone does not show the name of its parameter. For null, false, "" and a missing value the error
// wraps errLastPage.
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
		err = fmt.Errorf("the value of %s is neither a URL nor a path: if it is a parameter, ?NAME={%s} says which", x, x)
	}
	return value, err
}

var (
	// emptyList matches an empty array in a JSON document, fullList an array with elements.
	emptyList = words.Pattern(`\[\s*\]`)
	fullList  = words.Pattern(`\[\s*[^\s\]]`)
)
