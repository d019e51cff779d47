package process

import (
	"bytes"
	"testing"
)

func TestHead(t *testing.T) {
	t.Parallel()
	var want []byte
	h := head{max: 1000}
	for i := range 50 {
		p := bytes.Repeat([]byte{byte(i)}, i)
		want = append(want, p...)
		h.Write(p)
		if most := 1000; cap(h.kept) > most+most/8 {
			t.Fatalf("have room for %d bytes, want about %d at most", cap(h.kept), most)
		}
	}
	kept, size := h.take()
	if !bytes.Equal(kept, want[:1000]) || size != int64(len(want)) {
		t.Errorf("have %d of %d bytes, want the first 1000 of %d", len(kept), size, len(want))
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
