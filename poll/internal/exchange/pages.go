package exchange

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// maxPages is how many pages of a list one look reads at most.
const maxPages = 1000

// A pager says where the next page of a list is. The zero value: an answer is one page.
type pager struct {
	links bool // the Link header says it
	reference
}

// parsePager parses poll.HTTP's Next.
func parsePager(s string, opts ...expr.Option) (pager, error) {
	switch {
	case s == "" || s == "none":
		return pager{}, nil
	case s == "auto":
		return pager{links: true}, nil
	case instead(s) != "":
		return pager{}, fmt.Errorf("%s is no next page: write %s", s, instead(s))
	}
	r, err := parseReference(s, opts...)
	if err == nil && !r.varies() { // it is not shown, since a URL can hold secrets
		err = errors.New("what names the next page is the same on every page: it takes an expression, " +
			"in a URL one in braces, as in ?page_token={.next}")
	}
	return pager{reference: r}, err
}

// pages reports whether an answer may have further pages.
func (p pager) pages() bool { return p.links || p.explicit() }

var (
	// errLastPage means that a page names no next one.
	errLastPage = errors.New("is the last page")
	// errUnknownPage means that a page cannot be asked for the next one.
	errUnknownPage = errors.New("cannot be read")
	// errOverlooked means that a page tells of another one otherwise than where that is looked for.
	errOverlooked = errors.New("tells of another page")
)

// next returns the place of the page after an answer, or [errLastPage].
func (p pager) next(ctx context.Context, a *answer, trustAll bool) (to place, err error) {
	if !p.links {
		return p.resolve(a.from, a.env(ctx), p.read, trustAll)
	}
	target, found := nextLink(a.Header["Link"])
	if !found {
		return place{}, cmp.Or(overlooked(a.Body, ""), errLastPage)
	}
	if to, err = a.from.refer(target, trustAll); err != nil {
		err = fmt.Errorf("its Link to the next page %w", err)
	}
	return to, err
}

// overlooked returns an error if a page where nothing names the next one tells of another: it
// is not taken for all of the list.
func overlooked(page []byte, words string) error {
	if member := status.NextPage(page); member != "" {
		return &safeError{words: words + member + " tells of another page", cause: errOverlooked}
	}
	return nil
}

// read reads the value that names the next page. Without a template that is the URL or the
// path of it: of anything else, such as a cursor, it is not known which parameter it is.
func (p pager) read(x *expr.Expr, env *expr.Env) (string, error) {
	got := x.Eval(env).Value()
	switch got.Kind {
	case expr.KindUnknown:
		return "", &safeError{words: got.Reason, cause: errUnknownPage}
	case expr.KindMissing:
		return "", cmp.Or[error](overlooked(env.Doc.Bytes(), got.Reason+", and "), &safeError{words: got.Reason, cause: errLastPage})
	case expr.KindNull:
		return "", errLastPage
	}
	if got.Raw == "false" || got.Raw == `""` {
		return "", errLastPage
	}
	value, err := textOf(x, got)
	if err == nil && p.template == nil && !isURL(value) {
		err = fmt.Errorf("the value of %s is neither a URL nor a path: if it is a parameter, ?NAME={%s} says which", x, x)
	}
	return value, err
}

// readList makes the observation of a good answer that of a whole list.
func (s *Session) readList(ctx context.Context, o *status.Observation, first *answer, asked call) {
	if s.pager.pages() && isPage(first) && o.Following.Next == "" && o.Following.Missing == "" {
		s.readPages(ctx, o, first, asked)
	}
	if s.client.FollowEach && o.Good() {
		s.list(ctx, o, first)
	}
}

// readPages adds the pages behind the first one of a list to its observation. If one of
// them cannot be had, the observation is about that one.
func (s *Session) readPages(ctx context.Context, o *status.Observation, first *answer, next call) {
	began := time.Now()
	last, seen := first, make(map[string]int)
	for n := 1; !o.Truncated; n++ {
		seen[next.at.identity()] = n
		to, err := s.nextPage(ctx, n, last, next, seen)
		if endsList(err, last, n) {
			s.remarkMissing(o, err)
			break
		}
		s.paged = true
		if err != nil {
			failPage(o, failed(unread(ctx, err, time.Since(began)), nil), n)
			return
		}
		if words := withheld(last.from, to); words != "" {
			o.Remarks = append(o.Remarks, fmt.Sprintf("page %d of the list is at %s", n+1, urlName(to.url))+words)
		}
		s.client.hold.Kept += int64(len(last.Body))
		next = s.callPage(n, last, next, to)
		if next.limit <= 0 {
			o.Truncated = true
			break
		}
		last = s.askPage(ctx, next)
		if last.Good() && !isPage(last) {
			last = failed(fail(status.FailureTransient, "it is no JSON", nil), last.redirects)
		}
		if !last.Good() {
			failPage(o, last, n+1)
			return
		}
		last.Truncated = last.Truncated || int64(len(last.Body)) > next.limit // as what a 304 confirms may be
		addPage(o, last)
	}
	if o.Truncated {
		const words = "not all of the list is kept: its pages are longer than %d bytes"
		o.Remarks = append(o.Remarks, fmt.Sprintf(words, s.client.MaxBody))
	}
}

