package fleet

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/pace"
	"github.com/pollcli/poll/internal/turns"
	"github.com/pollcli/poll/poll"
)

// lease is how long the others wait for who is asking.
const lease = time.Duration(turns.Lease) * time.Microsecond

// A question is a [poll.Question]. Times of the engine's clock become those of this process
// where they come in.
type question struct {
	answers *Answers
	seal    seal
	news    func()

	mu      sync.Mutex // the calls come one at a time, but the engine tells, too
	clock   pace.Clock
	member  turns.Member
	since   time.Time // when its wait began, or its last attempt that was not shared
	reached bool      // there was an answer from the engine
	alone   bool      // but none since, and the attempts are spread already
	held    bool      // the last claim was to be made again
	stirred bool      // and that may be done at once
	asks    turns.Turn
	wait    time.Duration // before the attempt that it asks in
	heard   *heard        // the newest answer that it was told
	series  poll.Series
	renewal *time.Timer  // of its lease
	written *turns.State // what it wrote last, nil for nothing
	behind  int64        // how much the clock of the engine was behind then
}

// A heard is an answer that has come by itself.
type heard struct {
	sheet
	answer []byte
}

func newQuestion(a *Answers, s seal, since time.Time, news func()) *question {
	q := &question{answers: a, seal: s, since: since, news: news}
	q.member.ID = rand.Uint64()
	return q
}

// Claim says who makes the attempt that is due.
func (q *question) Claim(wait time.Duration, due bool) poll.Turn {
	q.mu.Lock()
	turn, ok := q.take()
	due = due || q.held && q.stirred
	q.held, q.stirred = q.held && !due, false
	q.mu.Unlock()
	if ok || !due {
		return turn
	}
	q.answers.watched.add(q)
	began := time.Now()
	var c claim
	shared := q.swap(q.member.Since, func(s sheet) *edit {
		c = q.claim(s, wait, began)
		if c.turn == turns.Ask {
			return &edit{state: c.sheet.state}
		}
		return nil
	})
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wait = wait
	if !shared {
		return q.askAlone()
	}
	return q.claimed(c)
}

// A claim is what came of one.
type claim struct {
	sheet
	member turns.Member
	turn   turns.Turn
	until  int64
	answer []byte
}

// claim makes a claim that began at a time of this process. It changes nothing.
func (q *question) claim(s sheet, wait time.Duration, began time.Time) claim {
	c := claim{sheet: s, member: q.member}
	c.member.Since = max(c.member.Since, s.now-pace.Span(began.Sub(q.since)))
	if c.state.Begun > c.member.Since {
		if c.answer = q.seal.open(s.sealed, c.state.Begun); c.answer == nil {
			c.state.Begun = 0
		}
	}
	c.turn, c.until = c.state.Claim(&c.member, s.now, pace.Span(wait))
	return c
}

// claimed notes what came of a claim.
func (q *question) claimed(c claim) poll.Turn {
	q.member, q.reached, q.alone = c.member, true, false
	q.follow(c.sheet)
	turn := poll.Turn{Series: q.series}
	switch c.turn {
	case turns.Take:
		turn.Answer = c.answer
	case turns.Hold:
		turn.Until, q.held = q.local(c.until, c.now), true
		if told, ok := q.take(); ok { // it has come meanwhile
			return told
		}
	case turns.Ask:
		turn.Ask, q.asks = true, turns.Ask
		q.renewal = time.AfterFunc(lease/3, func() { q.renew(c.member) })
	case turns.Alone:
		turn.Ask, turn.Alone, q.asks = true, true, turns.Alone
		q.since = time.Now()
	}
	return turn
}

// askAlone goes on without the others. They find out at the same time that they are alone,
// and do not all ask at once.
func (q *question) askAlone() poll.Turn {
	now := time.Now()
	series := q.series
	series.Seed = q.member.ID
	if spread := min(q.wait/2, lease); q.reached && !q.alone && spread > 0 {
		q.alone, q.held = true, true
		return poll.Turn{Until: now.Add(rand.N(spread)), Series: series}
	}
	if series.Began.IsZero() {
		series.Began = now
	}
	q.series, q.alone, q.asks, q.since = series, true, turns.Alone, now
	return poll.Turn{Ask: true, Alone: true, Series: series}
}

// follow notes where all who share stand.
func (q *question) follow(s sheet) {
	q.series = poll.Series{
		Began: q.local(s.state.First, s.now), N: int(s.state.N), Ended: q.local(s.state.Ended, s.now),
		Previous: pace.Duration(s.state.Wait), Seed: q.seal.seed,
	}
}

