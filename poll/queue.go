package poll

import "container/heap"

// A queue is a priority queue whose items know their place in it.
type queue[T any] struct {
	before func(a, b T) bool
	place  func(T) *int // its place from 1, 0 if it is not in the queue
	items  []T
}

func (q *queue[T]) Len() int           { return len(q.items) }
func (q *queue[T]) Less(i, j int) bool { return q.before(q.items[i], q.items[j]) }

// Swap is for package heap.
func (q *queue[T]) Swap(i, j int) {
	q.items[i], q.items[j] = q.items[j], q.items[i]
	*q.place(q.items[i]), *q.place(q.items[j]) = i+1, j+1
}

// Push is for package heap.
func (q *queue[T]) Push(x any) {
	q.items = append(q.items, x.(T))
	*q.place(x.(T)) = len(q.items)
}

// Pop is for package heap.
func (q *queue[T]) Pop() any {
	last := len(q.items) - 1
	x := q.items[last]
	clear(q.items[last:])
	q.items = q.items[:last]
	*q.place(x) = 0
	return x
}

// put adds x, or moves it to where it now belongs.
func (q *queue[T]) put(x T) {
	if at := *q.place(x); at > 0 {
		heap.Fix(q, at-1)
		return
	}
	heap.Push(q, x)
}

// remove removes x if it is in the queue.
func (q *queue[T]) remove(x T) {
	if at := *q.place(x); at > 0 {
		heap.Remove(q, at-1)
	}
}

// has reports whether x is in this queue, if it can be in others.
func (q *queue[T]) has(x T) bool {
	at := *q.place(x) - 1
	return 0 <= at && at < len(q.items) && any(q.items[at]) == any(x)
}

// first returns the first item, unless the queue is empty.
func (q *queue[T]) first() (x T, ok bool) {
	if len(q.items) == 0 {
		return x, false
	}
	return q.items[0], true
}