// A Pace calls ask when a further request of a look may be made at a place, and again as long
// as its answer is one that was refused for load; not at all once ctx is done.
type Pace func(ctx context.Context, place string, ask func() status.Observation)

// PacePages has the further pages of a list wait for pace, and no request take longer than
// limit, if that is not 0. It reports whether there may be further pages.
func (s *Session) PacePages(pace Pace, limit time.Duration) bool {
	if s.pager.pages() {
		s.pace, s.client.limit = pace, limit
	}
	return s.pager.pages()
}

// askPage asks for a page.
func (s *Session) askPage(ctx context.Context, next call) (a *answer) {
	s.pace(ctx, next.at.origin(), func() status.Observation {
		a, _ = s.client.ask(ctx, next)
		return observe(a)
	})
	if a == nil {
		a = failed(cutOff(ctx, "", false, 0), nil)
	}
	return a
}

// callPage returns the call for the page after page n, which was asked for as said.
func (s *Session) callPage(n int, last *answer, asked call, to place) call {
	asked.at, asked.limit = to, s.client.MaxBody-s.client.hold.Kept
	if slices.ContainsFunc(last.redirects, func(r redirect) bool { return r.toGET }) {
		asked.method, asked.body = http.MethodGet, nil
	}
	if asked.cache != nil {
		asked.cache.page = n
	}
	return asked
}

// identity tells whether the requests for two pages are the same.
func (p place) identity() string { return p.origin() + p.url.RequestURI() }

// nextPage returns the place of the page after page n, which was asked for as said.
func (s *Session) nextPage(ctx context.Context, n int, last *answer, asked call, seen map[string]int) (to place, err error) {
	to, err = s.pager.next(ctx, last, s.client.LocationTrusted)
	if err == nil && len(asked.body) > 0 {
		err = s.client.mayTakeBody(last.from, to)
	}
	if err != nil {
		return place{}, err
	}
	earlier, loop := seen[to.identity()]
	switch {
	case loop:
		return place{}, fmt.Errorf("it names page %d as the next one: a loop", earlier)
	case n == maxPages:
		return place{}, fmt.Errorf("it names another one, and at most %d are read: "+
			"ask for longer pages, or for fewer elements", maxPages)
	case len(to.url.String()) > maxURL:
		return place{}, fmt.Errorf("the URL of the next one is longer than %d bytes", maxURL)
	}
	return to, nil
}

// unread is the failure of a look at a list whose next page cannot be asked for. What cannot
// be read may be readable later. All else is hopeless, a loop, too: a position in a list
// moves on from page to page even while the list changes, so one that comes back is a
// mistake of the server or of the expression, which each look would meet again.
func unread(ctx context.Context, err error, took time.Duration) *status.Failure {
	switch {
	case ctx.Err() != nil:
		return cutOff(ctx, "", false, took)
	case errors.Is(err, errOverlooked):
		f := fail(status.FailureTransient, err.Error(), err)
		f.Advice.Code = status.AdviceNext
		return f
	case errors.Is(err, errUnknownPage):
		return fail(status.FailureTransient, err.Error(), err)
	}
	return fail(status.FailureHopeless, err.Error(), err)
}

// failPage makes an observation that of a page that cannot be had, or that of the last page
// before one.
func failPage(o *status.Observation, a *answer, n int) {
	following, remarks := o.Following, o.Remarks
	*o = observe(a)
	o.Following, o.Remarks, o.Page = following, append(remarks, o.Remarks...), n
}

// addPage adds a page to the observation of the first one.
func addPage(o *status.Observation, a *answer) {
	o.Size += a.Size
	o.NotModified = o.NotModified && a.NotModified
	o.Exhausted = o.Exhausted || a.Exhausted
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
	text := bytes.TrimPrefix(a.Body, []byte("\ufeff"))
	_, err := json.NewDecoder(bytes.NewReader(text)).Token()
	return a.Good() && (err == nil || errors.Is(err, io.EOF))
}

// endsList reports whether the error of [pager.next] means that the list ends with page n. A
// first page without a document is an empty list of JSON lines, and names nothing; a later
// one may have been lost.
func endsList(err error, a *answer, n int) bool {
	return errors.Is(err, errLastPage) ||
		n == 1 && errors.Is(err, errUnknownPage) && len(bytes.TrimSpace(a.Body)) == 0
}

// remarkMissing says that what would name the next page is not even on the first page of the
// first list: it may be misspelled, which nothing else would show.
func (s *Session) remarkMissing(o *status.Observation, last error) {
	if !errors.Is(last, errLastPage) {
		return
	}
	if missing, ok := errors.AsType[*safeError](last); ok && !s.paged {
		o.Doubt = "no next page: " + missing.words
	}
	s.paged = true
}
