package simulate

import (
	"context"
	"math"
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
