package simulate

import (
	"math"
	"math/bits"
)

// events holds the next event of every client and knows which comes first. It
// is a tournament: node i is the earlier of nodes 2i and 2i+1, so that the first
// event is node 1 and moving an event replays one path, without a branch that
// the processor could guess wrong.
//
// A node is the time, whose bits as a float64 sort like the time, with the
// client in the lowest bits. That makes times equal that differ by less than one
// part in 2^32 even with a million clients; the exact time is in the client.
type events struct {
	nodes  []uint64
	first  int // the node of client 0
	idBits int // how many bits of a node are the client
	left   int // clients that have an event
}

// done is the node of a client that has no event.
const done = math.MaxUint64

// reset makes room for so many clients, none of which has an event.
func (e *events) reset(clients int) {
	e.idBits = bits.Len(uint(clients - 1))
	e.first = 1 << e.idBits
	e.left = 0
	e.nodes = e.nodes[:0]
	for range 2 * e.first {
		e.nodes = append(e.nodes, done)
	}
}

// next returns the client whose event comes first. There must be one.
func (e *events) next() int {
	return int(e.nodes[1] & (1<<e.idBits - 1))
}

// add gives the client its first event.
func (e *events) add(client int, at float64) {
	e.left++
	e.move(client, at)
}

// move gives the client another event instead of the one it has.
func (e *events) move(client int, at float64) {
	e.set(client, math.Float64bits(at)>>e.idBits<<e.idBits|uint64(client))
}

// remove takes the event of the client away.
func (e *events) remove(client int) {
	e.left--
	e.set(client, done)
}

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
