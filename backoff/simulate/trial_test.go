package simulate

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The same model message by message, as plainly as it can be written: an oracle
// for the numbers of clients that were not published.
func TestOCC_agreesWithEachMessageSimulated(t *testing.T) {
	t.Parallel()
	const trials = 100
	c := Defaults(ModelOCC)
	c.Clients = []int{2, 7, 20, 45}
	r := rand.New(rand.NewPCG(9, 9))
	for _, got := range run(t, c) {
		var time, calls float64
		for range trials {
			one, n := plainOCC(got.Algorithm, got.Clients, r)
			time += one / trials
			calls += float64(n) / trials
		}
		checkOCC(t, got, time, calls)
	}
}

// letter is a message on its way.
type letter struct {
	at      float64 // its arrival
	client  int
	kind    kind
	version int  // of an answer to a read, and of a write
	ok      bool // of an answer to a write
}

type kind int

const (
	read kind = iota
	readAnswer
	write
	writeAnswer
)

type mail []letter

func (m mail) Len() int           { return len(m) }
func (m mail) Less(i, j int) bool { return m[i].at < m[j].at }
func (m mail) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *mail) Push(x any)        { *m = append(*m, x.(letter)) }
func (m *mail) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

// plainOCC returns the time of the last message and the number of writes.
func plainOCC(a string, clients int, r *rand.Rand) (end float64, writes int) {
	var m mail
	version := 0
	failures := make([]int, clients)
	previous := make([]float64, clients)
	send := func(now float64, l letter) {
		l.at = now + math.Abs(10+2*r.NormFloat64())
		heap.Push(&m, l)
	}
	for id := range clients {
		previous[id] = 5
		send(0, letter{client: id, kind: read})
	}
	for len(m) > 0 {
		l := heap.Pop(&m).(letter)
		end = l.at
		switch l.kind {
		case read:
			send(l.at, letter{client: l.client, kind: readAnswer, version: version})
		case readAnswer:
			send(l.at, letter{client: l.client, kind: write, version: l.version})
		case write:
			writes++
			ok := l.version == version
			if ok {
				version++
			}
			send(l.at, letter{client: l.client, kind: writeAnswer, ok: ok})
		case writeAnswer:
			if !l.ok {
				failures[l.client]++
				wait := plainWait(a, failures[l.client], &previous[l.client], r)
				send(l.at+wait, letter{client: l.client, kind: read})
			}
		}
	}
	return end, writes
}

func plainWait(a string, failures int, previous *float64, r *rand.Rand) float64 {
	v := math.Min(2000, 5*math.Pow(2, float64(failures)))
	switch a {
	case "exponential":
		return v
	case "full":
		return r.Float64() * v
	case "equal":
		return v/2 + r.Float64()*v/2
	case "decorrelated":
		*previous = math.Min(2000, 5+r.Float64()*(*previous*3-5))
		return *previous
	default:
		return 0
	}
}

func TestEvents_order(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	var e events // one for all, as the trials use it
	for _, clients := range []int{1, 2, 3, 8, 9, 100, 1000, 5} {
		e.reset(clients)
		at := make([]float64, clients)
		for id := range at {
			at[id] = r.Float64() * 1e15
			e.move(id, at[id])
		}
		moves := 3 * clients
		now := 0.0
		seen := 0
		for ; !e.empty(); seen++ {
			id := e.next()
			if at[id] < now {
				t.Fatalf("%d clients: at %g after %g", clients, at[id], now)
			}
			if left := slices.Min(at); at[id] != left {
				t.Fatalf("%d clients: next is at %g, want %g", clients, at[id], left)
			}
			now = at[id]
			if moves > 0 {
				moves--
				at[id] += r.Float64() * 1e15
				e.move(id, at[id])
				continue
			}
			at[id] = 1e300
			e.remove(id)
		}
		if want := 4 * clients; seen != want {
			t.Errorf("%d clients: %d events, want %d", clients, seen, want)
		}
	}
}

// Clients with equal times come in the order of their numbers.
func TestEvents_equalTimes(t *testing.T) {
	t.Parallel()
	var e events
	e.reset(5)
	for _, id := range []int{3, 0, 4, 2, 1} {
		e.move(id, 0)
	}
	for want := range 5 {
		if got := e.next(); got != want {
			t.Errorf("next is %d, want %d", got, want)
		}
		e.remove(want)
	}
}

// Not in parallel: AllocsPerRun counts those of other tests too.
func TestEvents_noAllocation(t *testing.T) {
	var e events
	e.reset(100)
	allocations := testing.AllocsPerRun(10, func() {
		e.reset(100)
		for id := range 100 {
			e.move(id, float64(id))
		}
		for range 1000 {
			e.move(e.next(), 1e6)
		}
	})
	if allocations != 0 {
		t.Errorf("%g allocations, want none", allocations)
	}
}
