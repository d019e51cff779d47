package world

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A listing is a list whose elements are the operations of a plan.
type listing struct {
	Size   int    // of a page
	Next   string // how a page names the next one: see nexts
	Follow bool   // the list only names the elements, and each of them is looked at
	Expect int
	Known  []int // the elements that are waited for; nil for all
	Gone   bool  // they are waited for to be gone
}

// nexts are the ways to the next page, by what --next says.
var nexts = []string{"auto", ".next", "?token={.token}"}

// A listPage is an honest page of a list.
type listPage struct {
	number int
	last   bool
	shown  map[int]string // documents by ID
}

// A whole is a list of which all pages were delivered, one after the other and nothing between.
type whole struct {
	key   string
	to    time.Time
	shown map[int]string
}

// isAbout reports whether a list that was asked for by a key may hold an element.
func isAbout(key string, id int) bool {
	_, ids, isSome := strings.Cut(key, " ")
	return !isSome || slices.Contains(strings.Split(ids, ","), strconv.Itoa(id))
}

// listAnswer answers a page of the list as it is at this moment.
func (w *world) listAnswer(q *request, rep *reply) {
	p, now := w.plan.List, q.now()
	var there []*life
	only := q.URL.Query().Get("ids")
	for _, l := range w.inOrder() {
		if l.docAt(now) != "" && isAbout(q.key, l.ID) {
			there = append(there, l)
		}
	}
	number, _ := strconv.Atoi(strings.TrimPrefix(q.URL.Query().Get("page")+q.URL.Query().Get("token"), "t"))
	from, to := min(number*p.Size, len(there)), min(number*p.Size+p.Size, len(there))
	rep.page = &listPage{number: number, last: to == len(there), shown: make(map[int]string)}
	var texts []string
	for _, l := range there[from:to] {
		text := l.docAt(now)
		if rep.page.shown[l.ID] = text; p.Follow {
			text = fmt.Sprintf(`{"id":%d}`, l.ID)
		}
		texts = append(texts, text)
	}
	rep.code, rep.honest, rep.what = 200, true, fmt.Sprintf("page %d of %d elements", number+1, len(there))
	rep.body = `{"jobs":[` + strings.Join(texts, ",") + `]`
	next := number + 1
	where := fmt.Sprint("/list?page=", next)
	if only != "" {
		where += "&ids=" + only
	}
	switch {
	case p.Next == "auto" && !rep.page.last:
		rep.head = append(rep.head, `Link: <`+where+`>; rel="next"`)
	case p.Next == ".next" && !rep.page.last:
		rep.body += fmt.Sprintf(`,"next":%q`, where)
	case p.Next == ".next":
		rep.body += `,"next":null`
	case !rep.page.last:
		rep.body += fmt.Sprintf(`,"token":"t%d"`, next)
	default:
		rep.body += `,"token":""`
	}
	rep.body += "}"
}

// listDelivered notes that an answer to a request for the list was delivered, or that it was not.
func (w *world) listDelivered(key string, rep *reply, isWhole bool) {
	p, before := rep.page, w.pages[key]
	delete(w.pages, key)
	switch {
	case rep.hop && isWhole, rep.reset && !isWhole: // it may be asked for again at once
		w.pages[key] = before
		return
	case p == nil || !rep.honest || !isWhole || p.number > 0 && len(before) != p.number:
		return
	case p.number == 0:
		before = nil
	}
	if before = append(before, p); !p.last {
		w.pages[key] = before
		return
	}
	all := whole{key: key, to: time.Now(), shown: make(map[int]string)}
	for _, p := range before {
		maps.Copy(all.shown, p.shown)
	}
	w.wholes = append(w.wholes, all)
}
