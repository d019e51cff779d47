package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
)

// variables has, for the variable of each flag that does not fit every wait, values that are meant
// for some. unlike names the waits that they make other ones: by a condition that does not hold,
// for example.
var variables = map[string]struct {
	values []string
	unlike string
}{
	"until":            {[]string{"$error == null"}, ""}, // others are refused where nothing is left
	"error-if":         {[]string{"$status == 500", "$exit == 9", `$stdout == "x"`, "$gone"}, ""},
	"throttled-if":     {[]string{"$status == 429", "$exit == 75"}, ""},
	"not-ready-if":     {[]string{"$status == 404", "$exit == 75", ".busy"}, ""},
	"gone":             {[]string{"1"}, "url tcp urls"},
	"strict":           {[]string{"1"}, "command url urls"},
	"stream":           {[]string{"1"}, ""},
	"preset":           {[]string{"k8s-job"}, "command url urls list"},
	"power":            {[]string{"3"}, ""},
	"learn":            {[]string{"one", "each-{}"}, ""},
	"poll-cost":        {[]string{"2%"}, ""},
	"age":              {[]string{"1s"}, ""},
	"history":          {[]string{"past"}, ""},
	"started-at":       {[]string{".began"}, ""},
	"finished-at":      {[]string{".ended"}, ""},
	"targets":          {[]string{"names"}, "list"},
	"each":             {[]string{".items"}, ""},
	"id":               {[]string{".id"}, ""},
	"key":              {[]string{"key.pem"}, ""},
	"next":             {[]string{"none", ".next"}, ""},
	"batch":            {[]string{"5"}, ""},
	"any":              {[]string{"1"}, ""},
	"at-least":         {[]string{"2", "95%"}, ""},
	"expect":           {[]string{"2"}, ""},
	"joblog":           {[]string{"run.jsonl"}, ""},
	"resume":           {[]string{"1"}, ""},
	"share":            {[]string{"shared"}, ""},
	"share-key":        {[]string{"key"}, ""},
	"request":          {[]string{"PUT"}, "url urls list"},
	"data":             {[]string{"x", "@names"}, "url urls list"},
	"data-binary":      {[]string{"@names"}, "url urls list"},
	"header":           {[]string{"A: b"}, ""},
	"user":             {[]string{"a:b"}, ""},
	"oauth2-bearer":    {[]string{"x"}, ""},
	"netrc":            {[]string{"1"}, "url urls list"},
	"insecure":         {[]string{"1"}, ""},
	"cacert":           {[]string{"ca.pem"}, "url urls list"},
	"cert":             {[]string{"cert.pem"}, "url urls list"},
	"unix-socket":      {[]string{"x.sock"}, "url urls list"},
	"proxy":            {[]string{"http://127.0.0.1:1"}, "url urls list"},
	"resolve":          {[]string{"x.example:80:127.0.0.1"}, ""},
	"connect-to":       {[]string{"x.example:80:y.example:80"}, ""},
	"location-trusted": {[]string{"1"}, ""},
	"follow":           {[]string{"none", ".url"}, "url urls list"},
	"no-conditional":   {[]string{"1"}, ""},
	"stdin":            {[]string{"1"}, ""},
	"foreground":       {[]string{"1"}, ""},
	"show-stderr":      {[]string{"1"}, ""},
	"pass-exit-code":   {[]string{"1"}, ""},
	"name":             {[]string{"x"}, ""},
	"print":            {[]string{"$status", "$exit", "$name"}, ""},
	"show":             {[]string{"$status", "$exit", ".done"}, ""},
	"json":             {[]string{"1"}, ""},
	"progress":         {[]string{"lines", "json", "none"}, ""},
	"help":             {[]string{"1"}, ""},
	"version":          {[]string{"1", "v1.2.3"}, ""},
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
	waits := map[string][]string{
		"command": {"--", "true"}, "url": {server.URL}, "urls": {server.URL, server.URL + "/x"},
		"tcp": {strings.Replace(server.URL, "http", "tcp", 1)}, "list": {"--each", ".items", "--expect", "2", "--until", ".ok", server.URL},
	}
	for _, f := range waitFlags() {
		if f.Hidden {
			continue
		}
		v := variables[f.Name]
		if v.values == nil && f.Needs != "" {
			t.Errorf("no value of --%s is tried", f.Name)
		}
		for _, value := range v.values {
			for name, args := range waits {
				if slices.Contains(strings.Fields(v.unlike), name) || slices.Contains(args, "--"+f.Name) {
					continue
				}
				t.Run(f.Name+" "+value+" "+name, func(t *testing.T) {
					t.Parallel()
					runWith(t, f.Name, value, args)
				})
			}
		}
	}
}

// runWith runs a wait with the variable of a flag, whose value may name a file.
func runWith(t *testing.T, flag, value string, args []string) {
	switch flag {
	case "history", "joblog", "share":
		value = filepath.Join(t.TempDir(), value)
	}
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
	if said := out.String() + err.String(); code != ExitSuccess || !strings.Contains(said, "SUCCESS") && flag != "quiet" && value != "none" {
		t.Errorf("%s=%s poll %s: exit code %d\n%s", name, value, strings.Join(args, " "), code, said)
	}
}
