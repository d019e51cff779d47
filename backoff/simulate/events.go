package simulate

import (
	"math"
	"math/bits"
)

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
