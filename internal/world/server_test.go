package world

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// home is the origin that knows the operations, and that the credentials are for.
const home = "a.test:80"

// A request is one that a server has read. Its key says what it is about: the ID of an operation,
// with a ! if it is to start it, the list, or another page. Faults, times and chance depend on the
// key and on how many requests for it there were: not on what others ask at the same moment.
type request struct {
	*http.Request
	host, path, query, url string
	key                    string
	n                      int
	life                   *life // nil if it is about none
	starts                 bool
	now                    func() time.Time
}

// A reply is what a server does about a request.
type reply struct {
	code    int
	head    []string
	body    string
	doc     string // what the operation truly is, "" for none
	honest  bool   // and the reply says so
	what    string // for the story
	hint    time.Duration
	late    time.Duration // after the request was processed
	dribble time.Duration // between two bytes or so
	cut     int           // bytes of the body that are sent, 0 for all
	chunked bool
	reset   bool
	hang    bool
	early   bool
	garbage bool
	hop     bool // it leads to the same resource
	page    *listPage
}

// lie makes the reply another one.
func (rep *reply) lie(code int, body string) {
	*rep = reply{code: code, body: body, doc: rep.doc, late: rep.late, what: rep.what}
}

// about makes the reply what is known of an operation as it was at a moment.
func (rep *reply) about(l *life, at time.Time) {
	rep.code, rep.honest, rep.what = 200, true, l.state(at)
	if rep.doc = l.docAt(at); rep.doc == "" {
		rep.code, rep.body = 404, `{"message":"no such job"}`
		return
	}
	rep.body = rep.doc
}

// dice returns the chance for the nth request of a key.
func (w *world) dice(key string, n int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(key))
	return rand.New(rand.NewPCG(w.plan.Seed, h.Sum64()+uint64(n)))
}

// read says what a request is about.
func (w *world) read(host string, r *http.Request) *request {
	q := &request{Request: r, host: host, path: strings.TrimSuffix(r.URL.Path, "/"), url: r.URL.String(), now: time.Now}
	if r.URL.RawQuery != "" {
		q.query = "?" + r.URL.RawQuery
	}
	kind, id, _ := strings.Cut(strings.TrimPrefix(q.path, "/"), "/")
	switch number, _ := strconv.Atoi(id); {
	case host != home:
		q.key = "other origin"
	case kind == "ops":
		q.life = w.lives[number]
		q.key = id
	case kind == "list":
		q.key = strings.TrimSpace("list " + r.URL.Query().Get("ids"))
	default:
		q.key = q.path
	}
	if q.life != nil && q.life.Method != "" && r.Method == q.life.Method {
		q.starts = true
		q.key += "!"
	}
	if q.life != nil && r.Method != "GET" && !q.starts {
		w.blame("once", "a %s of %s that nobody asked for", r.Method, q.url)
	}
	w.asked[q.key]++
	q.n = w.asked[q.key]
	return q
}

// answer makes the reply to a request, and processes it.
func (w *world) answer(q *request) *reply {
	rep := &reply{code: 404, body: "not found", what: q.key}
	f, bad := w.faults[q.key][q.n]
	kind := troubles[f.Kind]
	if q.starts && !(bad && kind.unprocessed) {
		w.start(q, rep)
	} else if q.life != nil {
		rep.about(q.life, q.now())
		w.conditional(q, rep)
	} else {
		w.elsewhere(q, rep)
	}
	if bad && (q.starts && kind.isStart || !q.starts && kind.isLook) {
		kind.make(q, rep, rand.New(rand.NewPCG(f.Die, 1)))
		rep.what += ", " + f.Kind
		w.meet(q, "fault "+f.Kind, kind.excuse)
	}
	return rep
}

// meet notes that a fault has befallen a request.
func (w *world) meet(q *request, feature, excuse string) {
	w.saw[feature] = true
	w.troubled = q.now()
	if excuse == "" {
		return
	}
	for _, l := range w.lives {
		if q.life == l || q.life == nil {
			l.excuse = excuse
		}
	}
}

// elsewhere answers for pages that are about no operation.
func (w *world) elsewhere(q *request, rep *reply) {
	r := w.dice(q.key, q.n)
	switch {
	case strings.HasPrefix(q.key, "list"):
		w.listAnswer(q, rep)
	case q.path == "/login":
		rep.lie([]int{200, 404, 200, 401}[r.IntN(4)], []string{"<html>sign in</html>", "not found", `{"login":true}`, ""}[r.IntN(4)])
	case q.key == "other origin":
		rep.lie([]int{200, 404, 403}[r.IntN(3)], []string{`{"message":"hello"}`, "<html>hi</html>", "", `{"jobs":[]}`}[r.IntN(4)])
	}
}

// answers are the ways in which a server says that it has started an operation.
var answers = map[string]struct {
	code   int
	head   string
	body   string
	follow string // what --follow has to say
}{
	"202 Location":           {202, "Location: /ops/%d", "{}", ""},
	"202 Operation-Location": {202, "Operation-Location: http://a.test/ops/%d", "", ""},
	"202 Azure":              {202, "Azure-AsyncOperation: http://a.test/ops/%d", "null", ""},
	"201 Location":           {201, "Location: /ops/%d", `{"id":%d,"state":"queued"}`, ""},
	"303":                    {303, "Location: /ops/%d", "", ""},
	"200 id":                 {200, "", `{"id":%d,"state":"queued"}`, "/ops/{.id}"},
	"200 url":                {200, "", `{"urls":{"get":"/ops/%d"},"state":"queued"}`, ".urls.get"},
	"202 self":               {202, "", `{"id":%d}`, "self"},
	"204 self":               {204, "", "", "self"},
}

// start processes a request that starts an operation.
func (w *world) start(q *request, rep *reply) {
	l := q.life
	l.starts++
	if l.started.IsZero() {
		l.started = q.now()
	}
	a := answers[l.Answer]
	w.saw["start "+l.Method], w.saw["answer "+l.Answer] = true, true
	fill := func(text string) string {
		if strings.Contains(text, "%d") {
			return fmt.Sprintf(text, l.ID)
		}
		return text
	}
	rep.code, rep.body, rep.what = a.code, fill(a.body), "started"
	if a.head != "" {
		rep.head = append(rep.head, fill(a.head))
	}
	rep.head = append(rep.head, "Set-Cookie: sid="+cookie+"; Path=/")
}

// conditional answers 304 to who has the document already.
func (w *world) conditional(q *request, rep *reply) {
	if q.life.Style&8 == 0 || rep.code != 200 {
		return
	}
	h := fnv.New64a()
	h.Write([]byte(rep.body))
	tag := fmt.Sprintf(`"%x"`, h.Sum64())
	if q.Header.Get("If-None-Match") == tag {
		w.saw["answer 304"] = true
		rep.code, rep.body = 304, ""
	}
	rep.head = append(rep.head, "ETag: "+tag)
}
