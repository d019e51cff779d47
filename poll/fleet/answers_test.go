package fleet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/poll"
)

// A thing is what is asked about. It answers with how often it was asked, until it is done.
type thing struct {
	takes  time.Duration // an attempt
	done   time.Time     // when it is
	mu     sync.Mutex
	asked  []time.Time
	silent bool // there is no answer
	long   bool
	asking atomic.Int32
	most   int32 // that asked at once
}

func (a *thing) ask() []byte {
	a.mu.Lock()
	a.asked = append(a.asked, time.Now())
	a.most = max(a.most, a.asking.Add(1))
	answer := fmt.Appendf(nil, "%d", len(a.asked))
	silent, long := a.silent, a.long
	a.mu.Unlock()
	time.Sleep(a.takes)
	a.asking.Add(-1)
	if silent {
		return nil
	}
	if !time.Now().Before(a.done) && !a.done.IsZero() {
		answer = append(answer, " done"...)
	}
	if long {
		answer = append(answer, make([]byte, mostAnswer)...)
	}
	return answer
}

// A waiter waits for a thing as the loop of package poll does.
type waiter struct {
	question poll.Question
	news     chan struct{}
	schedule func(n int) time.Duration
	next     time.Duration // the wait before the attempt that is due
	due      time.Time
	series   poll.Series
	asked    int
	taken    int
	alone    int
	answers  []string
	ended    time.Time
}

func newWaiter(a *Answers, identity string, schedule func(int) time.Duration) *waiter {
	w := &waiter{news: make(chan struct{}, 1), schedule: schedule, due: time.Now()}
	w.question = a.Question([]byte(identity), time.Now(), func() {
		select {
		case w.news <- struct{}{}:
		default:
		}
	})
	return w
}

// look makes the attempt that is due, or takes the answer.
func (w *waiter) look(a *thing) (answer []byte) {
	for {
		turn := w.question.Claim(w.next, !w.due.After(time.Now()))
		switch {
		case turn.Answer != nil:
			w.taken++
			w.plan(turn.Series)
			return turn.Answer
		case turn.Ask:
			if turn.Alone {
				w.alone++
			}
			w.asked++
			answer = a.ask()
			s := turn.Series
			s.N++
			s.Ended, s.Previous = time.Now(), w.next
			w.plan(s)
			next := w.next
			if bytes.HasSuffix(answer, []byte("done")) {
				next = 0
			}
			w.question.Answered(answer, next)
			return answer
		case !turn.Until.IsZero():
			w.due = turn.Until
		}
		timer := time.NewTimer(time.Until(w.due))
		select {
		case <-timer.C:
		case <-w.news:
		}
		timer.Stop()
	}
}

func (w *waiter) plan(s poll.Series) {
	w.series, w.next = s, w.schedule(s.N)
	w.due = s.Ended.Add(w.next)
}

// wait looks until the thing is done.
func (w *waiter) wait(a *thing) {
	defer w.question.Close()
	for {
		answer := w.look(a)
		w.answers = append(w.answers, string(answer))
		if bytes.HasSuffix(answer, []byte("done")) {
			w.ended = time.Now()
			return
		}
	}
}

// doubling is a schedule from a second to 20.
func doubling(n int) time.Duration {
	if n == 0 {
		return 0
	}
	return min(time.Second<<min(n-1, 10), 20*time.Second)
}

func every(d time.Duration) func(int) time.Duration {
	return func(n int) time.Duration {
		if n == 0 {
			return 0
		}
		return d
	}
}

// last returns the time between the first and the last end.
func last(waiters []*waiter) time.Duration {
	first, last := waiters[0].ended, waiters[0].ended
	for _, w := range waiters {
		if w.ended.Before(first) {
			first = w.ended
		}
		if w.ended.After(last) {
			last = w.ended
		}
	}
	return last.Sub(first)
}

// Many who begin within a second, or some, ask no more together than one of them alone.
func TestAnswers_crowd(t *testing.T) {
	t.Parallel()
	for _, within := range []time.Duration{time.Second, 20 * time.Second} {
		for _, n := range []int{1, 1000} {
			t.Run(fmt.Sprintf("%d within %s", n, within), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					e := &fake{delay: time.Millisecond}
					a := &thing{takes: 50 * time.Millisecond, done: time.Now().Add(200 * time.Second)}
					var all sync.WaitGroup
					rnd := rand.New(rand.NewPCG(1, 2))
					waiters := make([]*waiter, n)
					for i := range waiters {
						phase := time.Duration(0)
						if i > 0 {
							phase = time.Duration(rnd.Int64N(int64(within)))
						}
						all.Go(func() {
							time.Sleep(phase)
							f, err := start(e, "here", Options{})
							if err != nil {
								t.Error(err)
							}
							defer f.Close()
							waiters[i] = newWaiter(&Answers{Fleet: f}, "thing", doubling)
							waiters[i].wait(a)
						})
					}
					all.Wait()
					t.Logf("asked %d, ended within %s, %d calls", len(a.asked), last(waiters), e.swaps)
					if len(a.asked) > 17 || last(waiters) > 150*time.Millisecond || a.most > 1 {
						t.Errorf("asked %d times, up to %d at once, ended within %s", len(a.asked), a.most, last(waiters))
					}
				})
			})
		}
	}
}
