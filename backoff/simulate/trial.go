package simulate

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

// outcome is what came of one trial.
type outcome struct {
	time    float64 // until all clients were done, in ms
	calls   int
	retries int
}

// A worker runs one trial after the other in the memory of the one before.
type worker struct {
	config Config
	ctx    context.Context // asked now and then, for a trial may be long
	source *rand.PCG
	rand   *rand.Rand
	events events
	state  []client
}

// client is what is remembered of a client between its events.
type client struct {
	at         float64 // when its next event is, in ms
	turnedAway int     // how often
	previous   float64 // the wait before, in ms
	read       float64 // when its read reached the store, in ms
}

func newWorker(ctx context.Context, c Config) *worker {
	source := rand.NewPCG(0, 0)
	return &worker{config: c, ctx: ctx, source: source, rand: rand.New(source)}
}

// run runs one trial. Its random numbers depend on nothing but the seed and the
// arguments.
func (w *worker) run(a Algorithm, clients, trial int) outcome {
	w.seed(a, clients, trial)
	w.events.reset(clients)
	w.state = append(w.state[:0], make([]client, clients)...)
	base := milliseconds(w.config.Base)
	for i := range w.state {
		w.state[i].previous = base
	}
	if w.config.Model == ModelOCC {
		return w.store(w.waiter(a, 2*base))
	}
	return w.queue(w.waiter(a, base))
}

func (w *worker) seed(a Algorithm, clients, trial int) {
	hash := w.config.Seed
	for _, c := range []byte(a) {
		hash = mix(hash ^ uint64(c))
	}
	w.source.Seed(mix(hash^uint64(clients)), mix(hash+uint64(trial)))
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// queue runs a trial of ModelQueue. An event is a client that asks for service.
func (w *worker) queue(wait waiter) outcome {
	shortest := milliseconds(w.config.ServiceMin)
	spread := milliseconds(w.config.ServiceMax) - shortest
	for id := range w.state {
		w.events.add(id, 0)
	}
	var o outcome
	free := 0.0 // when the service is done with whom it serves
	for w.events.left > 0 {
		id := w.events.next()
		c := &w.state[id]
		if c.at > Horizon || w.interrupted(o.calls) {
			o.time = math.Inf(1)
			return o
		}
		o.calls++
		if c.at >= free {
			free = c.at + shortest + spread*w.rand.Float64()
			w.events.remove(id)
			continue
		}
		o.retries++
		c.at += wait.next(c, w.rand)
		w.events.move(id, c.at)
	}
	o.time = free
	return o
}

// store runs a trial of ModelOCC. Of the four messages of an exchange only the
// write is an event: whether it succeeds is known from the time of its read and
// the time of the last success. The other messages only take time.
func (w *worker) store(wait waiter) outcome {
	for id := range w.state {
		c := &w.state[id]
		c.read = w.message()
		c.at = c.read + w.twoMessages()
		w.events.add(id, c.at)
	}
	var o outcome
	lastSuccess := math.Inf(-1)
	for w.events.left > 0 {
		id := w.events.next()
		c := &w.state[id]
		if c.at > Horizon || w.interrupted(o.calls) {
			o.time = math.Inf(1)
			return o
		}
		o.calls++
		if lastSuccess <= c.read {
			lastSuccess = c.at
			o.time = max(o.time, c.at+w.message()) // until it has the answer
			w.events.remove(id)
			continue
		}
		o.retries++
		c.read = c.at + w.twoMessages() + wait.next(c, w.rand)
		c.at = c.read + w.twoMessages()
		w.events.move(id, c.at)
	}
	return o
}

// interrupted reports whether the trial is to be given up. It looks only now and
// then.
func (w *worker) interrupted(calls int) bool {
	return calls%(1<<16) == 1<<16-1 && w.ctx.Err() != nil
}

// The time that a message takes is |N(10, 2)| ms.
const (
	messageMean      = 10
	messageDeviation = 2
)

func (w *worker) message() float64 {
	return math.Abs(messageMean + messageDeviation*w.rand.NormFloat64())
}

// twoMessages returns the time of two messages, one after the other. The sum of
// two normal draws is one draw; that one message in three million would be below
// 0, were it not for the |...|, does not show.
func (w *worker) twoMessages() float64 {
	return math.Abs(2*messageMean + math.Sqrt2*messageDeviation*w.rand.NormFloat64())
}

// A waiter draws the waits of one algorithm, in ms.
type waiter struct {
	algorithm Algorithm
	base, cap float64
	growth    []float64 // v by how often a client was turned away; the last goes on
}

func (w *worker) waiter(a Algorithm, first float64) waiter {
	limit := math.Inf(1)
	if w.config.MaxWait > 0 {
		limit = milliseconds(w.config.MaxWait)
	}
	growth := []float64{min(first, limit)}
	for v := first; v < limit && v < 2*Horizon; {
		v *= 2
		growth = append(growth, min(v, limit))
	}
	return waiter{algorithm: a, base: milliseconds(w.config.Base), cap: limit, growth: growth}
}

// next returns how long a client waits that was just turned away.
func (w *waiter) next(c *client, r *rand.Rand) float64 {
	v := w.growth[min(c.turnedAway, len(w.growth)-1)]
	c.turnedAway++
	switch w.algorithm {
	case Exponential:
		return v
	case Full:
		return v * r.Float64()
	case Equal:
		return v/2 + v/2*r.Float64()
	case Decorrelated:
		c.previous = min(w.cap, w.base+(3*c.previous-w.base)*r.Float64())
		return c.previous
	default:
		return 0
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
