package world

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// home is the origin that knows the operations, and that the credentials are for.
const home = "a.test:80"

// A request is a request that a server has read. Its key names its subject: the ID of an operation,
// with a ! if it is to start it, a list, or another page. Faults, times and chance depend on the
// key and on how many requests for it there were: not on what others ask at the same moment.
type request struct {
	*world
	*http.Request
	host    string
	came    time.Time
	path    string // from the query if all URLs have one path
	key     string
	n       int
	life    *life // nil if it is about none
	starts  bool
	isOther bool   // it is of the other account
	fault   *fault // nil for none
}

// A reply is what a server does about a request.
type reply struct {
	code    int
	head    []string
	body    string
	doc     string // what the operation truly is, "" for none
	tag     string // of the body
	honest  bool   // and the reply says so
	what    string // for the story
	page    *listPage
	hint    time.Duration // the wait that the server asks for
	at      time.Time     // when it was so
	cached  bool          // a cache has returned a copy
	late    time.Duration // after the request was processed
	dribble time.Duration // between some bytes and the next
	cut     int           // bytes of the body that are sent, 0 for all
	chunked bool
	reset   bool
	hang    bool
	early   bool
	garbage bool
	hop     bool          // it leads to the same resource
	streams bool          // it is a stream
	stream  string        // how that ends too early, "" if it does not
	retry   time.Duration // how long its client was asked to wait at least
}

// lie makes the reply another one.
func (rep *reply) lie(code int, body string) {
	*rep = reply{code: code, body: body, doc: rep.doc, what: rep.what, at: rep.at}
}

func (rep *reply) isRedirect() bool {
	return rep.code > 300 && rep.code < 304 || rep.code > 304 && rep.code < 309
}

// about fills the reply with the state of an operation at a moment. Some servers know the document
// that the client has, and answer 304.
func (rep *reply) about(w *world, l *life, at time.Time) {
	rep.honest, rep.doc = true, l.docAt(at)
	rep.show(w, l, l.state(at), rep.doc)
}

// show makes the reply show a state, with the document about the state.
func (rep *reply) show(w *world, l *life, state, doc string) {
	if rep.code, rep.what, rep.head = 200, state, nil; doc == "" {
		rep.code, rep.body = 404, `{"message":"no such job"}`
		return
	}
	if rep.body = w.enclosed(doc); w.Head {
		rep.body = fmt.Sprintf(`{"id":%d,"result":"r%d"}`, l.ID, l.ID)
		rep.head = []string{"X-State: " + state}
	}
	if l.Style&8 != 0 {
		rep.tag = fmt.Sprintf(`"%x"`, crc32.ChecksumIEEE([]byte(rep.body)))
		rep.head = append(rep.head, "ETag: "+rep.tag)
	}
}

// isTrusted reports whether a request may have secrets: it is not, if another origin has led to it.
func (q *request) isTrusted() bool {
	return q.host == q.origin()+":80" && q.Header.Get("Authorization") != ""
}

// dice returns the chance for the nth request of a key.
func (w *world) dice(key string, n int) *rand.Rand {
	return rand.New(rand.NewPCG(w.Seed, uint64(crc32.ChecksumIEEE([]byte(key)))+uint64(n)<<32))
}

// read says what a request is about.
func (w *world) read(host string, r *http.Request) *request {
	q := &request{world: w, Request: r, host: host, came: time.Now(), path: strings.TrimSuffix(r.URL.Path, "/")}
	if route := r.URL.Query().Get("route"); route != "" {
		q.path = "/" + route
	}
	q.key = q.path
	kind, id, _ := strings.Cut(q.path[min(1, len(q.path)):], "/")
	switch {
	case host != home:
		q.key = host
	case kind == "ops":
		q.key, q.life = id, w.lifeOf(id)
	case kind == "list":
		q.key = strings.TrimSpace("list " + r.URL.Query().Get("ids"))
	}
	if q.isOther = strings.HasSuffix(r.Header.Get("Authorization"), otherAccount); q.isOther {
		q.key = "other/" + q.key
		if q.life != nil {
			q.life = w.running(q.life)
		}
	}
	if w.List != nil && w.List.Start && strings.HasPrefix(q.key, "list") && r.Method != "GET" {
		q.life = w.lives[0]
	}
	if q.life != nil && r.Method != "GET" {
		q.starts, q.key = true, q.key+"!"
	}
	q.n, q.fault = w.count(q.key)
	return q
}

// count counts a request, and returns what goes wrong with it.
func (w *world) count(key string) (n int, f *fault) {
	w.asked[key]++
	n = w.asked[key]
	if i := slices.IndexFunc(w.Faults, func(f fault) bool { return f.Key == key && f.N == n }); i >= 0 {
		f = &w.Faults[i]
	}
	return n, f
}

