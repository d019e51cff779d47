package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/cli/run"
)

// unfinished holds the bodies of the test server by path. No body reports a finished operation without a
// mistake in the command line.
var unfinished = map[string]string{
	"/running": `{"state":"running","progress":40,"status":"IN_PROGRESS","n":"5","items":[{"id":1}],"ready":true,"share":"40.0"}`,
	"/failed":  `{"state":"failed","jobs":[{"state":"error"}]}`, "/queued": `{"state":"queued"}`,
	"/killed": `{"state":"KILLED"}`,
	"/err200": `{"error":"no such job","code":404}`, "/array": `[{"state":"running"}]`,
	"/list": `{"jobs":[{"id":1,"status":"finished"}]}`,
	"/text": "all done", "/500": "oops error", "/401": "no", "/login": "<html>login</html>",
}

func serveUnfinished(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/302login":
		http.Redirect(w, r, "/login", http.StatusFound)
		return
	case "/500":
		w.WriteHeader(http.StatusInternalServerError)
	case "/401":
		w.WriteHeader(http.StatusUnauthorized)
	case "/list":
		w.Header().Set("Link", `</list?page=2>; rel="next"`)
	}
	io.WriteString(w, unfinished[r.URL.Path])
}

// TestMistakes runs the frequent mistakes of testdata/mistakes.txt. Lines with the same message stand above
// the message. Each line has a rating. A: the message has the cause and a correct line, or describes the
// action. B: the message has only the cause. No line ends in a SUCCESS without a message. Malformed
// expressions are in status/expr/testdata/errors.txt.
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
	rated := map[string]int{}
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		lines, wanted, _ := strings.Cut(block, "\n> ")
		for typed := range strings.SplitSeq(lines, "\n") {
			rating, line, _ := strings.Cut(typed, " ")
			rated[rating]++
			t.Run(line, func(t *testing.T) {
				t.Parallel()
				testMistake(t, given, line, wanted)
			})
		}
	}
	if rated["A"] < 220 || rated["C"] > 0 {
		t.Errorf("have %v, want at least 220 A and no C", rated)
	}
}

func testMistake(t *testing.T, given *strings.Replacer, line, wanted string) {
	process, out := processOf(t, "POLL_TIMEOUT=2s POLL_MAX_ATTEMPTS=2 POLL_MAX_WAIT=10ms "+given.Replace(line))
	code := Run(t.Context(), process)
	said := out.err.String()
	for want := range strings.SplitSeq(wanted, "\n> ") {
		if want == "" || !strings.Contains(said, given.Replace(want)) {
			t.Errorf("have exit code %d and\n%swant %s", code, said, want)
		}
	}
	if code == run.ExitSuccess && !strings.Contains(said, "note: ") && !strings.Contains(said, "after a redirect") {
		t.Errorf("it ends with a silent SUCCESS:\n%s", said)
	}
}
