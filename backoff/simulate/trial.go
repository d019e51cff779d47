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

// An outcome is the result of one trial. Its fields have the meaning and the units of a [Result].
type outcome struct {
	time              float64
	calls, turnedAway int
}

// A worker runs trials one after another, and reuses their memory.
type worker struct {
	config   Config
	ctx      context.Context // checked from time to time, since a trial may take long
	source   *rand.PCG
	rand     *rand.Rand
	schedule backoff.Schedule // the schedule of the current trial
	events   events
	clients  []client
}

// A client is the state of a client between two events.
type client struct {
	at   float64      // the time of the next event, in ms
	read float64      // the time when the last read reached the store, in ms
	step backoff.Step // the step of the next wait
}

// newWorker returns a worker for trials of c, which stop when ctx is done.
func newWorker(ctx context.Context, c Config) *worker {
	source := rand.NewPCG(0, 0)
	return &worker{config: c, ctx: ctx, source: source, rand: rand.New(source)}
}

// run runs a trial and returns its outcome. Random numbers depend only on the seed and the arguments.
//
// An event of ModelQueue is a request. An exchange in ModelOCC has four messages, and only the write is an
// event. The write succeeds if the read was not earlier than the last successful write. The other messages only
// take time.
func (w *worker) run(a Algorithm, clients, trial int) outcome {
	w.begin(a, clients, trial)
	occ := w.config.Model == ModelOCC
	shortest := milliseconds(w.config.ServiceMin)
	spread := milliseconds(w.config.ServiceMax) - shortest
	var o outcome
	free := math.Inf(-1) // the time when the service is free again, or of the last successful write
	for !w.events.empty() {
		id := w.events.next()
		c := &w.clients[id]
		if c.at > horizon || w.interrupted(o.calls) {
			o.time = math.Inf(1)
			return o
		}
		o.calls++
		switch { // the cases are inline: as methods they take 10% longer
		case occ && c.read >= free:
			free = c.at
			o.time = max(o.time, c.at+w.message()) // until the client has the response
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

// begin prepares a trial, and sets the first event of each client.
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

// seed seeds the random numbers of a trial. They depend on the seed of the simulation, the name of the
// algorithm, and the numbers of clients and of the trial.
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

// interrupted reports whether the context is done. calls is the number of requests so far. The context is
// checked only at every 65,536th request.
func (w *worker) interrupted(calls int) bool {
	return calls%(1<<16) == 1<<16-1 && w.ctx.Err() != nil
}

// The time that a message takes is |N(10, 2)| ms.
const (
	messageMean      = 10
	messageDeviation = 2
)

// message returns the time that a message takes, in ms.
func (w *worker) message() float64 {
	return math.Abs(messageMean + messageDeviation*w.rand.NormFloat64())
}

// twoMessages returns the time of two messages in a row, in ms. The sum of two normal variables is a normal
// variable. The absolute value affects one message in three million, which makes no difference.
func (w *worker) twoMessages() float64 {
	return math.Abs(2*messageMean + math.Sqrt2*messageDeviation*w.rand.NormFloat64())
}

// wait returns how long client c waits after a request in vain, in ms. It advances the step of c. It returns
// +Inf for the longest Duration.
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

// milliseconds converts d to milliseconds.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// events is a priority queue with the next event of each client. It is a tournament tree: node i is the minimum
// of nodes 2i and 2i+1, so node 1 is the first event. To move an event, set replays one path from a leaf to the
// root, without a branch that the processor may mispredict. With container/heap a simulation takes more than
// twice as long.
//
// A node is the time of the event, as the bits of a float64, which sort like the time. The lowest bits are
// replaced by the number of the client. With a million clients, times that differ by less than one part in 2^32
// become equal. The client has the exact time.
type events struct {
	nodes  []uint64
	first  int // the index of the node of client 0
	idBits int // the number of low bits that hold the number of the client
}

// done is the node of a client that has no event.
const done = math.MaxUint64

// reset prepares e for a number of clients without events.
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

// next returns the client with the first event. The queue must not be empty.
func (e *events) next() int {
	return int(e.nodes[1] & (1<<e.idBits - 1))
}

// move sets the event of client to the time at, and replaces an earlier event of client.
func (e *events) move(client int, at float64) {
	e.set(client, math.Float64bits(at)>>e.idBits<<e.idBits|uint64(client))
}

// remove removes the event of client.
func (e *events) remove(client int) { e.set(client, done) }

// set sets the node of client, and updates the nodes from there to the root.
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
