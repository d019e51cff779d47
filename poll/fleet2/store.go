package fleet

import (
	"context"
	"time"
)

// A store keeps small records.
type store interface {
	// swap puts next in the place of the record under a key if that is old, and reports whether
	// it did. If not, now is the record, "" for none. An empty next only looks. at is the
	// store's time in microseconds.
	swap(ctx context.Context, key, old, next string) (now string, at int64, swapped bool, err error)
	close()
}

// life is how long a record is kept that nobody changes.
const life = 2 * time.Hour

// mostRecord is the size of a record at most: a sealed answer in base64, and some numbers.
const mostRecord = 1 << 18
