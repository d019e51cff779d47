// Package simulate shows what a schedule does to a service that many clients
// contend for. It runs in virtual time: a wait of an hour takes no longer to
// simulate than one of a millisecond.
//
// Two models are known from the literature. In [ModelQueue] a service
// takes one client at a time, and the others come back later. In [ModelOCC]
// clients write to one row under optimistic concurrency, over a network. [Run]
// tells for each schedule how long it takes until all clients are done, and how
// many calls the service receives.
//
// Two more are about what clients gain by going together, through an engine that they
// share, such as Redis. In [ModelLimit] a service takes so many requests a second from all
// of them, and in [ModelAnswers] all wait for the same thing.
//
// How soon a client notices that an operation is
// done is a different question, answered by [backoff.Table.Coverage].
package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
)

// A Model is a service that clients contend for.
type Model string

// The models.
const (
	// ModelQueue is a service that serves one client at a time. A client that
	// finds it busy waits and asks again; asking takes no time. All clients
	// start together.
	ModelQueue Model = "queue"
	// ModelOCC is a row in a store. Each client reads the version of the row and
	// then writes to it, which succeeds if there was no other write in between;
	// otherwise the client waits and starts over. Each of the four messages takes
	// |N(10, 2)| ms; the store takes no time. The model and its numbers are those
	// of github.com/aws-samples/aws-arch-backoff-simulator.
	ModelOCC Model = "occ"
	// ModelLimit is a service that takes so many requests a second from all clients, and
	// refuses the others. Each client looks at something of its own, time and again. A
	// message takes as long as in ModelOCC, and a call of what the clients share no time.
	ModelLimit Model = "limit"
	// ModelAnswers is a service that tells all clients about the same thing, which is
	// done at some time. Messages are those of ModelLimit. What the clients share passes
	// an answer on to 100,000 of them a second, one after the other.
	ModelAnswers Model = "answers"
)

// Models returns every model.
func Models() []Model { return []Model{ModelQueue, ModelOCC, ModelLimit, ModelAnswers} }

// Together says what clients of [ModelLimit] or [ModelAnswers] do together.
type Together string

// What clients do together.
const (
	Alone Together = "" // nothing

	// TogetherGate closes the service to all clients for as long as a refusal of one asks
	// for; then all may ask at once.
	TogetherGate Together = "gate"
	// TogetherLearned spaces the requests of all, too: each takes a slot. The rate is a
	// guess at first, which a refusal halves and time lets grow.
	TogetherLearned Together = "learned"
	// TogetherKnown begins with the rate of the service.
	TogetherKnown Together = "known"

	// TogetherNewer has a client whose wait is over ask only if nobody has asked since it
	// had its last answer.
	TogetherNewer Together = "newer"
	// TogetherDue has one time for all at which one of them asks. One that has just come
	// asks at once.
	TogetherDue Together = "due"
	// TogetherShared lets one that has just come wait for half of the wait of the others,
	// at most.
	TogetherShared Together = "shared"
)

// together returns what clients can do together in a model.
func (m Model) together() []Together {
	switch m {
	case ModelLimit:
		return []Together{TogetherGate, TogetherLearned, TogetherKnown}
	case ModelAnswers:
		return []Together{TogetherNewer, TogetherDue, TogetherShared}
	}
	return nil
}

// Published returns the base and the longest wait that the model was published
// with: 10 ms and [backoff.NoCap] for ModelQueue, 5 ms and 2 s for ModelOCC. Those of the
// other models are the defaults of package backoff.
func (m Model) Published() (base, maxWait time.Duration) {
	switch m {
	case ModelQueue:
		return 10 * time.Millisecond, backoff.NoCap
	case ModelOCC:
		return 5 * time.Millisecond, 2 * time.Second
	}
	return backoff.DefaultBase, backoff.DefaultMaxWait
}

