package poll

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pollcli/poll/status"
)

// A sharing is what a source has of the answers that are shared.
type sharing struct {
	source   *source
	question Question // nil before the first claim
	identity []byte   // of question
	turn     Turn     // of the attempt that is due, or under way
	answer   *status.Observation
	spare    *status.Observation // one that has come before the attempt was due
	held     time.Time           // until when the attempt that is due is left to another at most
	news     *news               // of the engine
	hasNews  atomic.Bool
}

// mostHeld is how long an attempt is left to another process at most, where no attempt may
// take less.
const mostHeld = 30 * time.Second

// share has the answers of a source shared, if they can be.
func (s *source) share(n *news) {
	if len(s.runs) == 0 || s.runs[0].Answers == nil {
		return
	}
	if _, ok := s.runs[0].probe.(Sharer); ok {
		s.sharing = &sharing{source: s, news: n}
	}
}

// shares reports whether it has to be known whose turn it is before the next attempt. One
// that starts something is everybody's own.
func (s *source) shares() bool {
	if s.sharing == nil || s.runs[0].startDue() {
		return false
	}
	_, ok := s.runs[0].probe.(Sharer) // and not its result
	return ok
}

// claim finds out whose turn it is. It emits nothing, so that it can be called from another
// goroutine.
func (s *sharing) claim() {
	if !s.source.due.After(time.Now()) && s.spare != nil {
		s.answer, s.spare, s.turn = s.spare, nil, Turn{}
		return
	}
	r := s.source.runs[0]
	sharer := r.probe.(Sharer)
	s.turn = Turn{Ask: true}
	identity := sharer.Identity(r.AnswersName)
	if identity == nil {
		s.leave()
		s.turn.Ask = !s.source.due.After(time.Now())
		return
	}
	if !bytes.Equal(identity, s.identity) {
		s.leave()
		since := slices.MaxFunc([]time.Time{r.Start.Add(r.InitialDelay), r.began, r.looked}, time.Time.Compare)
		s.identity = slices.Clone(identity)
		if r.AnswersName == "" {
			identity = append(identity, Machine(s.source.gate.name)...)
		}
		s.question = r.Answers.Question(identity, since, s.notify)
	}
	s.hasNews.Store(false)
	due := !s.source.due.After(time.Now())
	const most = 3 // unreadable answers
	for range most {
		s.turn = s.question.Claim(r.previous, due)
		if series := s.turn.Series; series != (Series{}) {
			r.series = &series
		}
		if s.turn.Answer == nil {
			s.bound(due)
			return
		}
		o, err := readAnswer(s.turn.Answer, sharer)
		if err != nil {
			continue
		}
		if due || !s.held.IsZero() || s.source.wouldEnd(o) {
			s.answer = &o
		} else {
			s.spare, s.turn = &o, Turn{}
		}
		return
	}
	s.turn = Turn{Ask: true, Alone: true}
}

// bound bounds how long an attempt that is due is left to another process: until its time for
// the last look, or for as long as an attempt may take.
func (s *sharing) bound(due bool) {
	if !due || s.turn.Ask {
		return
	}
	now, r := time.Now(), s.source.runs[0]
	if s.held.IsZero() {
		longest := r.shorten(plan{wait: cmp.Or(r.AttemptTimeout, mostHeld)})
		s.held = now.Add(longest.wait)
	}
	switch {
	case !now.Before(s.held):
		s.turn = Turn{Ask: true, Series: s.turn.Series}
	case s.held.Before(s.turn.Until):
		s.turn.Until = s.held
	}
}

// wouldEnd reports whether an answer would end what is waited for. Any other does not count
// before the attempt is due: thresholds and schedules are about attempts as far apart as
// they would be alone.
func (s *source) wouldEnd(o status.Observation) bool {
	if s.list != nil {
		r := s.runs[0]
		return r.SuccessThreshold == 1 && r.SuccessFor == 0 && r.ErrorThreshold == 1 && r.MaxAttempts == 0
	}
	return slices.ContainsFunc(s.runs, func(r *run) bool { return r.wouldEnd(o) })
}

// wouldEnd reports whether an answer would end the run by itself.
func (r *run) wouldEnd(o status.Observation) bool {
	if r.done != nil {
		return false
	}
	ctx, cancel := r.untilDeadline()
	defer cancel()
	o.Attempt, o.Elapsed, o.Target = r.attempts+1, time.Since(r.Start), r.Target
	next := *r
	next.last = &judged{observation: &o, verdict: r.Rules.Classify(ctx, o)}
	return next.threshold() == 1 && next.holdFor() == 0
}

