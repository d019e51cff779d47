package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// slowly is a stdout that is read slowly, but is read.
type slowly struct{ bytes.Buffer }

func (w *slowly) Write(p []byte) (int, error) {
	time.Sleep(50 * time.Millisecond)
	return w.Buffer.Write(p)
}

// The deadline does not cut off the lines of targets that end there.
func TestSeveral_linesAtTheDeadline(t *testing.T) {
	t.Parallel()
	answer := fmt.Sprintf(`{"state":"running","log":%q}`, strings.Repeat("x", 1<<20))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, answer)
	}))
	defer server.Close()
	var urls []string
	for i := range 8 {
		urls = append(urls, fmt.Sprintf("%s/%d", server.URL, i))
	}
	process, _ := processOf(t, `poll -q --timeout 500ms --interval 50ms --rate 0 --until '.state=="done"' `+strings.Join(urls, " "))
	var out slowly
	process.Streams.Out = &out
	code := Run(t.Context(), process)
	if lines := strings.Count(out.String(), "\n"); code != ExitTimeout || lines != len(urls) {
		t.Errorf("have exit code %d and %d lines, want %d and %d", code, lines, ExitTimeout, len(urls))
	}
}
