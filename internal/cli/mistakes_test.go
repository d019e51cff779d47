package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// unfinished is what people wait for at the wrong server, or in the wrong way.
var unfinished = map[string]string{
	"/running": `{"state":"running","progress":40,"status":"IN_PROGRESS","n":"5","items":[{"id":1}],"ready":true}`,
	"/text":    "all done", "/500": "oops error", "/401": "no",
}

func serveUnfinished(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/500":
		w.WriteHeader(http.StatusInternalServerError)
	case "/401":
		w.WriteHeader(http.StatusUnauthorized)
	}
	io.WriteString(w, unfinished[r.URL.Path])
}

// TestMistakes types what people type at first, in testdata/mistakes.txt: poll says what to type
// instead, and no line ends in a SUCCESS without a word about it.
func TestMistakes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/mistakes.txt")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(serveUnfinished))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	for name, content := range map[string]string{"ids": "a\n", "token": "s3cret\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	given := strings.NewReplacer("$URL", server.URL, "$DIR", dir)
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		line, wanted, _ := strings.Cut(block, "\n")
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			world, out := worldOf(t, "POLL_TIMEOUT=2s POLL_MAX_ATTEMPTS=2 POLL_MAX_WAIT=10ms "+given.Replace(line))
			world.began = time.Now()
			code := Run(t.Context(), world)
			for want := range strings.Lines(wanted) {
				if want = strings.TrimSpace(strings.TrimPrefix(want, "> ")); !strings.Contains(out.err.String(), given.Replace(want)) {
					t.Errorf("have exit code %d and\n%swant %s", code, &out.err, want)
				}
			}
			if wanted == "" || code == ExitSuccess && !strings.Contains(out.err.String(), "note: ") && !strings.Contains(out.err.String(), "after a redirect") {
				t.Errorf("it ends with a silent SUCCESS:\n%s", &out.err)
			}
		})
	}
}
