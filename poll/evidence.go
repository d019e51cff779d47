package poll

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
)

// An evidence is the time of a response by this machine's clock, and the newest Date of each origin up to then.
// A later response counts only if it is not older: a cache may hold a copy from before.
type evidence struct {
	At    time.Time            `json:"at"`
	Dates map[string]time.Time `json:"dates,omitempty"`
}

// outdated returns the reason if a response is older than the start, or than the response that it has to follow:
// by its Age, or by the Date of the same server. It returns "" if the response counts. begun is the earliest time
// at which the response can have been made. A server's clock is never compared with this machine's clock.
func (w *wait) outdated(o *status.Observation, begun time.Time) string {
	older := "a cache may have stored the response before an earlier response"
	isStarting := w.Began.IsZero() // the start may have been redirected to a page that a cache has
	if isStarting || w.Sent > 0 && w.Evidence != nil && w.Evidence.At.Equal(w.Began) {
		older = "a cache may have stored the response before the start"
	}
	switch e, h := w.Evidence, meaning.Of(o); {
	case o.Failure != nil, o.Start, h.RefusedForLoad(o), e == nil && !isStarting:
	case isAged(o) && (isStarting || begun.Before(e.At)):
		return fmt.Sprintf("%s: its Age is %d s", older, h.Age/time.Second)
	case h.Date.IsZero():
	case h.Date.Before(h.Started[h.Origin]), e != nil && h.Date.Before(e.Dates[h.Origin]):
		return older + ", by its Date"
	}
	return ""
}

// isAged reports whether a response may come from a cache: it has an Age, which is 0 for the first second.
func isAged(o *status.Observation) bool { return meaning.Of(o).Age > 0 || o.Header.Get("Age") != "" }

// noteEvidence makes the last response the evidence if later responses have to be newer. They confirm its SUCCESS or
// ERROR, a complete list, or the absence of an element; or the response was a 202, which comes before the result.
func (s *source) noteEvidence() {
	o := s.wait.last.observation
	isOpen := func(w *wait) bool { return w.Absent > 0 || w.isUnconfirmed() }
	switch {
	case o.Code == nil, s.wait.last.isOutdated:
	case *o.Code == http.StatusAccepted, !s.wait.Listed.IsZero(), slices.ContainsFunc(s.all(), isOpen):
		s.wait.Evidence = s.wait.evidence()
	}
}

// evidence returns the time of the last attempt, with the Dates of its responses and of the evidence before.
func (w *wait) evidence() *evidence {
	h, e := meaning.Of(w.last.observation), &evidence{At: w.Last, Dates: make(map[string]time.Time)}
	if w.Evidence != nil {
		maps.Copy(e.Dates, w.Evidence.Dates)
	}
	maps.Copy(e.Dates, h.Started)
	if h.Date.After(e.Dates[h.Origin]) {
		e.Dates[h.Origin] = h.Date
	}
	return e
}