// Algorithms returns the algorithms that the model was published with, for the
// given base and longest wait. A 0 stands for the published one, and
// [backoff.NoCap] for no longest wait. The algorithms are called "exponential",
// "full", "equal" and "decorrelated". ModelOCC also has "none", which does not
// wait; other clients would then ask for ever.
//
// In ModelLimit and ModelAnswers each client goes by those alone. What they can do
// together comes after them, and is called as the [Together]; in ModelLimit its waits are
// those of "exponential", after a refusal with the jitter of [backoff.Throttled], and in
// ModelAnswers those of "full".
func (m Model) Algorithms(base, maxWait time.Duration) []Algorithm {
	publishedBase, publishedMax := m.Published()
	base, maxWait = cmp.Or(base, publishedBase), cmp.Or(maxWait, publishedMax)
	exponential := backoff.Cap{Of: backoff.Exponential{Base: base}, Max: maxWait}
	full := backoff.Full{Of: exponential}
	algorithms := []Algorithm{
		{Name: "none", Schedule: backoff.Fixed(0)},
		{Name: "exponential", Schedule: exponential},
		{Name: "full", Schedule: full},
		{Name: "equal", Schedule: backoff.Equal{Of: exponential}},
		{Name: "decorrelated", Schedule: backoff.Cap{Of: backoff.Decorrelated{Base: base}, Max: maxWait}},
	}
	if m != ModelOCC {
		algorithms = algorithms[1:]
	}
	if m == ModelLimit {
		algorithms[0].Throttled = backoff.Throttled(exponential)
	}
	for _, t := range m.together() {
		a := Algorithm{Name: string(t), Schedule: full, Together: t}
		if m == ModelLimit {
			a.Schedule, a.Throttled = exponential, backoff.Throttled(exponential)
		}
		algorithms = append(algorithms, a)
	}
	return algorithms
}

// An Algorithm is a named schedule for clients that were turned away. As published, the
// first wait of a client is for step 0 in ModelQueue and for step 1 in ModelOCC.
type Algorithm struct {
	// Name identifies the algorithm in the results, and is part of the seed of
	// its random numbers.
	Name string
	// Schedule computes the waits. nil means backoff.Exponential{}.
	Schedule backoff.Schedule
	// Throttled computes those after a refusal of ModelLimit that does not say for how
	// long. nil means Schedule.
	Throttled backoff.Schedule
	// Together says what clients of ModelLimit or ModelAnswers do together.
	Together Together
}

// Config says what to simulate. Start from [Defaults].
type Config struct {
	// Model is the service.
	Model Model
	// Algorithms are the ways of waiting to compare, at least one.
	Algorithms []Algorithm
	// Clients are the numbers of clients to simulate, each from 1 to a million.
	Clients []int
	// Trials is how often each pair of clients and algorithm is simulated, at
	// least once.
	Trials int
	// ServiceMin and ServiceMax bound the time, drawn evenly, for which ModelQueue
	// serves a client. ModelOCC ignores them.
	ServiceMin, ServiceMax time.Duration
	// Limit is that of ModelLimit.
	Limit Limit
	// Until is for how long the clients of ModelLimit look, and when what those of
	// ModelAnswers wait for is done, from 1 second to 30 days.
	Until time.Duration
	// Arrival is the time within which the clients of ModelLimit and ModelAnswers come,
	// drawn evenly. From then on, each waits before its first look.
	Arrival time.Duration
	// Seed makes a simulation repeatable. A result depends on the seed, the
	// algorithm and its name, the number of clients and the number of trials. It
	// depends neither on the number of processors nor on what else is simulated.
	Seed uint64
	// Workers is the number of trials that run at a time. 0 or less means
	// GOMAXPROCS. With many clients there are fewer, for the sake of memory.
	Workers int
	// Progress, if not nil, is called about a hundred times, by one goroutine at a
	// time, with the numbers of trials done and in all.
	Progress func(done, total int)
}

// Defaults returns the published configuration of ModelQueue and ModelOCC: its algorithms
// for 10 to 190 clients in steps of 10, with 100 trials each. A client of ModelQueue is
// served in 8 to 12 ms.
//
// For the other models it is 10 trials each of 100 and 1,000 clients that come within a
// second, for ten minutes. A service with a limit takes 20 requests a second, as many at
// once, and asks those that it refuses to wait for 5 seconds.
func Defaults(m Model) Config {
	c := Config{Model: m, Algorithms: m.Algorithms(0, 0), Trials: 100}
	switch m {
	case ModelLimit, ModelAnswers:
		c.Clients, c.Trials = []int{100, 1000}, 10
		c.Until, c.Arrival = 10*time.Minute, time.Second
		c.Limit = Limit{PerSecond: 20, Burst: 20, RetryAfter: 5 * time.Second, Guess: 50}
		return c
	case ModelQueue:
		c.ServiceMin, c.ServiceMax = 8*time.Millisecond, 12*time.Millisecond
	}
	for n := 10; n <= 190; n += 10 {
		c.Clients = append(c.Clients, n)
	}
	return c
}

