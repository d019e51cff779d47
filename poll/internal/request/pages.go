package request

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pollcli/poll/internal/document"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

const (
	// maxPages is how many pages of a list one look reads at most.
	maxPages = 1000
	// maxTries is how often one look asks for a page that is refused for load.
	maxTries = 10
)

// errLastPage means that a page names no next one; a [safeError] around it says which
// value is missing.
var errLastPage = errors.New("is the last page")

// A pages adds the further pages of a list to the answer that is the first.
type pages struct {
	layer
	client *client
	next   *pager
}

func (p pages) do(ctx context.Context, next call) *answer {
	whole := p.layer.do(ctx, next)
	if next.single || whole.asked.start || !isPage(whole) {
		return whole
	}
	seen := map[string]int{next.at.identity(): 1, whole.asked.at.identity(): 1}
	last, room := whole, p.client.MaxBody
	for n := 1; !whole.Truncated; {
		to, err := p.after(ctx, last, n, seen)
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
		last = p.ask(ctx, call{Attempt: next.Attempt, method: last.asked.method, body: last.asked.body, at: to, room: room})
		if !last.Good() {
			return whole.without(last, n)
		}
		addPage(&whole.seen, last)
		seen[to.identity()] = n
	}
	whole.remark(fmt.Sprintf("not all of the list is kept: its pages are longer than %d bytes", p.client.MaxBody))
	return whole
}

// after returns the location of the page after page n, no URL if that is the last. seen has the
// numbers of the pages.
func (p pages) after(ctx context.Context, a *answer, n int, seen map[string]int) (location, error) {
	to, err := p.next.after(ctx, p.client, a, n)
	if err != nil || to.url == nil {
		return location{}, err
	}
	if len(a.asked.body) > 0 {
		err = p.client.mayTakeBody(a.asked.at, to)
	}
	if earlier, loop := seen[to.identity()]; loop && earlier == n && emptyList().Match(a.Body) && !fullList().Match(a.Body) {
		a.Complete = true // the position does not move on, so no client can read more
		return location{}, nil
	} else if loop {
		err = fmt.Errorf("it names page %d as the next one: a loop", earlier)
	} else if n == maxPages {
		err = fmt.Errorf("it names another one, and at most %d are read: "+
			"ask for longer pages, or for fewer elements", maxPages)
	}
	return to, err
}

// ask asks for a page, and again while it is refused for load.
func (p pages) ask(ctx context.Context, next call) (a *answer) {
	for range maxTries {
		if f := next.wait(ctx, next.at); f != nil {
			return failed(f, next)
		}
		a = p.layer.do(ctx, next)
		if next.Pace == nil || !next.Pace.Done(next.at.origin(), a.observation()) {
			break
		}
	}
	if a.Good() && !isPage(a) {
		return failed(fail(status.FailureTransient, "it is no JSON", nil), a.asked)
	}
	return a
}

// without makes the answer that of page n, which cannot be had, or which is the last before
// one that cannot.
func (a *answer) without(page *answer, n int) *answer {
	remarks := append(a.Remarks, page.Remarks...)
	a.seen, a.code = page.seen, page.code
	a.Remarks, a.Page = remarks, n
	return a
}

// unread is the failure of a look at a list whose next page cannot be asked for. What cannot
// be read may be readable later. All else is hopeless, a loop, too: a position in a list
// moves on from page to page even while the list changes, so one that comes back is a
// mistake of the server or of the expression, which each look would meet again.
func unread(ctx context.Context, err error) *status.Failure {
	if ctx.Err() != nil {
		return cutOff(ctx, false, 0)
	}
	if f, ok := errors.AsType[*status.Failure](err); ok {
		return f
	}
	return fail(status.FailureHopeless, err.Error(), err)
}

// addPage adds a page to the observation of the first one.
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

// isPage reports whether an answer is good, and begins as JSON does: a document, a line of
// several, or nothing, which is a list without elements in JSON lines.
func isPage(a *answer) bool {
	_, err := json.NewDecoder(bytes.NewReader(expr.NewDoc(a.Body).Bytes())).Token()
	return a.Good() && (err == nil || errors.Is(err, io.EOF))
}

// A pager says where the next page of a list is: a reference, or "auto" for the Link header.
type pager struct {
	reference
	known bool // it is known whether the first page of a list names the next one
}

// parsePager parses poll.HTTP's Next. It returns nil for an answer of one page.
func parsePager(s string, opts ...expr.Option) (*pager, error) {
	if s == "" || s == "none" {
		return nil, nil
	}
	r, err := parseReference(s, []string{"auto"}, opts...)
	if err == nil && r.explicit() && !r.varies() { // it is not shown, since a URL can hold secrets
		err = errors.New("the expression for the next page is the same on every page: it takes an expression, " +
			"in a URL one in braces, as in ?page_token={.next}")
	}
	return &pager{reference: r}, err
}

// after returns the location of the page after an answer, the n-th page, no URL if that is the
// last.
func (p *pager) after(ctx context.Context, c *client, a *answer, n int) (location, error) {
	to, err := p.of(ctx, c, a)
	known := p.known
	p.known = true
	_, unreadable := errors.AsType[*status.Failure](err)
	missing, isMissing := errors.AsType[*safeError](err)
	switch {
	case unreadable && n == 1 && len(bytes.TrimSpace(a.Body)) == 0:
		return location{}, nil // an empty list of JSON lines; a later page without text may have been lost
	case !errors.Is(err, errLastPage):
		return to, err
	case !isMissing:
		return location{}, nil
	}
	// A page is not the last one if its document or its header names a further page.
	if member := document.ReadPage(a.Body, a.Header).Next(n); member != "" {
		words := strings.TrimPrefix(missing.words+", and "+member+" names another page", ", and ")
		f := fail(status.FailureTransient, words, nil)
		f.Advice.Code = status.AdviceNext
		return location{}, f
	}
	// What would name the next page may be misspelled, which nothing else would show.
	if !known && missing.words != "" {
		a.Doubt = "no next page: " + missing.words
	}
	return location{}, nil
}

// of returns the location of the page after an answer, or [errLastPage].
func (p *pager) of(ctx context.Context, c *client, a *answer) (to location, err error) {
	if p.explicit() {
		return p.resolve(c, a.asked.at, a.env(ctx), p.read)
	}
	target, found := document.NextLink(a.Header["Link"])
	if !found {
		return location{}, &safeError{cause: errLastPage}
	}
	if to, err = c.refer(a.asked.at, target); err != nil {
		err = fmt.Errorf("its Link to the next page %w", err)
	}
	return to, err
}

// read reads the value that names the next page. Alone it is the URL or the path of it: of
// anything else, such as a cursor, it is not known which parameter it is.
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
	value, err := textOf(x, got)
	if err == nil && p.texts == nil && !isURL(value) {
		err = fmt.Errorf("the value of %s is neither a URL nor a path: if it is a parameter, ?NAME={%s} says which", x, x)
	}
	return value, err
}

var (
	// emptyList and fullList find a list without elements, and one with elements, in a JSON document.
	emptyList = words.Pattern(`\[\s*\]`)
	fullList  = words.Pattern(`\[\s*[^\s\]]`)
)
