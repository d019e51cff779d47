package jq

import (
	"context"
	"errors"
	"fmt"
	"runtime/metrics"
	"time"

	"github.com/itchyny/gojq"
)

// limits bound a run.
type limits struct {
	time   time.Duration
	memory uint64 // bytes that the heap may grow meanwhile
}

const (
	maxTime   = 10 * time.Second
	maxMemory = 512 << 20
	maxDepth  = 10_000 // of a value
	grace     = 50 * time.Millisecond
)

// ErrAbandoned is the error of a run that ctx ended.
var ErrAbandoned = errors.New("abandoned")

// A result is what a run gives.
type result struct {
	value any
	err   error
}

// Run runs the program, which must give one value, and returns that as JSON. values are
// those of the variables that it reads. A run is ended when ctx is done, after 10 seconds,
// or once it has made the heap grow by 512 MiB, as far as gojq can be interrupted: between
// its instructions, but not within a function.
func (p *Program) Run(ctx context.Context, input any, values []any) (json string, err error) {
	return p.runWithin(ctx, limits{maxTime, maxMemory}, input, values)
}

func (p *Program) runWithin(ctx context.Context, most limits, input any, values []any) (json string, err error) {
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := time.AfterFunc(most.time, func() { cancel(fmt.Errorf("took longer than %s", most.time)) })
	defer limit.Stop()
	done := make(chan result, 1)
	go func() { done <- p.run(running, input, values) }()
	r := await(running, cancel, most.memory, done)
	switch cause := context.Cause(running); {
	case ctx.Err() != nil && r.err != nil:
		return "", ErrAbandoned
	case cause != nil && r.err != nil:
		return "", cause
	case r.err != nil:
		return "", r.err
	}
	return r.value.(string), nil
}

// await waits for a result, and cancels the run if it takes too much memory.
func await(ctx context.Context, cancel context.CancelCauseFunc, memory uint64, done <-chan result) result {
	const interval = 10 * time.Millisecond
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	before := uint64(0) // at the first tick, which most runs do not reach
	for {
		select {
		case r := <-done:
			return r
		case <-ticker.C:
			now := heap()
			if before == 0 {
				before = now
			}
			if now > before+memory {
				cancel(fmt.Errorf("took more than %d MiB of memory", memory>>20))
			}
		case <-ctx.Done():
			select {
			case r := <-done:
				return r
			case <-time.After(grace):
				return result{err: ctx.Err()} // it ends as soon as it can
			}
		}
	}
}

// heap is the size of the heap in bytes.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// run gives the only value as JSON.
func (p *Program) run(ctx context.Context, input any, values []any) (r result) {
	defer func() {
		if recover() != nil {
			r = result{err: errors.New("failed, which is a defect of poll or gojq")}
		}
	}()
	code, err := p.code()
	if err != nil {
		return result{err: err}
	}
	iter := code.RunWithContext(ctx, input, values...)
	v, ok := iter.Next()
	if !ok {
		return result{err: errors.New("gives no value")}
	}
	if err, failed := v.(error); failed {
		return result{err: p.stopped(err)}
	}
	if second, more := iter.Next(); more {
		if err, failed := second.(error); failed {
			return result{err: p.stopped(err)}
		}
		return result{err: errors.New("gives several values; any(...), all(...), first(...) or [...] make one of them")}
	}
	if tooDeep(v, maxDepth) {
		return result{err: fmt.Errorf("gives a value that is nested deeper than %d levels", maxDepth)}
	}
	json, err := gojq.Marshal(v)
	return result{string(json), err}
}

// stopped says why a run ended. What gojq says may hold a part of a value, and so of
// what is not to be shown.
func (p *Program) stopped(err error) error {
	if p.Reads.Hidden() {
		return errors.New("stopped with an error, which is not shown: it may hold a variable of the environment, or a header")
	}
	if _, halted := errors.AsType[*gojq.HaltError](err); halted {
		return errors.New("halted")
	}
	return fmt.Errorf("stopped: %w", err)
}

func tooDeep(v any, depth int) bool {
	if depth == 0 {
		return true
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if tooDeep(x, depth-1) {
				return true
			}
		}
	case map[string]any:
		for _, x := range v {
			if tooDeep(x, depth-1) {
				return true
			}
		}
	}
	return false
}