// Limits that keep typing errors from using up the memory.
const (
	maxClients = 1_000_000
	maxTrials  = 10_000_000
	maxUntil   = 30 * 24 * time.Hour
	maxRate    = 1_000_000_000
	maxAtOnce  = 4 * maxClients // simulated at a time
)

// Validate returns nil if c can be simulated. Otherwise the error is a
// [*backoff.ParameterError] about the "model", "algorithm", "clients", "trials",
// "service", "rate", "burst", "retry after", "extend", "guess", "until time" or "arrival".
func (c Config) Validate() error {
	invalid := slices.IndexFunc(c.Clients, func(n int) bool { return n < 1 || n > maxClients })
	switch {
	case !slices.Contains(Models(), c.Model):
		return problem("model", "%q is none of queue, occ, limit, answers", string(c.Model))
	case len(c.Algorithms) == 0:
		return problem("algorithm", "none given, there are %s", c.Model.published())
	case c.Model != ModelOCC && slices.ContainsFunc(c.Algorithms, Algorithm.neverWaits):
		return problem("algorithm", "clients of model %s that do not wait would ask for ever; there are %s",
			c.Model, c.Model.published())
	case len(c.Clients) == 0:
		return problem("clients", "no number given")
	case invalid >= 0:
		return problem("clients", "%d is not from 1 to %d", c.Clients[invalid], maxClients)
	case c.Trials < 1:
		return problem("trials", "%d is below 1", c.Trials)
	case c.Trials > maxTrials/c.cells():
		return problem("trials", "%d of each are more than %d in all", c.Trials, maxTrials)
	case c.ServiceMin < 0:
		return problem("service", "%v is negative", c.ServiceMin)
	case c.ServiceMax < c.ServiceMin:
		return problem("service", "%v to %v ends before it begins", c.ServiceMin, c.ServiceMax)
	}
	for _, a := range c.Algorithms {
		if a.Together != Alone && !slices.Contains(c.Model.together(), a.Together) {
			return problem("algorithm", "clients of model %s cannot go together as %q", c.Model, string(a.Together))
		}
	}
	if c.Model.together() == nil {
		return nil
	}
	return c.validateTogether()
}

func (c Config) validateTogether() error {
	l := c.Limit
	switch {
	case c.Until < time.Second || c.Until > maxUntil:
		return problem("until time", "%v is not from 1s to 720h", c.Until)
	case c.Arrival < 0 || c.Arrival > c.Until:
		return problem("arrival", "%v is not from 0s to %v, when it is over", c.Arrival, c.Until)
	case c.Model != ModelLimit:
		return nil
	case !(l.PerSecond > 0 && l.PerSecond <= maxRate):
		return problem("rate", "%v a second is not above 0, or more than %d", l.PerSecond, maxRate)
	case l.Burst < 1:
		return problem("burst", "%d is below 1", l.Burst)
	case l.RetryAfter < 0 || l.RetryAfter > maxUntil:
		return problem("retry after", "%v is not from 0s to 720h", l.RetryAfter)
	case l.Extends && l.RetryAfter == 0:
		return problem("extend", "there is nothing to extend without a wait that a refusal asks for")
	case !(l.Guess >= 0 && l.Guess <= maxRate):
		return problem("guess", "%v a second is negative, or more than %d", l.Guess, maxRate)
	}
	return nil
}

// published lists the names of the published algorithms.
func (m Model) published() string {
	var names []string
	for _, a := range m.Algorithms(0, 0) {
		names = append(names, a.Name)
	}
	return strings.Join(names, ", ")
}

// neverWaits reports whether a does not wait, judging by its first waits.
func (a Algorithm) neverWaits() bool {
	for row := range (backoff.Table{Schedule: a.Schedule, Attempts: 10}).Rows() {
		if row.Latest > 0 {
			return false
		}
	}
	return true
}

func problem(parameter, format string, args ...any) error {
	return &backoff.ParameterError{Parameter: parameter, Problem: fmt.Sprintf(format, args...)}
}
