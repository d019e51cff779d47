package coach_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/internal/coach"
	"github.com/pollcli/poll/status"
)

// rules compiles rules given as "flag expression".
func rules(t *testing.T, lines ...string) (made []status.Rule) {
	t.Helper()
	all := []status.Status{status.Throttled, status.Error, status.Success, status.NotReady}
	for _, l := range lines {
		flag, condition, _ := strings.Cut(l, " ")
		at := slices.IndexFunc(all, func(s status.Status) bool { return s.RuleName() == flag })
		rule, err := status.NewRule(all[at], condition)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, rule)
	}
	return made
}

func answered(code int, body string) status.Observation {
	return poll.Recorded(status.Observation{Kind: status.KindHTTP, Code: &code, Body: []byte(body), Header: http.Header{}})
}

func exited(code int, stdout, stderr string) status.Observation {
	return poll.Recorded(status.Observation{Kind: status.KindCommand, Exit: &code, Body: []byte(stdout), Stderr: []byte(stderr)})
}

// Notes about a response become notes on the verdict if they explain its code.
func TestNotesOnResponses(t *testing.T) {
	for code, isNoted := range map[int]bool{302: true, 401: true, 403: false, 404: false} {
		o := answered(code, "")
		o.Hints = status.Notes("the credentials could not be renewed")
		v := status.Rules{}.Classify(t.Context(), o)
		if new(coach.Coach).Add(&o, &v); v.Status != status.Error || (len(v.Hints) > 0) != isNoted {
			t.Errorf("%d is %s with hints %v", code, v.Status, v.Hints)
		}
	}
}

// A rule that was never evaluated, or always unknown, gets a note.
func TestNotes(t *testing.T) {
	for name, test := range map[string]struct {
		rules []string
		o     []status.Observation
		want  string // a part of the only note, or ""
	}{
		"a rule that was asked":  {[]string{"until .a==1"}, []status.Observation{answered(200, `{"a":2}`)}, ""},
		"decidable once":         {[]string{"until .a==1"}, []status.Observation{answered(200, `<`), answered(200, `{"a":2}`)}, ""},
		"always unknown":         {[]string{"until .a==1"}, []status.Observation{answered(200, `<`), answered(500, `{"a":1}`)}, "always unknown"},
		"never tested, URL":      {[]string{"error-if .a==1"}, []status.Observation{answered(500, `{}`)}, "add `|| $status >= 300`"},
		"never tested, command":  {[]string{"error-if .a==1"}, []status.Observation{exited(1, `{}`, "")}, "the command never exited with 0; --accept 0,1 evaluates the last response, too"},
		"until as well":          {[]string{"until .a==1"}, []status.Observation{exited(1, `{}`, "")}, "the command never exited with 0; --accept 0,1 evaluates the last response, too"},
		"never tested, custom":   {[]string{"until .a==1"}, []status.Observation{poll.Recorded(status.Observation{Failure: &status.Failure{}})}, "until .a==1 was never tested, because every attempt failed"},
		"asked for patience":     {[]string{"until .a==1", "error-if .b"}, []status.Observation{answered(429, `{}`), answered(200, `{"a":2}`)}, ""},
		"refused each time":      {[]string{"until .a==1"}, []status.Observation{answered(429, `{"a":1}`)}, "was never tested, because no response was HTTP 2xx"},
		"a preset, none decides": {[]string{"preset", "error-if .a > 1", "until .c > 1"}, []status.Observation{answered(200, `{"a":"x","c":"y"}`)}, "always unknown"},
	} {
		var asked status.Rules
		if test.rules[0] == "preset" {
			preset := rules(t, test.rules[1:]...)
			asked.Preset = &status.Preset{Stanzas: []status.Stanza{{Name: "thing", Rules: preset}}}
			for i := range preset {
				preset[i].Preset = "thing"
			}
		} else {
			asked.Own = rules(t, test.rules...)
		}
		var coached coach.Coach
		for _, o := range test.o {
			v := asked.Classify(t.Context(), o)
			coached.Add(&o, &v)
		}
		have := coached.Notes(test.o[0].Kind)
		if len(have) > 1 || (len(have) == 1) != (test.want != "") || !strings.Contains(texts(have), test.want) {
			t.Errorf("%s: have %v, want %q", name, have, test.want)
		}
		if hints := coached.Hints(); asked.Preset != nil && hints != nil { // they read what only some answers have
			t.Errorf("%s: hints %v", name, hints)
		}
	}
}

