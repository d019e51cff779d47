package world

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A fault is what goes wrong with one request: the Nth for a key, see [request].
type fault struct {
	Key  string
	N    int
	Kind string
	Die  uint64 // decides the rest
}

// A trouble is a kind of fault. It makes of an honest reply another one, with chance of its own.
type trouble struct {
	isStart bool // it may befall the request that starts an operation
	isLook  bool // or one that looks
	// excuse says why the wait may end in ERROR by it, "" if it may not.
	excuse string
	// unprocessed means that a request that starts something is refused, and starts nothing.
	unprocessed bool
	make        func(q *request, rep *reply, r *rand.Rand)
}

// troubles are all kinds of fault.
var troubles = map[string]trouble{
	"busy":       {isStart: true, isLook: true, unprocessed: true, make: busy},
	"5xx":        {isLook: true, make: code(500, 502, 503, 504, 408, 425)},
	"5xx-start":  {isStart: true, excuse: "the start was answered 5xx", make: code(500, 502, 504)},
	"refused":    {isStart: true, isLook: true, unprocessed: true, excuse: "refused", make: code(400, 401, 403, 409, 422, 501, 505)},
	"missing":    {isLook: true, excuse: "404", make: code(404, 410)},
	"reset":      {isLook: true, make: func(_ *request, rep *reply, _ *rand.Rand) { rep.reset = true }},
	"lost":       {isStart: true, excuse: "the start's answer was lost", make: func(_ *request, rep *reply, _ *rand.Rand) { rep.reset = true }},
	"unheard":    {isStart: true, unprocessed: true, excuse: "the start was lost", make: func(_ *request, rep *reply, _ *rand.Rand) { rep.reset = true }},
	"cut":        {isLook: true, make: cut},
	"cut-start":  {isStart: true, excuse: "the start's answer was cut", make: cut},
	"hang":       {isLook: true, make: func(_ *request, rep *reply, _ *rand.Rand) { rep.hang = true }},
	"hang-start": {isStart: true, excuse: "the start was not answered", make: func(_ *request, rep *reply, _ *rand.Rand) { rep.hang = true }},
	"slow":       {isLook: true, make: func(_ *request, rep *reply, r *rand.Rand) { rep.late = drawn(r, time.Second, 40*time.Second) }},
	"dribble":    {isLook: true, make: func(_ *request, rep *reply, r *rand.Rand) { rep.dribble = drawn(r, time.Millisecond, time.Second) }},
	"login":      {isStart: true, isLook: true, unprocessed: true, excuse: "a redirect to the login page", make: redirect("/login")},
	"elsewhere":  {isStart: true, isLook: true, unprocessed: true, excuse: "a redirect to another origin", make: redirect("http://b.test/ops/7")},
	"loop":       {isLook: true, excuse: "a redirect loop", make: redirect("")},
	"slash":      {isLook: true, make: slash},
	"empty":      {isLook: true, make: page("")},
	"html":       {isLook: true, make: page("<html><h1>state: done</h1></html>")},
	"204":        {isLook: true, make: func(_ *request, rep *reply, _ *rand.Rand) { rep.lie(204, "") }},
	"lie":        {isLook: true, excuse: "a document that tells of an error", make: func(_ *request, rep *reply, r *rand.Rand) { rep.lie(200, lies[r.IntN(len(lies))]) }},
	"partial":    {isLook: true, make: func(_ *request, rep *reply, r *rand.Rand) { rep.code, rep.honest = 206, false }},
	"twice":      {isLook: true, make: twice},
	"stale":      {isLook: true, make: stale},
	"unasked":    {isLook: true, make: unasked},
	"early":      {isStart: true, isLook: true, make: func(_ *request, rep *reply, _ *rand.Rand) { rep.early = true }},
	"garbage":    {isLook: true, make: func(_ *request, rep *reply, _ *rand.Rand) { rep.garbage, rep.honest = true, false }},
	"null list":  {isLook: true, make: nullList},
	"list error": {isLook: true, excuse: "an error beside an empty list", make: page(`{"errors":["partial"],"jobs":[]}`)},
}