// answer processes a request.
func (w *world) answer(q *request) *reply {
	rep, kind := &reply{code: 404, body: "not found", what: q.key}, trouble{}
	if q.fault != nil {
		kind = troubles[q.fault.Kind]
	}
	if w.Renewal > 0 && q.host == home && time.Since(w.began) > w.Renewal {
		if w.saw["expired token"] = true; !strings.HasSuffix(q.Header.Get("Authorization"), renewed) {
			rep.code, rep.what = 401, "expired"
			return rep
		}
	}
	rep.at = time.Now()
	isHit := kind.on&(aLook|aStream) != 0 && !q.starts || kind.on&(aStart|aRefusal) != 0 && q.starts
	r := w.dice(q.key, q.n)
	switch {
	case strings.HasPrefix(q.host, hung):
		rep.hang = true
	case w.Alias && q.host == w.origin()+":80":
		rep.lie(pick(r, 301, 302, 307, 308), "")
		rep.head = []string{"Location: http://a.test" + q.URL.RequestURI()}
	case q.starts && q.ContentLength > 0 && q.Header.Get("Content-Type") == "":
		rep.code, rep.what = 415, "a body of no type"
	case q.starts && kind.on&aRefusal == 0:
		w.start(q, rep)
	case q.life != nil:
		if rep.about(w, q.life, time.Now()); w.Stream != nil && rep.doc != "" {
			rep.streams, rep.head = true, nil
		}
	case strings.HasPrefix(strings.TrimPrefix(q.key, "other/"), "list"):
		w.listAnswer(q, rep)
	case q.key == "/login":
		rep.lie(pick(r, 200, 404, 200, 401), pick(r, "<html>sign in</html>", "not found", `{"login":true}`, `{"jobs":[]}`, ""))
	case q.host != home && q.Method == "GET" && strings.HasPrefix(q.path, "/ops/") && r.IntN(2) == 0:
		rep.lie(pick(r, 301, 303, 307), "")
		home := url.URL{Scheme: "http", Host: home, Path: q.URL.Path + "/", RawQuery: q.URL.RawQuery} // the same URL would be a loop
		rep.head = []string{"Location: " + home.String()}
	case q.host != home && q.URL.Path == "/":
		rep.lie(200, pick(r, `{"message":"hello"}`, `{"jobs":[]}`))
	case q.host != home:
		rep.lie(pick(r, 200, 404, 403), pick(r, `{"message":"hello"}`, "<html>hi</html>", "", `{"jobs":[]}`))
	}
	if w.cache(q, rep); isHit && !rep.cached {
		kind.make(q, rep, rand.New(rand.NewPCG(q.fault.Die, 1)))
		rep.what += ", " + q.fault.Kind
		w.meet(q, "fault "+q.fault.Kind, kind.excuse)
	}
	if !q.isTrusted() {
		rep.head = append(rep.head, "Set-Cookie: sid="+stray+pick(r, "", "; Domain=test")+"; Path=/")
	} else if rep.isRedirect() {
		rep.head = append(rep.head, "Set-Cookie: sid="+cookie+pick(r, "", "; Domain=test")+"; Path=/")
	}
	if seen := q.Header.Get("If-None-Match"); rep.honest && rep.code == 200 && seen != "" && seen == rep.tag {
		rep.code, rep.body = 304, ""
		w.saw["answer 304"] = true
	}
	if w.date(q, rep); w.Names != nil {
		rep.head = append(rep.head, "Connection: close") // so that each look begins with the name
	}
	return rep
}

// meet notes that a fault has befallen a request.
func (w *world) meet(q *request, feature, excuse string) {
	w.saw[feature] = true
	for _, l := range w.lives {
		if excuse != "" && (q.life == l || q.life == nil || q.key == "list!") {
			l.excuse = excuse
		}
	}
}

// answers are the ways in which a server says that it has started an operation, with what --follow
// has to say.
var answers = map[string]struct {
	code               int
	head, body, follow string
}{
	"202 Location":           {202, "Location: /ops/ID", "{}", ""},
	"202 Operation-Location": {202, "Operation-Location: http://a.test/ops/ID", "", ""},
	"202 Azure":              {202, "Azure-AsyncOperation: http://a.test/ops/ID", "null", ""},
	"201 Location":           {201, "Location: /ops/ID", `{"id":ID,"state":"queued"}`, ""},
	"303":                    {303, "Location: /ops/ID", "", ""},
	"200 id":                 {200, "X: y", `{"id":ID,"state":"queued"}`, "/ops/{.id}"},
	"200 url":                {200, "X: y", `{"urls":{"get":"/ops/ID"},"state":"queued"}`, ".urls.get"},
	"204 self":               {204, "X: y", "", "self"},
	nowhere:                  {202, "X: y", `{"state":"queued"}`, ""},
}

// nowhere is the answer of a server that has started an operation and names no URL.
const nowhere = "202 nowhere"

// start processes a request that starts an operation.
func (w *world) start(q *request, rep *reply) {
	l := q.life
	l.starts++
	for _, other := range w.lives {
		if (other.started.IsZero() || l.over) && (other == l || w.List != nil) {
			other.started = time.Now()
		}
	}
	if l.over {
		l.over, l.told = false, false
		l.again++
	}
	if w.onStart != nil {
		w.onStart()
	}
	w.saw["start "+q.Method], w.saw["answer "+l.Answer] = true, true
	fill := func(text string) string { return w.way(strings.ReplaceAll(text, "ID", fmt.Sprint(l.ID))) }
	a := answers[l.Answer]
	if l.Answer == nowhere {
		l.excuse = "nobody knows where it is"
	}
	if w.saw["list started"] = w.List != nil; w.List != nil {
		a.head = w.way("Location: /list")
	}
	rep.code, rep.body, rep.what = a.code, fill(a.body), "started"
	rep.head = []string{fill(a.head), "Set-Cookie: sid=" + cookie + "; Path=/"}
}
