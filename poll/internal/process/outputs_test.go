package process

import (
	"bytes"
	"testing"

	"github.com/pollcli/poll/poll/internal/body"
)

func TestHead(t *testing.T) {
	t.Parallel()
	h := head{ctx: t.Context(), Buffer: body.Buffer{Limit: 5}}
	for _, text := range []string{"abc", "", "def", "g"} {
		if n, err := h.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%q: have %d, %v", text, n, err)
		}
	}
	if string(h.Kept) != "abcde" || h.size != 7 {
		t.Errorf("have %q of %d bytes", h.Kept, h.size)
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	var all []byte
	for _, size := range []int{0, 1, 6, 7, 8, 9, 20, 100} {
		ring := tail{ring: make([]byte, 8)}
		all = all[:0]
		for i := range size {
			p := []byte{byte(i)}
			all = append(all, p...)
			ring.Write(p[:copy(ring.room(), p)])
			want := all[max(0, len(all)-8):]
			if have := ring.take(); !bytes.Equal(have, want) {
				t.Fatalf("after %d bytes: have %v, want %v", i+1, have, want)
			}
		}
	}
}
