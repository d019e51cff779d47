package simulate

import (
	"math/rand/v2"
	"slices"
	"testing"
)

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