// The hints are about the last response. FirstHints returns each hint once.
func TestHints(t *testing.T) {
	state := "did you mean .state?"
	code := "$status is the HTTP status"
	page := "the response is an HTML page, such as a login page: is the URL right?"
	failed := "the condition is true for the output, but the exit code is 2: to accept this code, add --accept 0,2"
	pending := "the condition is true for the output, but the exit code is 8: to accept this code, write --accept 0,8 instead of $exit"
	payment := "to end the wait at .last_payment_error, add --error-if '(.last_payment_error | length) > 0'"
	stderr := "the condition is true for the other output of the command: write $stderr"
	stdout := "error-if: the condition is true for the other output of the command: write $stdout"
	text := `$body is the text of a response that is not JSON: $body contains "done"`
	for name, test := range map[string]struct {
		rules []string
		o     []status.Observation
		first []string // for each observation
		last  string
	}{
		"at the first answer":        {[]string{"until .State==1"}, []status.Observation{answered(200, `{"state":2}`), answered(200, `{"state":3}`)}, []string{state, ""}, state},
		"that can be read":           {[]string{"until .State==1"}, []status.Observation{answered(503, `{"state":2}`), answered(200, `<`), answered(200, `{"state":2}`), answered(200, `{"state":2}`)}, []string{"", text, state, ""}, state},
		"a variable at once":         {[]string{"until status==200"}, []status.Observation{answered(503, ``), answered(200, `{}`)}, []string{code, ""}, code},
		"of an error":                {[]string{"error-if .State==1", "error-if .error"}, []status.Observation{answered(200, `{"state":2}`)}, []string{"error-if: " + state}, "error-if: " + state},
		"a command's":                {[]string{"until exit==0"}, []status.Observation{exited(1, ``, "")}, []string{"$exit is the exit code"}, "$exit is the exit code"},
		"not of a start":             {[]string{"until .State==1"}, []status.Observation{leading("/jobs/1", `{"id":7}`), answered(200, `{"state":2}`)}, []string{"", state}, state},
		"about the last":             {[]string{"until .State==1"}, []status.Observation{answered(200, `{"state":2}`), answered(200, `{"x":2}`)}, []string{state, "the document has: x"}, "the document has: x"},
		"withdrawn":                  {[]string{"until .result==1"}, []status.Observation{answered(200, `{"id":7}`), answered(200, `{"result":2}`)}, []string{"the document has: id", ""}, ""},
		"of an outage":               {[]string{"until .State==1"}, []status.Observation{answered(200, `{"state":2}`), answered(503, ``)}, []string{state, ""}, ""},
		"a page to log in":           {[]string{"until .a==1"}, []status.Observation{answered(200, `{"a":2}`), answered(203, `<html>`)}, []string{"", page}, page},
		"in a failed command":        {[]string{`until .s=="done"`}, []status.Observation{exited(0, `{"s":"running"}`, ""), exited(2, `{"s":"done"}`, "")}, []string{"", failed}, failed},
		"at the first one":           {[]string{`until .s=="done"`}, []status.Observation{exited(2, `{"s":"done"}`, "")}, []string{failed}, failed},
		"apart from $exit":           {[]string{`until $stdout contains "done" and $exit == 0`}, []status.Observation{exited(8, "pending", ""), exited(8, "done", "")}, []string{"", pending}, pending},
		"$exit alone":                {[]string{"until $exit == 0"}, []status.Observation{exited(8, "pending", "")}, []string{""}, ""},
		"a signal":                   {[]string{`until .s=="done"`}, []status.Observation{killed(exited(137, `{"s":"done"}`, ""))}, []string{""}, ""},
		"an error in it":             {[]string{`until .status=="succeeded"`}, []status.Observation{answered(200, `{"status":"unpaid","last_payment_error":{"code":"declined"}}`)}, []string{payment}, payment},
		"an error in mid-run":        {[]string{`until .status=="succeeded"`}, []status.Observation{answered(200, `{"status":"processing","error":"will try again"}`)}, []string{""}, ""},
		"an error of a text":         {[]string{`until $body contains "x"`}, []status.Observation{answered(200, `{"error":"no disk"}`)}, []string{""}, ""},
		"an error that a rule reads": {[]string{`until .status=="succeeded"`, `error-if .error == "fatal"`}, []status.Observation{answered(200, `{"status":"unpaid","error":"x"}`)}, []string{""}, ""},
		"an error response":          {[]string{`until $status == 200`}, []status.Observation{answered(503, `{"error":"x"}`)}, []string{""}, ""},
		"not in another one":         {[]string{`until .s=="done"`}, []status.Observation{exited(0, `{"s":"running"}`, ""), exited(2, `{"s":"x"}`, "")}, []string{"", ""}, ""},
		"on stderr":                  {[]string{`until $stdout contains "ready"`}, []status.Observation{exited(0, "init", "ready\n"), exited(0, "init", "")}, []string{stderr, ""}, ""},
		"on stderr, in vain":         {[]string{`until not ($stdout contains "busy")`}, []status.Observation{exited(0, "busy", "ready\n")}, []string{""}, ""},
		"on stdout":                  {[]string{`error-if $stderr contains "FATAL"`}, []status.Observation{exited(0, "FATAL: x", "")}, []string{stdout}, stdout},
		"a text between messages":    {[]string{`until .s=="done"`}, []status.Observation{line("starting", ""), line(`{"s":"x"}`, ""), line("a", ""), line("b", ""), line("c", "")}, []string{"", "", "", "", ""}, ""},
		"messages that are texts":    {[]string{`until .s=="done"`}, []status.Observation{line("a", ""), line("b", ""), line("c", ""), line("d", ""), line("e", "")}, []string{"", "", "", "", text}, text},
		"in a line before":           {[]string{`until $stdout contains "ready"`}, []status.Observation{line("", "ready"), line("a", "")}, []string{stderr, ""}, stderr},
	} {
		asked := status.Rules{Own: rules(t, test.rules...)}
		var coached coach.Coach
		for i, o := range test.o {
			v := asked.Classify(t.Context(), o)
			coached.Add(&o, &v)
			if have := texts(coached.FirstHints()); have != test.first[i] {
				t.Errorf("%s: at answer %d: have %q, want %q", name, i+1, have, test.first[i])
			}
		}
		if have := texts(coached.Hints()); have != test.last {
			t.Errorf("%s: at the end: have %q, want %q", name, have, test.last)
		}
	}
}

