package fleet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/poll"
)

// A round is what processes that share answers, with one question each, do in a bubble.
type round struct {
	ledger
	e       *fake
	answers []*Answers

	mu  sync.Mutex
	had []string // who has had news since that was written
}

// settle lets others be told, and writes who was.
func (r *round) settle() {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(r.had)
	for _, name := range r.had {
		r.write("%s has news", name)
	}
	r.had = nil
}

func inRound(t *testing.T, f func(*round)) string {
	t.Helper()
	r := &round{e: &fake{}}
	synctest.Test(t, func(t *testing.T) {
		r.t, r.begun = t, time.Now()
		f(r)
	})
	return r.String()
}

// fleet returns the answers of another process, whose notes are written.
func (r *round) fleet(secret string) *Answers {
	f, err := start(r.e, "here", Options{Secret: []byte(secret), Note: func(note string) { fmt.Fprintln(r, "note:", note) }})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(f.Close)
	<-f.reached
	r.begun = time.Now() // what comes before is jitter
	r.answers = append(r.answers, &Answers{Fleet: f})
	return r.answers[len(r.answers)-1]
}

// A party is a question of one process, which begins now.
type party struct {
	*round
	name string
	poll.Question
}

func (r *round) party(name string) *party { return r.fleet("").party(r, name) }

func (a *Answers) party(r *round, name string) *party {
	p := &party{round: r, name: name}
	since := time.Now().Add(-time.Millisecond)
	p.Question = a.Question([]byte("thing"), since, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.had = append(r.had, name)
	})
	return p
}

// claim claims, and writes what comes of it.
func (p *party) claim(wait time.Duration, due bool) poll.Turn {
	turn := p.Claim(wait, due)
	what := "waits"
	switch {
	case turn.Answer != nil:
		what = "takes " + string(turn.Answer)
	case turn.Alone:
		what = "asks alone"
	case turn.Ask:
		what = "asks"
	case !turn.Until.IsZero():
		what = fmt.Sprint("holds until ", p.since(turn.Until))
	}
	if turn.Series.N > 0 {
		what += fmt.Sprintf(", %d so far", turn.Series.N)
		if !turn.Series.Ended.IsZero() {
			what += ", the last at " + p.since(turn.Series.Ended).String()
		}
	}
	p.write("%s %s", p.name, what)
	p.settle()
	return turn
}

// answered ends an attempt, and lets others be told.
func (p *party) answered(answer string, next time.Duration) {
	var text []byte
	if answer != "" {
		text = []byte(answer)
	}
	p.Answered(text, next)
	p.settle()
}

