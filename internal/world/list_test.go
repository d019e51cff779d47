package world

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A listing is a list whose elements are the operations of a plan.
type listing struct {
	Size   int    `json:",omitzero"` // of a page
	Next   string `json:",omitzero"` // how a page names the next one, as --next says it
	Within bool   `json:",omitzero"` // the list, and what names the next page, are within an object
	Start  bool   `json:",omitzero"` // a POST starts all elements, and leads to the list, or names them
	Expect int    `json:",omitzero"`
	Known  []int  `json:",omitzero"` // the elements that are waited for; nil for all
	Gone   bool   `json:",omitzero"` // they are waited for to be gone
	Cut    string `json:",omitzero"` // the list ends with its first page, and says by this that it is longer
	Batch  int    `json:",omitzero"` // of Known that are asked for at once, 0 for all of the list
}

// A listPage is an honest page of a list.
type listPage struct {
	number int
	last   bool
	part   bool           // it lacks elements, and says so
	gone   bool           // the wait needs their absence
	at     time.Time      // when it was made
	shown  map[int]string // documents by ID
}

// A whole is a list of which all pages were delivered, one after the other and nothing between. A
// part of the list is evidence for its elements only.
type whole struct {
	key   string
	at    time.Time // when it was delivered
	made  time.Time // the oldest of its pages
	last  time.Time // the newest of its pages
	part  bool
	shown map[int]string
	times map[int]time.Time // of the pages that show them
}

// isAbout reports whether a list that was asked for by a key may hold an element.
func isAbout(key string, id int) bool {
	_, ids, isSome := strings.Cut(key, " ")
	return !isSome || slices.Contains(strings.Split(ids, ","), strconv.Itoa(id))
}

// listAnswer answers a page of the list as it is at this moment.
func (w *world) listAnswer(q *request, rep *reply) {
	var there []*life
	for _, l := range w.lives {
		if q.isOther {
			l = w.running(l)
		}
		if q.starts || l.docAt(time.Now()) != "" && isAbout(q.key, l.ID) { // a start names all
			there = append(there, l)
		}
	}
	number, _ := strconv.Atoi(q.URL.Query().Get("page"))
	size := w.List.Size
	if q.starts { // whose answer is one page
		size = len(there)
	}
	from, to := min(number*size, len(there)), min(number*size+size, len(there))
	rep.page = &listPage{number: number, last: to == len(there), gone: w.List.Gone, at: time.Now(), shown: make(map[int]string)}
	var texts []string
	for _, l := range there[from:to] {
		text := l.docAt(time.Now())
		rep.page.shown[l.ID] = text
		texts = append(texts, text)
	}
	rep.code, rep.honest, rep.what = 200, true, fmt.Sprintf("page %d of %d elements", number+1, len(there))
	rep.body = `{"jobs":[` + strings.Join(texts, ",") + "]}"
	switch {
	case rep.page.last:
	case w.List.Cut != "":
		w.saw["list cut"], rep.page.last, rep.page.part = true, true, true
		rep.body = "{" + w.List.Cut + "," + rep.body[1:]
	default:
		w.saw["next page by "+w.List.Next] = true
		next := q.URL.Query()
		next.Set("page", strconv.Itoa(number+1))
		where := q.URL.Path + "?" + strings.ReplaceAll(next.Encode(), "%2C", ",")
		rep.head = []string{`Link: <` + where + `>; rel="next"`}
		if w.List.Next != "auto" {
			rep.head = nil
			rep.body = fmt.Sprintf(`{"next":%q,"cursor":%d,`, where, number+1) + rep.body[1:]
		}
	}
	rep.body = w.page(rep.body)
}

// path returns a path of a page, and page a page, as they are if the list is within an object.
func (p *plan) path(of string) string {
	if p.List.Within {
		return strings.Replace(of, ".", ".data.", 1)
	}
	return of
}

func (p *plan) page(text string) string {
	if p.List.Within {
		return `{"id":3,"data":` + text + "}"
	}
	return text
}

// nexts are the ways to the next page.
var nexts = []string{"auto", ".next", "?page={.cursor}"}