func killed(o status.Observation) status.Observation {
	o.Signal = "KILL"
	return o
}

// A command whose credentials were rejected gets a hint that contains the phrase of its stderr.
func TestRejectedCredentials(t *testing.T) {
	for stderr, want := range map[string]string{
		"npm error code E401\nnpm error Incorrect or missing password.":           "code E401",
		"unauthorized: authentication required":                                   "unauthorized: authentication required",
		"error: You must be logged in to the server (Unauthorized)":               "You must be logged in to the server",
		"An error occurred (ExpiredToken) when calling the X operation":           "(ExpiredToken)",
		"Unable to locate credentials. You can configure credentials":             "Unable to locate credentials",
		"ERROR: (gcloud.x) You do not currently have an active account selected.": "You do not currently have an active account selected",
		"ERROR: Please run 'az login' to setup account.":                          "az login",
		"To get started with GitHub CLI, please run:  gh auth login":              "gh auth login",
		"HTTP 401: Bad credentials (https://api.github.com/x)":                    "HTTP 401",
		"curl: (22) The requested URL returned error: 401":                        "returned error: 401",
		"fatal: Authentication failed for 'https://h/x.git/'":                     "Authentication failed for",
		`FATAL:  password authentication failed for user "x"`:                     "password authentication failed",
		"x@h: Permission denied (publickey).":                                     "Permission denied (",
		"Error: GET https://h/x: 401 Unauthorized":                                "401 Unauthorized",
		"cat: x: Permission denied":                                               "",
		"Error: connection refused":                                               "",
		"HTTP 4010":                                                               "",
	} {
		var coached coach.Coach
		o := exited(1, "", stderr)
		v := status.Rules{}.Classify(t.Context(), o)
		coached.Add(&o, &v)
		if want != "" {
			want = "rejected credentials rarely recover: --error-if '$stderr contains " + strconv.Quote(want) + "' ends the wait"
		}
		if have := texts(coached.Hints()); have != want || v.Status != status.NotReady {
			t.Errorf("%q: have %s, %q, want %q", stderr, v.Status, have, want)
		}
	}
	o := exited(0, "", "HTTP 401: Bad credentials")
	v := status.Rules{Own: rules(t, "until .a")}.Classify(t.Context(), o)
	var coached coach.Coach
	if coached.Add(&o, &v); strings.Contains(texts(coached.Hints()), "credentials") {
		t.Errorf("of exit code 0: %v", coached.Hints())
	}
}

// line returns a line of a command's stdout or stderr.
func line(stdout, stderr string) status.Observation {
	o := poll.Recorded(status.Observation{Kind: status.KindCommand, Message: true})
	if o.Body = []byte(stdout); stderr != "" {
		o.Body, o.Stderr = nil, []byte(stderr)
	}
	return o
}

// leading returns the response to a start request that names the URL next.
func leading(next, body string) status.Observation {
	o := answered(202, body)
	o.Start, o.Next = true, next
	return o
}

// texts returns the texts of hints, separated by ";;".
func texts(hints []status.Hint) string {
	var all []string
	for _, h := range hints {
		all = append(all, h.Text)
	}
	return strings.Join(all, ";;")
}
