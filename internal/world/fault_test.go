package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// A fault is what goes wrong with one request: the Nth for a key, see [request].
type fault struct {
	Key  string `json:",omitzero"`
	N    int    `json:",omitzero"`
	Kind string `json:",omitzero"`
	Die  uint64 `json:",omitzero"` // decides the rest
}

// A trouble is a kind of fault. It makes another reply of an honest one.
type trouble struct {
	on     int    // which requests it befalls
	excuse string // why the wait may end in ERROR by it, "" if it may not
	make   func(q *request, rep *reply, r *rand.Rand)
}

// Which requests a trouble befalls.
const (
	aLook    = 1 << iota
	aStart   // that was processed
	aRefusal // a start that was not processed
	aRun     // a look by a command
	aConnect
	aStream
	aProgram // that streams
)

// troubles are all kinds of fault.
var troubles = map[string]trouble{
	"busy":        {aLook | aRun | aRefusal | aStream | aProgram, "", busy},
	"5xx":         {aLook | aRun | aStream | aProgram, "", code(500, 502, 503, 504, 408, 425)},
	"5xx start":   {aStart, "the start was answered 5xx", code(500, 502, 504)},
	"4xx":         {aLook | aRun | aRefusal | aStream, "4xx", code(400, 401, 403, 409, 422, 501, 505)},
	"missing":     {aLook | aRun | aStream, "404", code(404, 410)},
	"reset":       {aLook | aRun | aConnect | aStream | aProgram, "", func(_ *request, rep *reply, _ *rand.Rand) { rep.reset = true }},
	"reset start": {aStart, "the start's answer was lost", func(_ *request, rep *reply, _ *rand.Rand) { rep.reset = true }},
	"lost start":  {aRefusal, "the start was lost", func(_ *request, rep *reply, _ *rand.Rand) { rep.reset = true }},
	"cut":         {aLook | aRun, "", cut},
	"cut start":   {aStart, "the start's answer was cut", cut},
	"hang":        {aLook | aRun | aConnect | aStream | aProgram, "", func(_ *request, rep *reply, _ *rand.Rand) { rep.hang = true }},
	"hang start":  {aStart, "the start was not answered", func(_ *request, rep *reply, _ *rand.Rand) { rep.hang = true }},
	"slow":        {aLook | aRun | aConnect | aStream | aProgram, "", func(_ *request, rep *reply, r *rand.Rand) { rep.late = drawn(r, time.Second, 40*time.Second) }},
	"dribble":     {aLook, "", func(_ *request, rep *reply, r *rand.Rand) { rep.dribble = drawn(r, time.Millisecond, time.Second) }},
	"login":       {aLook | aRefusal | aStream, "a redirect to the login page", redirect("/login")},
	"elsewhere":   {aLook | aRefusal | aStream, "a redirect to another origin", redirect("http://b.testPATH")},
	"loop":        {aLook | aRefusal | aStream, "a redirect loop", redirect("")},
	"slash":       {aLook | aStream, "", slash},
	"empty":       {aLook | aRun | aStream | aProgram, "", page(200, "")},
	"html":        {aLook | aRun | aStream | aProgram, "", page(200, "<html><h1>state: done</h1></html>")},
	"204":         {aLook | aStream, "", page(204, "")},
	"lie":         {aLook | aRun | aStream, "a document that tells of an error", lie},
	"206":         {aLook, "", func(_ *request, rep *reply, r *rand.Rand) { rep.code, rep.honest = 206, false }},
	"twice":       {aLook | aRun, "", twice},
	"stale":       {aLook | aRun, "", stale},
	"304":         {aLook, "", unasked},
	"103":         {aLook | aStart | aStream, "", func(_ *request, rep *reply, _ *rand.Rand) { rep.early = true }},
	"garbage":     {aLook | aStream, "", func(_ *request, rep *reply, _ *rand.Rand) { rep.garbage, rep.honest = true, false }},
	"null page":   {aLook, "", nullPage},
	"error page":  {aLook, "an error beside an empty list", errorPage},
	"part page":   {aLook, "", partPage},
	"stream cut":  {aStream, "", endStream("stream cut")},
	"stream end":  {aStream | aProgram, "", endStream("stream end")},
	"stream mute": {aStream | aProgram, "", endStream("stream mute")},
}

var troubleNames = sorted(troubles)

func page(code int, body string) func(*request, *reply, *rand.Rand) {
	return func(_ *request, rep *reply, _ *rand.Rand) { rep.lie(code, body) }
}

// endStream has a stream end so, after some bytes.
func endStream(how string) func(*request, *reply, *rand.Rand) {
	return func(_ *request, rep *reply, _ *rand.Rand) { rep.stream = how }
}

func lie(_ *request, rep *reply, r *rand.Rand) {
	text := pick(r, lies...)
	if rep.page != nil && (rep.page.number > 0 || rep.page.gone) && strings.Contains(text, "jobs") { // which would be no lie
		text = "{}"
	}
	rep.lie(200, text)
}

// allIsWell is a document that looks as if all were well.
func (w *world) allIsWell() string {
	return (&operation{ID: 7, API: w.Ops[0].API}).doc("done", 0)
}

// code makes error pages.
func code(codes ...int) func(*request, *reply, *rand.Rand) {
	return func(q *request, rep *reply, r *rand.Rand) {
		rep.lie(pick(r, codes...), pick(r, "", "<html>state: done</html>", q.allIsWell()))
	}
}

