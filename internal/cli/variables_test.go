package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/cli/run"
)

// A variable that does not apply to a wait is ignored without a message.
func TestVariables_ignored(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no program true")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"items":[{"id":1,"ok":true},{"id":2,"ok":true}]}`)
	}))
	t.Cleanup(server.Close)
	const needs = "POLL_RESUME=1 POLL_KEY=nofile POLL_POLL_COST=1% POLL_HISTORY=nodir POLL_SHARE_KEY=k POLL_POWER=3 "
	const ofHTTP = "POLL_HEADER=@nofile POLL_OAUTH2_BEARER=@nofile POLL_NETRC=1 POLL_CACERT=nofile POLL_CERT=nofile POLL_PROXY=:: POLL_RESOLVE=x "
	for name, line := range map[string]string{
		"a command":     needs + ofHTTP + "POLL_SHARE=DIR POLL_RATE=50/s poll -- true",
		"a TCP address": needs + ofHTTP + "poll " + strings.Replace(server.URL, "http", "tcp", 1),
		"a URL":         needs + "poll --until '$status == 200' URL",
		"several":       needs + "POLL_LEARN=one poll --until '$status == 200' URL URL/b",
		"a list":        needs + "poll --each .items --expect 2 --until .ok URL",
		"a stream":      needs + "POLL_SHARE=DIR poll --stream --until '$status == 200' URL",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			process, out := processOf(t, "POLL_MAX_WAIT=1ms "+strings.NewReplacer("URL", server.URL, "=DIR", "="+t.TempDir()).Replace(line))
			if code := Run(t.Context(), process); code != run.ExitSuccess || strings.Contains(out.err.String(), "note:") {
				t.Errorf("%s: exit code %d\n%s%s", line, code, &out.out, &out.err)
			}
		})
	}
}

// A variable for a flag without a variable is an error, even if the variable is empty, and even if the wait
// could not use the flag.
func TestVariables_none(t *testing.T) {
	t.Parallel()
	count := 0
	for _, f := range read.WaitFlags() {
		if f.HasVariable || f.Set == nil {
			continue
		}
		count++
		for _, value := range []string{"", "1"} {
			process, out := processOf(t, f.Variable()+"="+value+" poll no-such-program")
			want := fmt.Sprintf("poll: %s is set, but --%s has no variable\n", f.Variable(), f.Name)
			if code := Run(t.Context(), process); code != run.ExitUsage || !strings.HasPrefix(out.err.String(), want) {
				t.Errorf("exit code %d, have %s want %s", code, &out.err, want)
			}
		}
	}
	if count < 40 {
		t.Errorf("only %d flags have no variable", count)
	}
}
