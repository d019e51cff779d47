package world

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

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
