package simulate

import (
	"slices"

	"github.com/pollcli/poll/backoff"
)

// pushesPerSecond is to how many clients an engine passes an answer on in a second: what
// one core of Redis does, or a little less.
const pushesPerSecond = 100_000

// An answersTrial is a trial of ModelAnswers.
type answersTrial struct {
	*worker
	schedule backoff.Schedule
	came     []float64 // when each client came, in order
	end      float64   // when what all wait for is done
	asked    request   // the newest that was sent
	operations
	outcome
}

// A request is one whose answer counts for those who had come when it was sent.
type request struct {
	sent, answered float64
	done           bool // what the answer says
}

// answers runs a trial of ModelAnswers.
func (w *worker) answers(a Algorithm, clients, trial int) outcome {
	came := make([]float64, clients)
	for i := range came {
		came[i] = w.rand.Float64() * milliseconds(w.config.Arrival)
	}
	slices.Sort(came)
	t := w.newAnswers(a, came)
	switch a.Together {
	case Alone:
		t.alone()
	case TogetherNewer:
		t.newer()
	default:
		newGroup(t, a, trial).run()
	}
	one := w.newAnswers(a, came[:1])
	newGroup(one, a, trial).run()
	t.cost = float64(t.calls) / float64(one.calls)
	t.perSecond, t.busiest = t.operations.sum()
	return t.outcome
}

func (w *worker) newAnswers(a Algorithm, came []float64) *answersTrial {
	t := &answersTrial{
		worker: w, schedule: a.Schedule, came: came, end: milliseconds(w.config.Until),
		operations: newOperations(w.config.Until),
	}
	t.first = forever
	return t
}

// forever is longer than any trial, in ms.
const forever = 1e300

// see notes that a client has seen the end.
func (t *answersTrial) see(at float64) {
	t.first = min(t.first, at-t.end)
	t.time = max(t.time, at-t.end)
}

// ask sends a request.
func (t *answersTrial) ask(now float64) {
	t.calls++
	arrived := now + t.message()
	t.asked = request{now, arrived + t.message(), arrived >= t.end}
}

// alone has each client ask until it sees the end.
func (t *answersTrial) alone() {
	for _, came := range t.came {
		var step backoff.Step
		t.asked = request{answered: came}
		for !t.asked.done && !t.interrupted(t.calls) {
			now := t.asked.answered
			t.ask(now + waitOf(t.schedule, &step, now-came, t.rand))
		}
		t.see(t.asked.answered)
	}
}

// publish passes the newest answer on to clients, of whom it counts for some.
func (t *answersTrial) publish(clients, counted int) {
	at := t.asked.answered
	for pushed := 0; pushed < clients; pushed += pushesPerSecond {
		t.operations.add(at+float64(pushed/pushesPerSecond)*1000, min(clients-pushed, pushesPerSecond))
	}
	if t.asked.done && counted > 0 {
		t.see(at)
		t.see(at + float64(counted-1)*1000/pushesPerSecond)
	}
}

// newer has each client ask when its own wait is over, unless there is an answer that was
// asked for since that began.
func (t *answersTrial) newer() {
	t.events.reset(len(t.came))
	t.clients = append(t.clients[:0], make([]client, len(t.came))...)
	for id, came := range t.came {
		t.operations.add(came, 1)
		t.rest(id, came)
	}
	t.asked.sent = -forever
	for steps, seen := 0, 0; !t.events.empty() && !t.interrupted(steps); steps++ {
		id := t.events.next()
		c := &t.clients[id]
		switch {
		case id < seen:
			t.events.remove(id)
		case t.asked.sent < c.read:
			t.operations.add(c.at, 1)
			t.ask(c.at)
			t.move(id, t.asked.answered)
		case c.at < t.asked.answered:
			t.move(id, t.asked.answered)
		case t.asked.done:
			counted, _ := slices.BinarySearch(t.came, t.asked.sent)
			t.publish(counted-seen, counted-seen)
			seen = counted
		default:
			t.operations.add(c.at, 1)
			t.rest(id, c.at)
		}
	}
}

// rest lets a wait of a client begin.
func (t *answersTrial) rest(id int, now float64) {
	c := &t.clients[id]
	c.read = now
	t.move(id, now+waitOf(t.schedule, &c.step, now-t.came[id], t.rand))
}

// move gives a client its next event.
func (t *answersTrial) move(id int, at float64) {
	t.clients[id].at = at
	t.events.move(id, at)
}
