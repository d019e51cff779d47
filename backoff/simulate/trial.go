package simulate

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/backoff"
)

// An outcome is the result of one trial.
type outcome struct {
	time       float64 // until all clients were done, in ms
	calls      int
	turnedAway int // calls in vain
}

// A worker runs trials one after another and reuses their memory.
type worker struct {
	config   Config
	ctx      context.Context // checked now and then: a trial may take long
	source   *rand.PCG
	rand     *rand.Rand
	schedule backoff.Schedule // of the trial
	events   events
	clients  []client
}

// A client is the state of a client between its events.
type client struct {
	at   float64      // when its next event is, in ms
	read float64      // when its read reached the store, in ms
	step backoff.Step // of its next wait
}

func newWorker(ctx context.Context, c Config) *worker {
	source := rand.NewPCG(0, 0)
	return &worker{config: c, ctx: ctx, source: source, rand: rand.New(source)}
}

// run runs one trial. Its random numbers depend on the seed and the arguments only.
//
// An event of ModelQueue is a request. Of the four messages of an exchange in
// ModelOCC only the write is an event: it succeeds if its read was not before the
// last success. The other messages only take time.
func (w *worker) run(a Algorithm, clients, trial int) outcome {
	w.begin(a, clients, trial)
	occ := w.config.Model == ModelOCC
	shortest := milliseconds(w.config.ServiceMin)
	spread := milliseconds(w.config.ServiceMax) - shortest
	var o outcome
	free := math.Inf(-1) // when the service is done with its client, or the last write succeeded
	for !w.events.empty() {
		id := w.events.next()
		c := &w.clients[id]
		if c.at > horizon || w.interrupted(o.calls) {
			o.time = math.Inf(1)
			return o
		}
		o.calls++
		switch { // in place: as methods, the cases take 10% longer
		case occ && c.read >= free:
			free = c.at
			o.time = max(o.time, c.at+w.message()) // until the client has the answer
			w.events.remove(id)
		case occ:
			c.read = c.at + w.twoMessages() + w.wait(c)
			c.at = c.read + w.twoMessages()
			o.turnedAway++
			w.events.move(id, c.at)
		case c.at >= free:
			free = c.at + shortest + spread*w.rand.Float64()
			o.time = free
			w.events.remove(id)
		default:
			c.at += w.wait(c)
			o.turnedAway++
			w.events.move(id, c.at)
		}
	}
	return o
}

// begin gives each client its first event.
func (w *worker) begin(a Algorithm, clients, trial int) {
	w.seed(a, clients, trial)
	w.events.reset(clients)
	w.clients = append(w.clients[:0], make([]client, clients)...)
	w.schedule = a.Schedule
	if w.schedule == nil {
		w.schedule = backoff.Exponential{}
	}
	for id := range w.clients {
		c := &w.clients[id]
		if w.config.Model == ModelOCC {
			c.step.N = 1
			c.read = w.message()
			c.at = c.read + w.twoMessages()
		}
		w.events.move(id, c.at)
	}
}

func (w *worker) seed(a Algorithm, clients, trial int) {
	hash := w.config.Seed
	for _, c := range []byte(a.Name) {
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

// interrupted reports whether the context is done. It checks only now and then.
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

// twoMessages returns the time of two messages, one after the other. The sum of two
// normal variables is a normal variable. That one message in three million is
// affected by the absolute value makes no difference.
func (w *worker) twoMessages() float64 {
	return math.Abs(2*messageMean + math.Sqrt2*messageDeviation*w.rand.NormFloat64())
}

// wait returns how long the client, which was just turned away, waits, in ms.
func (w *worker) wait(c *client) float64 {
	c.step.Elapsed = duration(c.at)
	wait := w.schedule.Wait(c.step, w.rand)
	c.step.N++
	c.step.Previous = wait
	if wait == math.MaxInt64 {
		return math.Inf(1)
	}
	return milliseconds(wait)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// duration converts milliseconds to a Duration, which saturates.
func duration(ms float64) time.Duration {
	if ns := ms * float64(time.Millisecond); ns < math.MaxInt64 {
		return time.Duration(ns)
	}
	return math.MaxInt64
}

// events is a priority queue of the next event of every client. It is a tournament
// tree: node i is the earlier of nodes 2i and 2i+1. The first event is node 1, and
// to move an event is to replay one path from a leaf to the root, without a branch
// to mispredict. With container/heap a simulation takes more than twice as long.
//
// A node is the time of the event, as the bits of a float64, which sort like the
// time, with the number of the client in the lowest bits. With a million clients,
// times that differ by less than one part in 2^32 become equal. The client has the
// exact time.
type events struct {
	nodes  []uint64
	first  int // the node of client 0
	idBits int // the number of bits that are the client
}

// done is the node of a client without an event.
const done = math.MaxUint64

// reset prepares e for that many clients, without events.
func (e *events) reset(clients int) {
	e.idBits = bits.Len(uint(clients - 1))
	e.first = 1 << e.idBits
	e.nodes = e.nodes[:0]
	for range 2 * e.first {
		e.nodes = append(e.nodes, done)
	}
}

// empty reports whether no client has an event.
func (e *events) empty() bool { return e.nodes[1] == done }

// next returns the client with the first event. There must be one.
func (e *events) next() int {
	return int(e.nodes[1] & (1<<e.idBits - 1))
}

// move gives the client an event, replacing any other.
func (e *events) move(client int, at float64) {
	e.set(client, math.Float64bits(at)>>e.idBits<<e.idBits|uint64(client))
}

// remove removes the event of the client.
func (e *events) remove(client int) { e.set(client, done) }

func (e *events) set(client int, node uint64) {
	nodes := e.nodes
	i := e.first + client
	nodes[i] = node
	for i > 1 {
		node = min(node, nodes[i^1])
		i >>= 1
		nodes[i] = node
	}
}