func TestAnswers_rules(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		play func(*round)
		want string
	}{
		{"the others take what one was answered, once, each with its own clock", func(r *round) {
			r.e.set(func() { r.e.ahead = 1000 * time.Hour })
			a, b := r.party("a"), r.party("b")
			a.claim(0, true)
			b.claim(0, true)
			time.Sleep(100 * time.Millisecond)
			a.answered("one", time.Second)
			b.claim(0, true)
			b.claim(time.Second, false)
			time.Sleep(time.Second)
			b.claim(time.Second, true)
		}, `
0s     a asks
0s     b holds until 1s
100ms  b has news
100ms  b takes one, 1 so far, the last at 100ms
100ms  b waits
1.1s   b asks, 1 so far, the last at 100ms
`},
		{"what is not due is not asked for", func(r *round) {
			a := r.party("a")
			a.claim(time.Second, false)
			a.claim(time.Second, true)
		}, `
0s     a waits
0s     a asks
`},
		{"what was asked for before does not count, and who holds learns that at once", func(r *round) {
			a, b := r.party("a"), r.party("b")
			a.claim(0, true)
			time.Sleep(100 * time.Millisecond)
			c := r.answers[1].party(r, "c")
			b.claim(0, true)
			c.claim(0, true)
			time.Sleep(100 * time.Millisecond)
			a.answered("one", 4*time.Second)
			c.claim(0, false)
			c.claim(0, false)
			time.Sleep(2 * time.Second)
			c.claim(0, true)
			c.answered("two", 4*time.Second)
			a.claim(4*time.Second, false)
		}, `
0s     a asks
100ms  b holds until 1.1s
100ms  c holds until 1.1s
200ms  b has news
200ms  c has news
200ms  c holds until 2.2s, 1 so far, the last at 200ms
200ms  c waits
2.2s   c asks, 1 so far, the last at 200ms
2.2s   a has news
2.2s   b has news
2.2s   a takes two, 2 so far, the last at 2.2s
`},
		{"who dies costs a lease", func(r *round) {
			a, b := r.party("a"), r.party("b")
			a.claim(0, true)
			b.claim(0, true)
			r.answers[0].Fleet.Close()
			for range 5 {
				time.Sleep(time.Second)
				b.claim(0, true)
			}
		}, `
0s     a asks
0s     b holds until 1s
1s     b holds until 2s
2s     b holds until 3s
3s     b holds until 4s
4s     b holds until 5s
5s     b asks
`},
		{"who takes long keeps its turn, and is late once it has lost it", func(r *round) {
			a, b := r.party("a"), r.party("b")
			a.claim(0, true)
			time.Sleep(29 * time.Second)
			b.claim(0, true)
			r.e.set(func() { r.e.sheets = nil })
			b.claim(0, true)
			a.answered("late", time.Second)
			b.answered("two", 0)
			a.claim(time.Second, true)
		}, `
0s     a asks
29s    b holds until 30s
29s    b asks
29s    a has news
29s    a takes two, 1 so far, the last at 29s
`},
		{"who has no answer keeps the others waiting for a while, and tells them nothing", func(r *round) {
			a, b := r.party("a"), r.party("b")
			a.claim(0, true)
			b.claim(0, true)
			time.Sleep(time.Microsecond)
			a.answered("", time.Second)
			time.Sleep(time.Second)
			a.claim(time.Second, true)
			time.Sleep(time.Microsecond)
			a.answered("", 2*time.Second)
			b.claim(0, true)
			time.Sleep(999 * time.Millisecond)
			b.claim(0, true)
			time.Sleep(time.Millisecond)
			b.claim(0, true)
		}, `
0s     a asks
0s     b holds until 1s
1s     a asks, 1 so far, the last at 0s
1s     b holds until 2s, 2 so far, the last at 1s
1.999s b holds until 2s, 2 so far, the last at 1s
2s     b asks, 2 so far, the last at 1s
`},
		{"who had no answer and goes on no longer leaves that to the others at once", func(r *round) {
			a, b := r.party("a"), r.party("b")
			a.claim(0, true)
			b.claim(0, true)
			a.answered("", 0)
			r.settle()
			b.claim(0, false)
		}, `
0s     a asks
0s     b holds until 1s
0s     b has news
0s     b asks
`},
		{"who leaves gives its turn back", func(r *round) {
			a, b := r.party("a"), r.party("b")
			a.claim(0, true)
			b.claim(0, true)
			a.Close()
			r.settle()
			b.claim(0, false)
			a.Close()
			b.Close()
			r.settle()
			r.party("c").claim(0, true)
		}, `
0s     a asks
0s     b holds until 1s
0s     b has news
0s     b asks
0s     c asks
`},
		{"who leaves gives its turn back to those who have had answers, too", func(r *round) {
			a, b := r.party("a"), r.party("b")
			a.claim(0, true)
			b.claim(0, true)
			a.answered("one", time.Second)
			b.claim(0, false)
			time.Sleep(time.Second)
			a.claim(time.Second, true)
			b.claim(time.Second, true)
			a.Close()
			r.settle()
			b.claim(time.Second, false)
		}, `
0s     a asks
0s     b holds until 1s
0s     b has news
0s     b takes one, 1 so far, the last at 0s
1s     a asks, 1 so far, the last at 0s
1s     b holds until 6s, 1 so far, the last at 0s
1s     b has news
1s     b asks, 1 so far, the last at 0s
`},
		{"what is too long is not shared, which is said once", func(r *round) {
			a, b := r.party("a"), r.party("b")
			long := strings.Repeat("x", mostAnswer+1)
			a.claim(0, true)
			b.claim(0, true)
			a.answered(long, time.Second)
			b.claim(0, false)
			b.answered(long, time.Second)
			time.Sleep(time.Second)
			a.claim(time.Second, true)
			a.answered(long, time.Second)
			time.Sleep(10 * time.Second)
			a.claim(time.Second, true)
			a.answered(long[1:], time.Second)
			if turn := b.Claim(time.Second, false); len(turn.Answer) != mostAnswer {
				r.write("%+v", turn)
			}
		}, `
0s     a asks
0s     b holds until 1s
note: answers of more than 64 KiB are not shared
0s     b has news
0s     b asks alone, 1 so far, the last at 0s
1s     a asks alone, 1 so far, the last at 0s
11s    a asks, 2 so far, the last at 0s
11s    b has news
`},
		{"alone, each goes on with the series, and does not count what was asked before", func(r *round) {
			a, b := r.party("a"), r.party("b")
			a.claim(0, true)
			a.answered("one", time.Second)
			b.claim(0, true)
			time.Sleep(time.Second)
			a.claim(time.Second, true)
			r.e.set(func() { r.e.away = errors.New("broken") })
			time.Sleep(time.Second)
			turn := b.Claim(time.Second, true)
			if turn.Ask || turn.Until.Before(time.Now()) || turn.Until.After(time.Now().Add(time.Second/2)) {
				r.write("the first attempt is not spread: %+v", turn)
			}
			b.claim(time.Second, true)
			b.answered("two", time.Second)
			a.answered("lost", time.Second)
			time.Sleep(time.Second)
			b.claim(time.Second, true)
			b.answered("three", time.Second)
			r.e.set(func() { r.e.away = nil })
			time.Sleep(10 * time.Second)
			b.claim(time.Second, true)
			b.answered("four", time.Second)
			a.claim(time.Second, true)
		}, `
0s     a asks
0s     b takes one, 1 so far, the last at 0s
1s     a asks, 1 so far, the last at 0s
note: here cannot be shared for now, and this process goes on alone: broken
2s     b asks alone, 1 so far, the last at 0s
note: here cannot be shared for now, and this process goes on alone: broken
3s     b asks alone, 2 so far, the last at 2s
13s    b asks, 3 so far, the last at 0s
13s    a has news
13s    a takes four, 4 so far, the last at 13s
`},
		{"who was never shared with asks when it is due", func(r *round) {
			r.e.set(func() { r.e.away = errors.New("broken") })
			a := r.party("a")
			a.claim(0, true)
			a.answered("one", time.Second)
			time.Sleep(time.Second)
			a.claim(time.Second, true)
			a.answered("two", time.Second)
		}, `
note: here cannot be shared for now, and this process goes on alone: broken
0s     a asks alone
1s     a asks alone, 1 so far, the last at 0s
`},
		{"an engine that has lost all is given the series again", func(r *round) {
			a, b := r.party("a"), r.party("b")
			a.claim(0, true)
			b.claim(0, true)
			a.answered("one", time.Second)
			b.claim(0, true)
			r.e.set(func() { r.e.sheets = nil })
			time.Sleep(time.Second)
			b.claim(time.Second, true)
			b.answered("two", time.Second)
			a.claim(time.Second, true)
		}, `
0s     a asks
0s     b holds until 1s
0s     b has news
0s     b takes one, 1 so far, the last at 0s
1s     b asks, 1 so far
1s     a has news
1s     a takes two, 2 so far, the last at 1s
`},
		{"a closed fleet shares nothing, and says nothing", func(r *round) {
			a := r.party("a")
			a.claim(0, true)
			a.answered("one", 0)
			r.answers[0].Fleet.Close()
			a.claim(0, true)
			a.answered("two", 0)
			a.Close()
		}, `
0s     a asks
0s     a asks alone, 1 so far, the last at 0s
`},
		{"without the secret, nothing is shared", func(r *round) {
			a, b, c := r.fleet("x").party(r, "a"), r.fleet("y").party(r, "b"), r.fleet("x").party(r, "c")
			a.claim(0, true)
			b.claim(0, true)
			c.claim(0, true)
		}, `
0s     a asks
0s     b asks
0s     c holds until 1s
`},
		{"what cannot be opened is no answer", func(r *round) {
			a, b := r.party("a"), r.party("b")
			a.claim(0, true)
			a.answered("one", time.Second)
			r.e.set(func() {
				for name, s := range r.e.sheets {
					s.state.Begun += 5000
					r.e.sheets[name] = s
					go r.answers[1].watched.tell(name, s)
				}
			})
			time.Sleep(10 * time.Millisecond)
			b.claim(0, true)
			r.settle()
			time.Sleep(time.Second)
			b.claim(0, true)
		}, `
0s     a asks
10ms   b holds until 510ms, 1 so far, the last at 0s
1.01s  b asks, 1 so far, the last at 0s
`},
		{"who is not told takes the answer when it is due", func(r *round) {
			r.e.set(func() { r.e.mute = true })
			a, b := r.party("a"), r.party("b")
			a.claim(0, true)
			b.claim(0, true)
			a.answered("one", time.Second)
			time.Sleep(time.Second)
			b.claim(0, true)
		}, `
0s     a asks
0s     b holds until 1s
1s     b takes one, 1 so far, the last at 0s
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wantLedger(t, inRound(t, test.play), test.want)
		})
	}
}

// Who asks again and again looks once at what is shared, and then only writes; unless
// another has written, or a clock was set back.
func TestAnswers_roundTrips(t *testing.T) {
	t.Parallel()
	inRound(t, func(r *round) {
		a, b := r.party("A"), r.party("B")
		attempt := func(p *party, trips int) {
			t.Helper()
			time.Sleep(10 * time.Second)
			p.claim(time.Second, false) // it takes what has come
			was := r.e.swaps
			if turn := p.claim(time.Second, true); !turn.Ask {
				t.Errorf("%s: %+v", p.name, turn)
			}
			time.Sleep(2 * time.Second) // its lease is renewed
			p.answered("no", 0)
			if have := r.e.swaps - was; have != trips {
				t.Errorf("%s: %d round trips, want %d", p.name, have, trips)
			}
		}
		attempt(a, 5) // of which one is a look at what came before it listened
		attempt(a, 3)
		attempt(a, 3)
		b.claim(time.Second, true)
		attempt(b, 4)
		attempt(b, 3)
		attempt(a, 4)
		r.e.set(func() { r.e.ahead = -20 * time.Second })
		attempt(a, 4)
		attempt(a, 3)
	})
}

// All who share have one seed, and who is alone another.
func TestAnswers_seed(t *testing.T) {
	t.Parallel()
	inRound(t, func(r *round) {
		seeds := map[uint64]string{}
		for _, p := range []struct{ secret, identity string }{{"", "x"}, {"", "y"}, {"s", "x"}} {
			first := r.fleet(p.secret).Question([]byte(p.identity), time.Now(), nil).Claim(0, true).Series.Seed
			second := r.fleet(p.secret).Question([]byte(p.identity), time.Now(), nil).Claim(0, true).Series.Seed
			if first != second || first == 0 || seeds[first] != "" {
				t.Errorf("%v: seeds %x and %x, %s", p, first, second, seeds[first])
			}
			seeds[first] = fmt.Sprint(p)
		}
		r.e.set(func() { r.e.away = errors.New("broken") })
		for range 2 {
			alone := r.fleet("").Question([]byte("x"), time.Now(), nil).Claim(0, true).Series.Seed
			if alone == 0 || seeds[alone] != "" {
				t.Errorf("alone, the seed is %x, as that of %s", alone, seeds[alone])
			}
			seeds[alone] = "alone"
		}
	})
}

// While what they share stands still, or is lost, many ask as each of them would alone, and
// none of them fails.
func TestAnswers_withoutEngine(t *testing.T) {
	t.Parallel()
	cases := faults()
	cases["its clock set back"] = func(e *fake) { e.set(func() { e.ahead = -5 * time.Second }) }
	cases["its clock set on"] = func(e *fake) { e.set(func() { e.ahead = time.Hour }) }
	cases["mute"] = func(e *fake) { e.set(func() { e.mute = true }) }
	for name, fail := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := &fake{delay: time.Millisecond}
				a := &thing{takes: 50 * time.Millisecond, done: time.Now().Add(2 * time.Minute)}
				var all sync.WaitGroup
				const n = 300
				waiters := make([]*waiter, n)
				for i := range waiters {
					all.Go(func() {
						f, err := start(e, "here", Options{})
						if err != nil {
							t.Error(err)
						}
						defer f.Close()
						waiters[i] = newWaiter(&Answers{Fleet: f}, "thing", every(5*time.Second))
						waiters[i].wait(a)
					})
				}
				time.Sleep(30*time.Second + time.Millisecond)
				fail(e)
				all.Wait()
				t.Logf("asked %d, up to %d at once, ended within %s, %d calls", len(a.asked), a.most, last(waiters), e.swaps)
				most := 30
				if faults()[name] != nil {
					most = 30 + 3*n
				}
				if len(a.asked) > most || a.most > n/4 || last(waiters) > 6*time.Second {
					t.Error("that is too often, or too late")
				}
			})
		})
	}
}
