package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// What many wait for is asked about as often as one would ask, and all see the end of it.
func TestShare_crowd(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a crowd in real time")
	}
	const needed, waits = 10, 40
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		state := "running"
		if asked.Add(1) >= needed {
			state = "done"
		}
		fmt.Fprintf(w, `{"state":%q}`, state)
	}))
	defer server.Close()
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range waits {
		all.Go(func() {
			world, err := worldOf(t, `poll -q --share `+dir+` --interval 250ms --timeout 1m --until '.state=="done"' `+server.URL)
			if code := Run(t.Context(), world); code != ExitSuccess {
				t.Errorf("%d: exit %d: %s", i, code, &err.err)
			}
		})
	}
	all.Wait()
	// Who begins when it is done already asks once more.
	if n := asked.Load(); n > 2*needed {
		t.Errorf("%d waits asked %d times, one needs %d", waits, n, needed)
	}
}
