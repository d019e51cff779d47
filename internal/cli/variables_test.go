package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/argv"
)

// valueOf has a value for what stands for the value of a flag in help.
var valueOf = map[string]string{
	"": "1", "EXPR": ".x", "NAME|FILE": "k8s-job", "P": "3", "NAME": "x", "C": "2%", "D": "1s", "DIR": "past", "N": "5", "METHOD": "PUT", "CODES": "200",
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
		args string
	}{
		"command": {ofCommand, "-- true"}, "url": {ofHTTP, server.URL}, "urls": {ofHTTP, server.URL + " " + server.URL + "/x"},
		"tcp":  {ofTCP, strings.Replace(server.URL, "http", "tcp", 1)},
		"list": {ofHTTP, "--each .items --expect 2 --until .ok " + server.URL},
	}
	for _, f := range waitFlags() {
		for name, wait := range waits {
			values := unfitting[f.Name]
			if !f.Fits(wait.kind) || f.Needs != "" {
				values = []string{valueOf[f.Value]}
				if f.FromFile {
					values = []string{"@nofile"} // which is not read
				}
			}
			if f.Hidden || strings.Contains(wait.args, "--"+f.Name+" ") || name == "list" && (f.Needs == "each" || f.Name == "targets") {
				continue
			}
			for _, value := range values {
				t.Run(f.Name+" "+value+" "+name, func(t *testing.T) {
					t.Parallel()
					line := fmt.Sprintf("%s='%s' poll --max-wait 1ms --timeout 1m %s", f.Variable(), value, wait.args)
					process, out := processOf(t, "XDG_STATE_HOME="+t.TempDir()+" "+line)
					if code := Run(t.Context(), process); code != ExitSuccess || !strings.Contains(out.err.String(), "SUCCESS") {
						t.Errorf("%s: exit code %d\n%s%s", line, code, &out.out, &out.err)
					}
				})
			}
		}
	}
}
