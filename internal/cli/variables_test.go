package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/ui/term"
)

// valueOf has a value for what stands for the value of a flag in help.
var valueOf = map[string]string{
	"": "1", "EXPR": ".x", "NAME|FILE": "k8s-job", "P": "3", "NAME": "x", "C": "2%", "D": "1s", "DIR": "past", "N": "5", "METHOD": "PUT",
	"DATA": "x", "USER:PASS": "a:b", "NAME=VALUE": "a=b", "FILE": "nofile", "PATH": "x.sock", "URL": "http://127.0.0.1:1", "WHERE": "none",
	"HOST:PORT:ADDRESS": "x.example:80:127.0.0.1", "HOST:PORT:HOST:PORT": "x.example:80:y.example:80",
}

// unfitting has values of flags that fit every kind of target, which are for some waits only.
var unfitting = map[string][]string{
	"until":        {"$error == null"}, // other conditions are an error where no condition is left
	"error-if":     {"$status == 500", "$exit == 9", `$stdout == "x"`, "$gone"},
	"throttled-if": {"$status == 429", "$exit == 75"}, "not-ready-if": {"$status == 404", "$exit == 75", ".busy"},
	"learn": {"one", "each-{}"}, "each": {".items"}, "targets": {"names"}, "any": {"1"}, "at-least": {"2", "95%"}, "expect": {"2"},
	"pass-exit-code": {"1"}, "name": {"x"}, "print": {"$status", "$exit", "$name"}, "show": {"$status", "$exit", ".done"},
	"help": {"1"}, "version": {"1", "v1.2.3"},
}

// A variable that does not fit a wait is for others: the wait goes as it does without.
func TestVariablesForOtherWaits(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("it has no program of that name")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"items":[{"id":1,"ok":true},{"id":2,"ok":true}]}`)
	}))
	t.Cleanup(server.Close)
	waits := map[string]struct {
		kind argv.Kinds
		args []string
	}{
		"command": {ofCommand, []string{"--", "true"}}, "url": {ofHTTP, []string{server.URL}}, "urls": {ofHTTP, []string{server.URL, server.URL + "/x"}},
		"tcp":  {ofTCP, []string{strings.Replace(server.URL, "http", "tcp", 1)}},
		"list": {ofHTTP, []string{"--each", ".items", "--expect", "2", "--until", ".ok", server.URL}},
	}
	for _, f := range waitFlags() {
		for name, wait := range waits {
			values := unfitting[f.Name]
			if !f.Fits(wait.kind) || f.Needs != "" {
				value := valueOf[f.Value]
				if f.FromFile {
					value = "@nofile" // which is not read
				}
				values = []string{value}
			}
			if f.Hidden || slices.Contains(wait.args, "--"+f.Name) || name == "list" && (f.Needs == "each" || f.Name == "targets") {
				continue
			}
			for _, value := range values {
				t.Run(f.Name+" "+value+" "+name, func(t *testing.T) {
					t.Parallel()
					runWith(t, f.Name, value, wait.args)
				})
			}
		}
	}
}

// runWith runs a wait with the variable of a flag.
func runWith(t *testing.T, flag, value string, args []string) {
	name := "POLL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
	state := t.TempDir()
	streams, out, err := term.Buffers("")
	code := Run(t.Context(), Process{Args: append([]string{"--max-wait", "1ms", "--timeout", "1m"}, args...), Streams: streams, began: time.Now(),
		Lookup: func(variable string) (string, bool) {
			switch variable {
			case name:
				return value, true
			case "XDG_STATE_HOME":
				return state, true
			}
			return "", false
		}})
	if said := out.String() + err.String(); code != ExitSuccess || !strings.Contains(said, "SUCCESS") {
		t.Errorf("%s=%s poll %s: exit code %d\n%s", name, value, strings.Join(args, " "), code, said)
	}
}
