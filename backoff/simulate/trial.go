package simulate

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/words"
)

// An outcome is the result of one trial. Its fields have the same meanings and units as the fields of a [Result].
type outcome struct {
	time              float64
	calls, turnedAway int
}

// A worker runs trials one after another, and reuses their memory.
type worker struct {
	config   Config
	ctx      context.Context // checked from time to time, because a trial may take long
	source   *rand.PCG
	rand     *rand.Rand
	schedule backoff.Schedule // the schedule in the current trial
	events   events
	clients  []client
}

// A client holds the state of one simulated client between two events.
type client struct {
	at   float64      // the time of its next event, in ms
	read float64      // the time when its last read reached the store, in ms
	step backoff.Step // the step of its next wait
}

// newWorker returns a worker for trials of c. Its trials stop when ctx is done.
func newWorker(ctx context.Context, c Config) *worker {
	source := rand.NewPCG(0, 0)
	return &worker{config: c, ctx: ctx, source: source, rand: rand.New(source)}
}

// run runs a trial and returns its outcome. The random numbers depend only on the seed and the arguments.
//
// In ModelQueue, each request is an event. In ModelOCC, the client and the store exchange four messages, but only
// the arrival of the write is an event, and the other messages only take time. The write succeeds if the read was
// not earlier than the last successful write.
func (w *worker) run(a Algorithm, clients, trial int) outcome {
	w.begin(a, clients, trial)
	occ := w.config.Model == ModelOCC
	shortest := milliseconds(w.config.ServiceMin)
	spread := milliseconds(w.config.ServiceMax) - shortest
	var o outcome
	free := math.Inf(-1) // when the service will be free, or when the last successful write arrived
	for !w.events.empty() {
		id := w.events.next()
		c := &w.clients[id]
		if c.at > horizon || w.interrupted(o.calls) {
			o.time = math.Inf(1)
			return o
		}
		o.calls++
		switch { // written inline: as methods, the cases would take 10% longer
		case occ && c.read >= free:
			free = c.at
			o.time = max(o.time, c.at+w.message()) // when the client receives the response
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

// begin prepares a trial, and schedules the first event of each client.
func (w *worker) begin(a Algorithm, clients, trial int) {
	w.seed(a, clients, trial)
	w.events.reset(clients)
	w.clients = append(w.clients[:0], make([]client, clients)...)
	w.schedule = a.Schedule
	if a.Schedule == nil {
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

// seed seeds the random numbers of a trial. The seed depends on the seed of the simulation, the name of the
// algorithm, the number of clients, and the number of the trial.
func (w *worker) seed(a Algorithm, clients, trial int) {
	hash := w.config.Seed
	for _, c := range []byte(a.Name) {
		hash = mix(hash ^ uint64(c))
	}
	w.source.Seed(mix(hash^uint64(clients)), mix(hash+uint64(trial)))
}

// mix returns a hash of x. It is one step of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// interrupted reports whether the context is done. It checks the context only once every 65,536 requests. calls is
// the number of requests so far.
func (w *worker) interrupted(calls int) bool {
	return calls%(1<<16) == 1<<16-1 && w.ctx.Err() != nil
}

// The parameters of |N(10, 2)| ms, the time that a message takes.
const (
	messageMean      = 10
	messageDeviation = 2
)

// message returns a random time that a message takes, in ms.
func (w *worker) message() float64 {
	return math.Abs(messageMean + messageDeviation*w.rand.NormFloat64())
}

// twoMessages returns a random time that two successive messages take together, in ms. The sum of two normal
// variables is a normal variable, too. Each absolute value would matter for only one message in three million, so
// one absolute value for the sum makes no difference.
func (w *worker) twoMessages() float64 {
	return math.Abs(2*messageMean + math.Sqrt2*messageDeviation*w.rand.NormFloat64())
}

// wait returns how long client c waits after a request that was turned away, in ms. It advances the step of c. If
// the schedule returns the longest Duration, wait returns +Inf.
func (w *worker) wait(c *client) float64 {
	c.step.Elapsed = words.Nanoseconds(c.at * float64(time.Millisecond))
	wait := w.schedule.Wait(c.step, w.rand)
	c.step.N++
	c.step.Previous = wait
	if wait == words.Longest {
		return math.Inf(1)
	}
	return milliseconds(wait)
}

// milliseconds returns d as a number of milliseconds.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// events is a priority queue that contains the next event of each client. It is a tournament tree: node i is the
// minimum of nodes 2i and 2i+1, so node 1 is the first event. To move an event, the method set updates the path
// from a leaf to the root, without a branch that the processor may mispredict. With container/heap, a simulation
// takes more than twice as long.
//
// A node contains the time of an event as the bits of a float64, because such bits have the same order as the
// times. The lowest bits are replaced by the number of the client. With a million clients, times that differ by
// less than one part in 2^32 become equal. The exact time is in the client.
type events struct {
	nodes  []uint64
	first  int // the index of client 0's node
	idBits int // the number of low bits that contain the client's number
}

// done is the node of a client without an event.
const done = math.MaxUint64

// reset prepares e for the given number of clients. No client has an event yet.
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

// next returns the number of the client with the earliest event. The queue must not be empty.
func (e *events) next() int {
	return int(e.nodes[1] & (1<<e.idBits - 1))
}

// move gives the client's event the time at. If the client already has an event, move replaces it.
func (e *events) move(client int, at float64) {
	e.set(client, math.Float64bits(at)>>e.idBits<<e.idBits|uint64(client))
}

// remove removes the client's event.
func (e *events) remove(client int) { e.set(client, done) }

// set sets the client's node, and updates the path from the node to the root.
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