// busy asks for a wait, in one of the forms that servers have for that.
func busy(q *request, rep *reply, r *rand.Rand) {
	rep.lie(pick(r, 429, 429, 503), pick(r, "", q.allIsWell()))
	seconds := 1 + r.IntN(8)
	text, hint := fmt.Sprint("Retry-After: ", seconds), time.Duration(seconds)*time.Second
	switch k := r.IntN(10); {
	case k < 3:
	case k < 5: // in the time of the server
		now := time.Now().Add(q.Skew)
		q.saw["Retry-After of a clock that is wrong"] = q.Skew != 0
		text = "Date: " + now.UTC().Format(http.TimeFormat) + "\r\nRetry-After: " + now.Add(hint).UTC().Format(http.TimeFormat)
	case k < 6 && rep.code == 429: // no hint
		text, hint = pick(r, "Retry-After: soon", "Retry-After: 0", "Retry-After: -3", "X-None: 1"), 0
	case k < 7:
		text = fmt.Sprintf("RateLimit: limit=10, remaining=0, reset=%d\r\n", seconds) + text
	default:
		text, hint = pick(r, "Retry-After: 86400", "Retry-After: 99999999999999999999", "Retry-After: 1000000000"), time.Hour
	}
	rep.head, rep.hint = append(rep.head, text), hint
}

// cut ends the answer in its body, whether its length was announced or not.
func cut(_ *request, rep *reply, r *rand.Rand) {
	if rep.code != 204 && rep.code != 304 {
		rep.cut, rep.chunked, rep.honest = 1+r.IntN(max(1, len(rep.body))), r.IntN(2) == 0, false
	}
}

// redirect leads away from the requested URL, whose path is PATH; "" leads to the same URL.
func redirect(to string) func(*request, *reply, *rand.Rand) {
	return func(q *request, rep *reply, r *rand.Rand) {
		isFurther := rep.page != nil && rep.page.number > 0
		rep.lie(pick(r, 301, 302, 303, 307, 308), "")
		if rep.hop = to == ""; rep.hop {
			rep.head = append(rep.head, "Location: "+q.URL.String())
			if q.starts {
				if q.life.loops++; q.life.loops > mostSends {
					q.blame("once", "the start of %d was sent on by %d redirects", q.life.ID, q.life.loops)
				}
			}
			return
		}
		if isFurther { // what the pages before it have shown was true
			rep.head = append(rep.head, "Location: http://b.test/")
			return
		}
		rep.head = append(rep.head, "Location: "+strings.ReplaceAll(q.way(to), "PATH", q.URL.RequestURI()))
	}
}

// slash leads to the same resource, as many servers do with a path that lacks its last slash.
func slash(q *request, rep *reply, r *rand.Rand) {
	to := *q.URL
	to.Path = strings.TrimSuffix(to.Path, "/") + "/"
	rep.lie(pick(r, 301, 302, 307, 308), "")
	rep.head, rep.hop = append(rep.head, "Location: "+to.String()), true
}

// nullPage says null in place of a page that the one before has promised.
func nullPage(q *request, rep *reply, _ *rand.Rand) {
	if rep.page != nil && rep.page.number > 0 {
		rep.lie(200, q.page(`{"jobs":null}`))
	}
}

// errorPage has an empty list beside the failure that made it so.
func errorPage(q *request, rep *reply, r *rand.Rand) {
	rep.lie(200, q.page(pick(r, `{"errors":["partial"],"jobs":[]}`, `{"status":"error","jobs":[]}`, `{"jobs":[],"success":false}`, `{"jobs":null,"success":false}`)))
}

// signs are members by which a list says that it is not whole.
var signs = []string{`"truncated":true`, `"incomplete_results":true`, `"more":true`, `"errors":["shard 2"]`, `"total":99`, `"meta":{"total_count":99}`, `"next_page_token":"x"`}

// partPage leaves out the last elements of a list, and says so.
func partPage(q *request, rep *reply, r *rand.Rand) {
	var list struct {
		Jobs []json.RawMessage
		Data struct{ Jobs []json.RawMessage }
	}
	isList := rep.page != nil && rep.page.last && json.Unmarshal([]byte(rep.body), &list) == nil
	if list.Jobs = append(list.Jobs, list.Data.Jobs...); !isList || len(list.Jobs) == 0 {
		return
	}
	kept := r.IntN(len(list.Jobs))
	for _, id := range slices.Sorted(maps.Keys(rep.page.shown))[kept:] {
		delete(rep.page.shown, id)
	}
	sign := pick(r, append(signs, "")...)
	if sign == "" {
		rep.head, sign = append(rep.head, "X-Total-Count: 99"), `"x":1`
	}
	rep.body = q.page(fmt.Sprintf(`{"jobs":%s,%s}`, must(json.Marshal(list.Jobs[:kept])), sign))
	rep.page.part = true
	rep.what += " without some"
}

// twice puts members before their end again: the first of equal keys counts.
func twice(q *request, rep *reply, _ *rand.Rand) {
	if rep.code == 200 && q.life != nil {
		done := `"state":"done","progress":100`
		if api := apis[q.life.API]; api != nil {
			done = api["done"]
		}
		rep.body = strings.TrimSuffix(rep.body, "}") + "," + done + "}"
	}
}

// unasked answers 304 to who has nothing yet.
func unasked(q *request, rep *reply, _ *rand.Rand) {
	if q.Header.Get("If-None-Match") == "" {
		rep.lie(304, "")
	}
}

// stale answers with the state of some seconds ago.
func stale(q *request, rep *reply, r *rand.Rand) {
	if at := time.Now().Add(-drawn(r, 0, 20*time.Second)); q.life != nil && at.After(q.life.started) {
		rep.about(q.world, q.life, at)
	}
}