// listDelivered notes that an answer to a request for a list was delivered, or that it was not.
func (p *process) listDelivered(key string, rep *reply, isWhole bool) {
	page, before := rep.page, p.pages[key]
	delete(p.pages, key)
	switch {
	case rep.hop, !isWhole, rep.code == 429, rep.code == 503: // the page may be asked for again, and a new look begins with the first
		p.pages[key] = before
		return
	case page == nil && rep.isRedirect() && len(before) > 0: // of which those before it were read
		p.gather(key, before, true)
		return
	case page == nil || !rep.honest || page.number > 0 && len(before) != page.number:
		return
	case page.number == 0:
		before = nil
	}
	if before = append(before, page); !page.last {
		p.pages[key] = before
		return
	}
	p.gather(key, before, page.part)
}

// gather notes what the pages of a list have shown.
func (w *world) gather(key string, pages []*listPage, part bool) {
	all := whole{key: key, at: time.Now(), made: pages[0].at, part: part, shown: make(map[int]string), times: make(map[int]time.Time)}
	for _, page := range pages {
		if page.at.Before(all.made) { // a copy of a cache
			all.made = page.at
		}
		if page.at.After(all.last) {
			all.last = page.at
		}
		for id, doc := range page.shown {
			isWanted := w.List.Known == nil || slices.Contains(w.List.Known, id)
			if other, twice := all.shown[id]; twice && other != doc && isWanted { // it has moved while the pages were read
				return
			}
			all.shown[id], all.times[id] = doc, page.at
			if l := w.lifeOf(strconv.Itoa(id)); l.hasEnded(page.at) {
				l.told = true
			}
		}
	}
	w.wholes = append(w.wholes, all)
}

// A cache stands in front of home. It returns a copy of an earlier response while the copy is fresh.
type cache struct {
	Fresh time.Duration `json:",omitzero"` // for how long a copy is fresh
	Old   time.Duration `json:",omitzero"` // how long before the start of the world the copies of earlier operations were made, 0 for no such copies
	Deaf  bool          `json:",omitzero"` // the cache ignores no-cache in a request
	Mute  bool          `json:",omitzero"` // the cache sends no Age, only the Date of the copy
}

// newCopies returns the copies that a cache has before the first request.
func (w *world) newCopies() map[string]reply {
	copies := make(map[string]reply)
	for i, l := range w.lives {
		if w.Cache == nil || w.Cache.Old == 0 || l.Method == "" {
			continue
		}
		state := []string{"done", "done", "failed"}[(int(w.Seed%3)+i)%3]
		old, doc := reply{at: w.began.Add(-w.Cache.Old)}, l.doc(state, 0)
		if w.Gone {
			state, doc = gone, ""
		}
		old.show(w, l, state, doc)
		old.what = "an earlier operation, " + state
		copies[w.way(fmt.Sprint("/ops/", l.ID))] = old
	}
	return copies
}

// cache makes rep a copy of an earlier reply, or keeps a copy of rep.
func (w *world) cache(q *request, rep *reply) {
	key := q.URL.RequestURI()
	old, isKept := w.copies[key]
	isAnew := slices.Contains(q.Header["Cache-Control"], "no-cache")
	switch {
	case w.Cache == nil || q.host != home || q.Method != "GET" || q.starts:
	case isKept && time.Since(old.at) < time.Second: // no client could tell the copy from a new response
	case isKept && time.Since(old.at) < w.Cache.Fresh && (w.Cache.Deaf || !isAnew):
		*rep = old
		rep.cached, rep.head = true, slices.Clone(old.head)
		rep.what += fmt.Sprintf(", of %.1fs by a cache", old.at.Sub(w.began).Seconds())
		if w.saw["answer of a cache"], w.troubled = true, time.Now(); !w.Cache.Mute {
			rep.head = append(rep.head, fmt.Sprintf("Age: %d", time.Since(old.at)/time.Second))
		}
	case rep.honest && rep.code == 200 && q.fault == nil:
		w.copies[key] = *rep
	}
}

// date adds the time of a reply of home by the clock of home.
func (w *world) date(q *request, rep *reply) {
	isDated := slices.ContainsFunc(rep.head, func(line string) bool { return strings.HasPrefix(line, "Date:") })
	if w.Cache != nil && q.host == home && !isDated {
		rep.head = append(rep.head, "Date: "+rep.at.Add(w.Skew).UTC().Format(http.TimeFormat))
	}
}