// notify notes that another process was answered.
func (s *sharing) notify() {
	s.hasNews.Store(true)
	s.news.add(s.source)
}

// leave ends what is shared.
func (s *sharing) leave() {
	if s == nil || s.question == nil {
		return
	}
	s.question.Close()
	s.question, s.identity = nil, nil
}

// observe makes an attempt, unless another process has made it.
func (s *source) observe() (status.Observation, time.Duration) {
	if s.isTaken() {
		return *s.sharing.answer, 0
	}
	return s.runs[0].look(s.next.lastLook, s.pace)
}

// asked reports whether the attempt is one whose answer is shared.
func (s *sharing) asked() bool { return s != nil && s.question != nil && s.turn.Ask }

// answered shares the answer to an attempt, which has been judged.
func (s *sharing) answered(answer []byte, took time.Duration) {
	r := s.source.runs[0]
	series := s.turn.Series
	if series.Ended = time.Now(); series.Began.IsZero() {
		series.Began = series.Ended.Add(-took)
	}
	series.N++
	series.Previous = r.previous
	r.series = &series
	s.question.Answered(answer, s.next())
}

// next returns the wait before the next attempt, 0 if there will be none.
func (s *sharing) next() time.Duration {
	runs := s.source.runs
	goesOn := func(r *run) bool {
		_, over := r.ending()
		return !over
	}
	if s.source.list == nil && !slices.ContainsFunc(runs, goesOn) {
		return 0
	}
	previous := runs[0].previous
	next := runs[0].plan()
	runs[0].previous = previous
	return next.wait
}

// count counts the attempt that has ended.
func (s *source) count() {
	runs := slices.Clip(s.runs)
	if s.list != nil {
		for _, m := range s.list.waiting {
			runs = append(runs, m.run)
		}
	}
	for _, r := range runs {
		switch {
		case s.isTaken():
			r.taken++
		case s.isAlone():
			r.alone++
		}
	}
}

// isTaken reports whether the attempt is another process's.
func (s *source) isTaken() bool { return s.sharing != nil && s.sharing.answer != nil }

// isAlone reports whether the attempt should have been shared, and was not.
func (s *source) isAlone() bool {
	return !s.isTaken() && (s.slot.Alone || s.sharing != nil && s.sharing.turn.Alone)
}

// forget forgets the attempt that has ended.
func (s *source) forget() {
	if s.sharing != nil {
		s.sharing.turn, s.sharing.answer, s.sharing.held = Turn{}, nil, time.Time{}
	}
}

// news is what sources have been told from elsewhere.
type news struct {
	came    chan struct{} // holds a value if there is any
	mu      sync.Mutex
	sources []*source
}

func (n *news) add(s *source) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sources = append(n.sources, s)
	select {
	case n.came <- struct{}{}:
	default:
	}
}

// take returns the sources that there is news for.
func (n *news) take() []*source {
	n.mu.Lock()
	defer n.mu.Unlock()
	sources := n.sources
	n.sources = nil
	return sources
}

// answerVersion begins each answer. It has to change with the meaning of what follows.
const answerVersion = 1

// A sharedAnswer is an answer as those who share it read it.
type sharedAnswer struct {
	V           int                `json:"v"`
	Observation status.Observation `json:"observation"`
	Left        json.RawMessage    `json:"left,omitempty"`
}

// writeAnswer returns an answer for others; nil if there is none for them: what keeps an
// answer from coming may be different there.
func writeAnswer(o status.Observation, sharer Sharer) []byte {
	if o.Failure != nil || o.Following.Start {
		return nil
	}
	text, err := json.Marshal(sharedAnswer{V: answerVersion, Observation: o, Left: sharer.Leave()})
	if err != nil {
		return nil
	}
	return text
}

// readAnswer reads the answer of another, and has the session adopt it.
func readAnswer(text []byte, sharer Sharer) (status.Observation, error) {
	var a sharedAnswer
	if err := json.Unmarshal(text, &a); err != nil {
		return a.Observation, fmt.Errorf("read a shared answer: %w", err)
	}
	o := &a.Observation
	if a.V != answerVersion || o.Failure != nil || o.Following.Start {
		return *o, errors.New("read a shared answer: it is none")
	}
	if err := sharer.Adopt(*o, a.Left); err != nil {
		return *o, fmt.Errorf("take over a shared answer: %w", err)
	}
	o.Taken = true
	return *o, nil
}
