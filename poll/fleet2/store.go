package fleet

import (
	"context"
	"sync"
	"time"
)

// A store keeps small records.
type store interface {
	// swap puts next in the place of the record under a key if that is old, and reports whether
	// it did. If not, now is the record, "" for none. An empty next only looks. at is the
	// store's time in microseconds. Nobody needs a record that was not changed for life.
	swap(ctx context.Context, key, old, next string, life time.Duration) (now string, at int64, swapped bool, err error)
	close()
}

// mostRecord is the size of a record at most: a sealed answer in base64, and some numbers.
const mostRecord = 1 << 18

// A memory is a store in memory.
type memory struct {
	mu      sync.Mutex
	records map[string]string
}

func (m *memory) swap(_ context.Context, key, old, next string, _ time.Duration) (now string, at int64, swapped bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at = time.Now().UnixMicro()
	if next == "" || m.records[key] != old {
		return m.records[key], at, false, nil
	}
	m.records[key] = next
	return "", at, true, nil
}

func (m *memory) close() {}