var troubleNames = slices.Sorted(maps.Keys(troubles))

// drawn returns a time between two.
func drawn(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)))
}

func page(body string) func(*request, *reply, *rand.Rand) {
	return func(_ *request, rep *reply, _ *rand.Rand) { rep.lie(200, body) }
}

// code makes error pages of which some look as if all were well.
func code(codes ...int) func(*request, *reply, *rand.Rand) {
	return func(q *request, rep *reply, r *rand.Rand) {
		body := []string{"", "<html>state: done</html>", (&operation{ID: 7}).doc("done", 0)}[r.IntN(3)]
		rep.lie(codes[r.IntN(len(codes))], body)
	}
}

// busy asks for a wait, in one of the forms that servers have for that.
func busy(q *request, rep *reply, r *rand.Rand) {
	rep.lie(429, []string{"", (&operation{ID: 7}).doc("done", 0)}[r.IntN(2)])
	if r.IntN(3) == 0 {
		rep.code = 503
	}
	seconds := 1 + r.IntN(8)
	hint, text := time.Duration(seconds)*time.Second, ""
	switch k := r.IntN(10); {
	case k < 5:
		text = "Retry-After: " + strconv.Itoa(seconds)
	case k < 7:
		at := q.now().Add(hint).Truncate(time.Second)
		text, hint = "Retry-After: "+at.UTC().Format(http.TimeFormat), 0
	case k < 8 && rep.code == 429:
		text, hint = []string{"Retry-After: soon", "Retry-After: 0", "Retry-After: -3", "X-None: 1"}[r.IntN(4)], 0
	case k < 9:
		text = fmt.Sprintf("RateLimit: limit=10, remaining=0, reset=%d\r\nRetry-After: %d", seconds, seconds)
	default:
		text, hint = fmt.Sprint("Retry-After: ", 1000+r.IntN(100000)), time.Hour
	}
	rep.head, rep.hint = append(rep.head, text), hint
}

// cut ends the answer in its body, whether its length was announced or not.
func cut(_ *request, rep *reply, r *rand.Rand) {
	if rep.code == 204 || rep.code == 304 {
		return
	}
	rep.cut, rep.chunked = 1+r.IntN(max(1, len(rep.body))), r.IntN(2) == 0
	rep.honest = false
}

// redirect leads away from what is asked for; "" leads to the same URL.
func redirect(to string) func(*request, *reply, *rand.Rand) {
	return func(q *request, rep *reply, r *rand.Rand) {
		where := to
		if where == "" {
			where = q.url
		}
		rep.lie([]int{301, 302, 303, 307, 308}[r.IntN(5)], "")
		rep.head, rep.hop = append(rep.head, "Location: "+where), to == ""
	}
}

// nullList says null in place of a page that the one before has promised.
func nullList(_ *request, rep *reply, _ *rand.Rand) {
	if rep.page != nil && rep.page.number > 0 {
		rep.lie(200, `{"jobs":null}`)
	}
}

// slash leads to the same resource, as many servers do with a path that lacks its last slash.
func slash(q *request, rep *reply, r *rand.Rand) {
	rep.lie([]int{301, 302, 307, 308}[r.IntN(4)], "")
	rep.head, rep.hop = append(rep.head, "Location: "+q.path+"/"+q.query), true
}

// twice puts members before their end again: the first of equal keys counts.
func twice(q *request, rep *reply, _ *rand.Rand) {
	if n := len(rep.body); n > 2 && rep.code == 200 && strings.Contains(rep.body, `"state":`) && q.life != nil {
		rep.body = rep.body[:n-1] + `,"state":"done","progress":100}`
	}
}

// unasked answers 304 to who has nothing yet.
func unasked(q *request, rep *reply, _ *rand.Rand) {
	if q.Header.Get("If-None-Match") == "" {
		rep.lie(304, "")
	}
}

// stale answers what was so some seconds ago.
func stale(q *request, rep *reply, r *rand.Rand) {
	if q.life == nil {
		return
	}
	at := q.now().Add(-drawn(r, 0, 20*time.Second))
	if at.Before(q.life.started) {
		return
	}
	rep.about(q.life, at)
}