// local returns a time of the engine's clock, which says now, as one of this process.
func (q *question) local(at, now int64) time.Time {
	if at == 0 {
		return time.Time{}
	}
	ahead := q.clock.Now() - now
	return q.clock.Time(at + ahead)
}

// take returns the answer that has come, if it counts.
func (q *question) take() (poll.Turn, bool) {
	if !q.reached { // it is not known yet what counts
		return poll.Turn{}, false
	}
	h := q.heard
	q.heard = nil
	if h == nil || h.state.Begun <= q.member.Since {
		return poll.Turn{}, false
	}
	q.member.Counted(&h.state)
	q.follow(h.sheet)
	q.held, q.stirred, q.alone = false, false, false
	return poll.Turn{Answer: h.answer, Series: q.series}, true
}

// hear is called when something has become of the question: an answer, perhaps, which may
// count or not.
func (q *question) hear(s sheet, answer []byte) {
	q.mu.Lock()
	begun := s.state.Begun
	isNews := false
	switch {
	case answer != nil && begun > q.member.Since:
		isNews = q.reached && (q.heard == nil || q.heard.state.Begun < begun)
		q.heard = &heard{sheet: s, answer: answer}
	case q.heard != nil, !q.held, q.member.Held != 0, s.state.Owner != 0:
	case !q.member.Versed, s.state.Long, begun >= q.member.Since: // nobody is asking any more
		q.stirred, isNews = true, true
	}
	q.mu.Unlock()
	if isNews {
		q.news()
	}
}

// Answered shares an answer, or says that there is none.
func (q *question) Answered(answer []byte, next time.Duration) {
	q.mu.Lock()
	asked, m := q.asks, q.member
	q.asks = turns.Hold
	q.series.N++
	q.series.Ended, q.series.Previous = time.Now(), q.wait
	q.member.Versed, q.member.N, q.member.Held = true, int64(q.series.N), 0
	if asked == turns.Ask {
		q.renewal.Stop()
		q.member.Since = max(m.Since, m.Claimed)
	}
	q.mu.Unlock()
	if asked != turns.Ask {
		return
	}
	ending := turns.Answered
	var sealed []byte
	switch {
	case answer == nil:
		ending = turns.Failed
	case len(answer) > mostAnswer:
		ending, sealed = turns.TooLong, []byte{}
		q.answers.tooLong.Do(func() { q.answers.Fleet.say("answers of more than 64 KiB are not shared") })
	default:
		sealed = q.seal.close(answer, m.Claimed)
	}
	q.swap(m.Claimed, func(s sheet) *edit {
		if !s.state.End(m, s.now, ending, pace.Span(next)) {
			return nil
		}
		return &edit{state: s.state, sealed: sealed, tell: s.state.Owner == 0}
	})
}

// renew prolongs the lease of a member as long as it asks.
func (q *question) renew(m turns.Member) {
	q.swap(m.Claimed, func(s sheet) *edit {
		if !s.state.Renew(m, s.now) {
			return nil
		}
		return &edit{state: s.state}
	})
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.asks == turns.Ask && q.member.Claimed == m.Claimed {
		q.renewal.Reset(lease / 3)
	}
}

// Close gives back what the question holds.
func (q *question) Close() {
	q.answers.watched.remove(q)
	q.mu.Lock()
	asked, m := q.asks, q.member
	q.asks = turns.Hold
	q.mu.Unlock()
	if asked != turns.Ask {
		return
	}
	q.renewal.Stop()
	q.answers.Fleet.releases.Go(func() {
		q.swap(m.Claimed, func(s sheet) *edit {
			if !s.state.Release(m) {
				return nil
			}
			return &edit{state: s.state, tell: true}
		})
	})
}

// swap looks at what is shared, with the answer if that began after known, and makes of it
// what change returns, unless this process is alone.
func (q *question) swap(known int64, change func(sheet) *edit) (shared bool) {
	f := q.answers.Fleet
	if q.seal.aead == nil {
		return false
	}
	g := q.guess(known)
	var made *edit
	var at int64
	shared = f.call(func(ctx context.Context) (err error) {
		at, err = f.engine.swap(ctx, q.seal.name, g, func(s sheet) *edit {
			made = change(s)
			return made
		})
		return err
	})
	if shared && made != nil {
		q.mu.Lock()
		q.written, q.behind = &made.state, q.clock.Now()-at
		q.mu.Unlock()
	}
	return shared
}

// guess is what is shared if nobody has written since this member did.
func (q *question) guess(known int64) guess {
	q.mu.Lock()
	defer q.mu.Unlock()
	g := guess{known: known}
	now := q.clock.Now() - q.behind
	if w := q.written; w != nil && now >= max(w.Begun, w.Ended) { // unless a clock was set back
		g.sheet = &sheet{now: now, state: *w}
	}
	return g
}
