package simulate

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/pace"
	"github.com/pollcli/poll/internal/turns"
)

// A group is a trial of clients that share answers. Those that have had one know and do
// the same from then on: they are the crowd, for which one step is taken.
type group struct {
	*answersTrial
	question turns.State
	members  []groupMember // the clients, and the crowd as the last one
	size     int           // of the crowd
	asker    *groupMember  // who makes the attempt that is under way
	holding  []int         // clients that are told of answers, but had none yet
	seed     uint64        // of the jitter of all waits
}

// A groupMember is a client that had no answer yet, or the crowd.
type groupMember struct {
	turns.Member
	at   float64       // when it claims a turn, in ms
	wait time.Duration // before the attempt that it claims
	told bool          // it is told of answers
}

func newGroup(t *answersTrial, a Algorithm, trial int) *group {
	n := len(t.came)
	g := &group{answersTrial: t, members: make([]groupMember, n+1), seed: mix(mix(t.config.Seed) + uint64(trial))}
	g.events.reset(n + 2)
	g.members[n].ID = uint64(n + 1)
	first := t.schedule.Wait(backoff.Step{}, g.draw(0))
	for id := range t.came {
		m := &g.members[id]
		m.ID, m.Since, m.Versed = uint64(id+1), micros(t.came[id]), a.Together == TogetherDue
		m.wait = first
		g.wake(id, t.came[id]+milliseconds(m.wait))
	}
	return g
}

// draw returns the source of the jitter of the wait after n attempts. For one client alone
// it is the same, so that the two can be compared.
func (g *group) draw(n int64) *rand.Rand { return rand.New(rand.NewPCG(g.seed, uint64(n))) }

// wake has a member claim a turn at a time.
func (g *group) wake(id int, at float64) {
	g.members[id].at = at
	g.events.move(id, at)
}

// run lets the clients wait until all have seen the end.
func (g *group) run() {
	for steps := 0; !g.events.empty() && !g.interrupted(steps); steps++ {
		g.happen(g.events.next())
	}
}

// happen makes an event happen: the claim of a member or, as the last one, an answer.
func (g *group) happen(id int) {
	crowd := len(g.came)
	switch {
	case id > crowd:
		g.events.remove(id)
		g.answer()
		return
	case id == crowd:
		g.operations.add(g.members[id].at, g.size)
	default:
		g.operations.add(g.members[id].at, 1)
	}
	g.claim(id)
}

// claim has a member ask, if it is its turn.
func (g *group) claim(id int) {
	m := &g.members[id]
	turn, until := g.question.Claim(&m.Member, micros(m.at), pace.Span(m.wait))
	switch turn {
	case turns.Hold:
		g.wake(id, millis(until))
		if !m.told && id < len(g.came) {
			m.told = true
			g.holding = append(g.holding, id)
		}
		return
	case turns.Take:
		g.join(m.at)
	default:
		g.operations.add(m.at, 1)
		g.ask(m.at)
		g.asker = m
		g.events.move(len(g.came)+1, g.asked.answered)
	}
	g.events.remove(id)
}

// join makes a client that has the newest answer one of the crowd, unless it was the last.
func (g *group) join(now float64) {
	if g.asked.done {
		g.see(now)
		return
	}
	g.size++
}

// answer shares the answer of the attempt that is under way.
func (g *group) answer() {
	now, m := g.asked.answered, g.asker
	crowd := &g.members[len(g.came)]
	n := g.question.N + 1
	step := backoff.Step{N: int(n), Elapsed: pace.Duration(micros(now) - g.question.First), Previous: m.wait}
	next := time.Duration(0)
	if !g.asked.done {
		next = g.schedule.Wait(step, g.draw(n))
	}
	g.question.End(m.Member, micros(now), turns.Answered, pace.Span(next))
	g.operations.add(now, 2)
	told := g.size + len(g.holding)
	g.holding = slices.DeleteFunc(g.holding, func(id int) bool {
		counts := g.members[id].Since < g.question.Begun
		if counts {
			g.events.remove(id)
			g.size++
		} else {
			g.wake(id, now)
		}
		return counts
	})
	if m != crowd && !m.told { // it is not among those that were held
		g.size++
	}
	g.publish(told, g.size)
	if g.asked.done {
		g.size = 0
		g.events.remove(len(g.came))
		return
	}
	crowd.Counted(&g.question)
	crowd.wait = next
	g.wake(len(g.came), now+milliseconds(next))
}
