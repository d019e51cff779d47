package report

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// What comes while nobody reads is written together, and only a full queue waits.
func TestQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var have bytes.Buffer
		var writes int
		reads := make(chan struct{})
		q := newQueue(writerFunc(func(p []byte) (int, error) {
			<-reads
			writes++
			return have.Write(p)
		}), func(err error) { t.Errorf("lost: %v", err) })
		write := func(s string) { _, _ = q.Write([]byte(s)) }
		write("a")
		synctest.Wait()
		write("b")
		write("c")
		reads <- struct{}{}
		reads <- struct{}{}
		synctest.Wait()
		if have.String() != "abc" || writes != 2 {
			t.Errorf("have %q in %d writes, want abc in 2", &have, writes)
		}
		write("d")
		synctest.Wait() // d is being written
		full := strings.Repeat("e", queueSize)
		write(full)
		var written atomic.Bool
		go func() {
			write("f")
			written.Store(true)
		}()
		if synctest.Wait(); written.Load() {
			t.Error("a full queue takes more")
		}
		reads <- struct{}{}
		if synctest.Wait(); !written.Load() {
			t.Error("the queue takes no more though it is being read")
		}
		close(reads)
		if err := q.Close(); err != nil || have.String() != "abcd"+full+"f" {
			t.Errorf("error %v, %d bytes", err, have.Len())
		}
	})
}

// What comes right after a write is written together, soon.
func TestQueue_pause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var writes []string
		q := newQueue(writerFunc(func(p []byte) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			writes = append(writes, string(p))
			return len(p), nil
		}), func(err error) { t.Errorf("lost: %v", err) })
		have := func() string {
			mu.Lock()
			defer mu.Unlock()
			return strings.Join(writes, " ")
		}
		for _, s := range []string{"a", "b", "c"} {
			_, _ = q.Write([]byte(s))
			synctest.Wait()
		}
		if have() != "a" {
			t.Errorf("at once: have %q, want a", have())
		}
		time.Sleep(queuePause)
		synctest.Wait()
		if have() != "a bc" {
			t.Errorf("after the pause: have %q, want a bc", have())
		}
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestQueue_lost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken pipe")
		var lost []error
		q := newQueue(writerFunc(func([]byte) (int, error) { return 0, broken }), func(err error) { lost = append(lost, err) })
		if _, err := q.Write([]byte("a")); err != nil {
			t.Errorf("the first write: %v", err)
		}
		synctest.Wait()
		if len(lost) != 1 || lost[0] != broken {
			t.Errorf("lost: %v", lost)
		}
		if _, err := q.Write([]byte("b")); err != broken {
			t.Errorf("the second write: %v", err)
		}
		if err := q.Close(); err != broken {
			t.Errorf("close: %v", err)
		}
	})
}

// What is to come after something was written does so only then, and never if that fails.
func TestQueue_then(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var have bytes.Buffer
		reads := make(chan error)
		q := newQueue(writerFunc(func(p []byte) (int, error) {
			if err := <-reads; err != nil {
				return 0, err
			}
			return have.Write(p)
		}), func(error) {})
		said := ""
		then := func(s string) { q.Then(func() { said += s + " after " + have.String() + "\n" }) }
		then("nothing")
		_, _ = q.Write([]byte("a"))
		synctest.Wait()
		then("a") // which is being written
		_, _ = q.Write([]byte("b"))
		then("b")
		synctest.Wait()
		if want := "nothing after \n"; said != want {
			t.Errorf("before a reader comes: have %q, want %q", said, want)
		}
		reads <- nil
		reads <- nil
		synctest.Wait()
		_, _ = q.Write([]byte("c"))
		then("c")
		reads <- errors.New("broken pipe")
		if q.Close() == nil {
			t.Error("no error")
		}
		synctest.Wait()
		if want := "nothing after \na after ab\nb after ab\n"; said != want {
			t.Errorf("have %q, want %q", said, want)
		}
	})
}
