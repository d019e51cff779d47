package meaning_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
)

var ruled = []status.Status{status.Throttled, status.Error, status.Success, status.NotReady}

// With Accept, only the listed codes make a response successful.
func TestAccept(t *testing.T) {
	hinted := answered(429, `{"state":"done"}`)
	hinted.RetryAfter = &status.RetryAfter{Wait: time.Minute, Source: "Retry-After"}
	moved := answered(404, "")
	moved.Protocol = meaning.HTTP{Moved: true, Redirect: "/login"}
	begun := answered(429, "")
	begun.Start = true
	for name, test := range map[string]struct {
		accept []int
		o      status.Observation
		rules  []string
		want   string
	}{
		"no condition":                   {[]int{200, 473}, answered(473, ""), nil, "SUCCESS: HTTP 473"},
		"an exit code":                   {[]int{0, 2, 8}, exited(8, "", "pending"), nil, "SUCCESS: exit code 8"},
		"202 is not the end":             {[]int{200, 202}, answered(202, ""), nil, "NOT_READY: HTTP 202 Accepted"},
		"2xx is not in the list":         {[]int{204}, answered(200, ""), nil, "NOT_READY: HTTP 200 OK, which is not accepted"},
		"0 is not in the list":           {[]int{2}, exited(0, "out", "unknown flag: x"), nil, "NOT_READY: exit code 0, which is not accepted"},
		"an error is still one":          {[]int{200, 429}, answered(401, ""), nil, "ERROR: HTTP 401 Unauthorized"},
		"429 is not THROTTLED":           {[]int{200, 429}, hinted, nil, "SUCCESS: HTTP 429 Too Many Requests"},
		"503 is not THROTTLED":           {[]int{503}, answered(503, ""), nil, "SUCCESS: HTTP 503 Service Unavailable"},
		"429 that is not in the list":    {[]int{200}, hinted, []string{`until .state == "done"`}, "THROTTLED: HTTP 429 Too Many Requests, Retry-After asks for 1m"},
		"a condition":                    {[]int{200, 429}, hinted, []string{`until .state == "done"`}, `SUCCESS: .state is "done"`},
		"a condition that is false":      {[]int{200, 401}, answered(401, `{"state":"x"}`), []string{`until .state == "done"`}, `NOT_READY: .state is "x", want == "done"`},
		"a condition for ERROR":          {[]int{0, 2}, exited(2, `{"status":"error"}`, ""), []string{`error-if .status == "error"`}, `ERROR: .status is "error"`},
		"of a 200 that is not accepted":  {[]int{429}, answered(200, `{"state":"done"}`), []string{`until .state == "done"`}, "NOT_READY: HTTP 200 OK, which is not accepted"},
		"of a 0 that is not accepted":    {[]int{8}, exited(0, `{"state":"done"}`, ""), []string{`until .state == "done"`}, "NOT_READY: exit code 0, which is not accepted"},
		"by a code that is not accepted": {[]int{200}, answered(473, ""), []string{`until $status == 473`}, "SUCCESS: $status is 473"},
		"wrong usage that is accepted":   {[]int{0, 2}, exited(2, `{}`, "error: unknown flag: --x"), []string{`until .ok`}, "NOT_READY: .ok is missing, want a value"},
		"a 404 of another page":          {[]int{200, 404}, moved, nil, "NOT_READY: HTTP 404 Not Found after a redirect to /login, which is not about the given URL"},
		"a start":                        {[]int{429}, begun, nil, "ERROR: the response to the start request is HTTP 429 Too Many Requests, names no URL to follow, and matches no condition"},
		"a failure":                      {[]int{200}, failed(status.FailureTransient), nil, "NOT_READY: no answer"},
		"no code":                        {[]int{200}, custom("", nil), nil, "SUCCESS: the probe reports no failure"},
	} {
		r := status.Rules{Accept: test.accept, Own: rules(t, test.rules...)}
		v := r.Classify(t.Context(), test.o)
		if have := string(v.Status) + ": " + v.Reason; have != test.want {
			t.Errorf("%s:\nhave %s\nwant %s", name, have, test.want)
		}
	}
	strict := status.Rules{Accept: []int{473}, Strict: true, Own: rules(t, "until .x")}
	if v := strict.Classify(t.Context(), answered(473, "{}")); v.Status != status.Error {
		t.Errorf("strict: %s: %s", v.Status, v.Reason)
	}
}

// A stanza may have kinds and no expression.
func TestStanzaOfKinds(t *testing.T) {
	preset := &status.Preset{Name: "pods", Stanzas: []status.Stanza{{Kinds: []string{"Pod"}, Rules: rules(t, "until .done")}}}
	for body, want := range map[string]string{
		`{"kind":"Pod","done":true}`: "SUCCESS: .done is true",
		`{"kind":"Job","done":true}`: `NOT_READY: preset pods is about another kind of object: .kind is "Job"`,
	} {
		v := status.Rules{Preset: preset}.Classify(t.Context(), custom(body, nil))
		if have := string(v.Status) + ": " + v.Reason; have != want {
			t.Errorf("have %s, want %s", have, want)
		}
	}
}

// A condition for SUCCESS counts on an unsuccessful response only if the condition is true of something that
// the response holds, or names the exit code or the status.
func TestUnsuccessful(t *testing.T) {
	refused := exited(255, "", "ssh: connect to host h port 22: Connection refused")
	refused.Output = refused.Stderr
	printed := exited(1, `{"state":"idle","n":0,"tags":["a","b"],"none":[],"jobs":[{"s":"done"},{"s":"done"}]}`, "warning: x")
	printed.Attempt, printed.Elapsed, refused.Attempt, refused.Elapsed = 2, time.Minute, 2, time.Minute
	number := exited(1, "0", "")
	down, timedOut := answered(500, `{"state":"idle"}`), exited(0, "ready", "")
	timedOut.Exit, timedOut.Failure = nil, &status.Failure{Kind: status.FailureTransient, Class: "timeout", Reason: "timed out"}
	for _, test := range []struct {
		o        status.Observation
		yes, not []string
	}{
		{refused, []string{
			`$stderr contains "refused"`, `$output =~ "refused"`, `$stderr startswith "ssh"`, `$stdout != "old" and $stderr contains "refused"`,
			`$stdout != "old" or $stderr contains "refused"`, `not ($stderr != "` + "ssh: connect to host h port 22: Connection refused" + `")`,
			`$stdout != "old" and $exit == 255`, `not ($stdout contains "x") and $exit == 255`, `jq: $stdout != "old" and $exit == 255`, `$stderr`,
		}, []string{
			`$stdout != "old"`, `$stdout !~ "in progress"`, `$stderr !~ "in progress"`, `not ($stdout contains "x")`, `!($stdout =~ "x")`, `$output != "old"`, `$body != "old"`,
			`$stdout == ""`, `"" == $stdout`, `$stdout in ["", "done"]`, `$stdout =~ "^$"`, `$stdout =~ ".*"`, `($stdout | length) == 0`, `($stdout | length) < 5`,
			`$stdout | contains("x") | not`, `not any($stderr | contains("x"))`, `jq: $stdout != "old"`, `jq: $stderr | contains("refused")`,
			`$stdout != "old" or $stdout == "new"`, `$stdout != "old" and $elapsed >= 0`, `$attempt >= 0`, `$elapsed >= 0`, `$error == null and $stdout != "x"`, `!$isjson and $stdout != "x"`,
		}},
		{printed, []string{
			`.state == "idle" and not .error and $stdout != ""`, `.state == "idle" and $stdout != ""`, `$stdout != "" and all(.jobs[]; .s == "done")`, `$stdout != "" and .tags contains "a"`,
			`$stdout != "" and (.jobs | length) == 2`, `$stdout != "" and count(.jobs[]; .s == "done") == 2`, `$stdout != "" and any(.jobs[]; .s == "done")`,
			`$stdout != "" and exists(.state)`, `$stdout != "" and has("state")`, `($stdout | fromjson | .state) == "idle"`, `$stdout != "" and not any(.jobs[]; .s != "done")`,
		}, []string{
			`.state == "idle"`, `.state != "busy" and $stdout != ""`, `$stdout != ""`, `$stdout != "" and count(.jobs[]; .s == "running") == 0`, `$stdout != "" and count(.jobs[]; .s != "done") == 0`, `$stdout != "" and all(.tags[]; . == "a" or . != "c")`, `$stdout != "" and not any(.jobs[]; .s == "running")`,
			`$stdout != "" and all(.jobs[]; .s != "running")`, `$stdout != "" and all(.none[]; .s == "done")`, `$stdout != "" and (.none | length) == 0`, `$stdout != "" and .none.# == 0`,
			`$stdout != "" and .n == 0`, `$stdout != "" and not exists(.x)`, `$stdout != "" and .x == null`, `$stdout != "" and (.x // "no") == "no"`, `$stdout != "" and (has("x") | not)`,
			`$stdout != "" and not (.state in ["busy"])`, `$stdout != "" and ($attempt | . >= 0)`, `jq: .state == "idle" and $stdout != ""`, `.state != "busy" or $stderr contains "no"`,
		}},
		{number, []string{`$stdout == "0"`, `($stdout | tonumber) == 0`, `$stdout != "" and $exit in [0, 1]`}, []string{`$stdout != "1"`, `not (($stdout | tonumber) > 0)`}},
		{down, []string{`$status == 500`, `.state != "x" and $status != 200`}, []string{`.state != "busy"`, `$elapsed >= 0`, `$attempt >= 0`, `$body != "x"`}},
		{timedOut, []string{`$stdout == "ready"`, `$error == "timeout"`, `$error != "dns"`}, []string{`$stdout != "x"`, `$attempt >= 0`}},
	} {
		for i, condition := range append(slices.Clone(test.yes), test.not...) {
			want := map[bool]status.Status{true: status.Success, false: status.NotReady}[i < len(test.yes)]
			r := status.Rules{Own: rules(t, "until "+condition)}
			if v := r.Classify(t.Context(), test.o); v.Status != want {
				t.Errorf("%s of %q: have %s (%s), want %s", condition, test.o.Body, v.Status, v.Reason, want)
			}
			if r.Accept = []int{1, 255}; test.o.Exit != nil && r.Classify(t.Context(), test.o).Status == status.NotReady {
				if x := r.Own[0].Expr.Eval(status.Environment(&test.o)); x.Matched() {
					t.Errorf("%s of %q: NOT_READY though the exit code is accepted", condition, test.o.Body)
				}
			}
		}
	}
}

// rules compiles rules given as "flag expression".
func rules(t *testing.T, lines ...string) []status.Rule {
	t.Helper()
	var made []status.Rule
	for _, l := range lines {
		flag, condition, _ := strings.Cut(l, " ")
		if !slices.ContainsFunc(ruled, func(s status.Status) bool { return s.RuleName() == flag }) {
			t.Fatalf("%q names no kind of rule", l)
		}
		for _, s := range ruled {
			if s.RuleName() != flag {
				continue
			}
			rule := must(status.NewRule(s, condition))
			made = append(made, rule)
		}
	}
	return made
}

func custom(body string, failure *status.Failure) status.Observation {
	return meaning.Recorded(status.Observation{Body: []byte(body), Failure: failure})
}

func start(o *status.Observation) { o.Start = true }

func behind(monitor meaning.Monitor) func(*status.Observation) {
	return func(o *status.Observation) { o.Protocol = meaning.HTTP{Monitor: monitor} }
}

func unchanged(o *status.Observation) { o.Unchanged = time.Hour }

func answered(code int, body string) status.Observation {
	return status.Observation{Kind: status.KindHTTP, Code: &code, Body: []byte(body), Size: int64(len(body)), Header: http.Header{}, Protocol: meaning.HTTP{}}
}

func exited(code int, stdout, stderr string) status.Observation {
	return status.Observation{Kind: status.KindCommand, Exit: &code, Body: []byte(stdout), Size: int64(len(stdout)), Stderr: []byte(stderr), Protocol: meaning.Command{}}
}

func failed(kind status.FailureKind) status.Observation {
	return status.Observation{Kind: status.KindHTTP, Failure: &status.Failure{Kind: kind, Reason: "no answer"}, Protocol: meaning.HTTP{}}
}

func with(o status.Observation, change func(*status.Observation)) status.Observation {
	change(&o)
	return o
}

func retryAfter(value string) func(*status.Observation) {
	return func(o *status.Observation) { o.Header.Set("Retry-After", value) }
}

func hint(o *status.Observation) {
	o.RetryAfter = &status.RetryAfter{Wait: time.Second, Source: "Retry-After"}
}

func TestClassify(t *testing.T) {
	const done = `until .state=="done"`
	controlC := uint32(0xC000013A) // too much for an int of 32 bits
	for name, test := range map[string]struct {
		rules  []string
		strict bool
		o      status.Observation
		want   status.Status
		reason string // a part of the reason
		hint   status.HintKind
		final  bool
	}{
		"bare 202":                       {o: answered(202, ""), want: status.NotReady},
		"200, condition false":           {rules: []string{done}, o: answered(200, `{"state":"queued"}`), want: status.NotReady, reason: `"queued"`},
		"error before until":             {rules: []string{"until $attempt >= 0", `error-if .a==1`}, o: answered(200, `{"a":1}`), want: status.Error},
		"throttled before error":         {rules: []string{`error-if .a==1`, `throttled-if .a==1`}, o: answered(200, `{"a":1}`), want: status.Throttled},
		"until before not ready":         {rules: []string{`not-ready-if .a==1`, `until .a==1`}, o: answered(200, `{"a":1}`), want: status.Success},
		"none of two, one of them twice": {rules: []string{"until .a==1", "until .b==1", "until .a==1"}, o: answered(200, `{"a":2,"b":2}`), want: status.NotReady, reason: ".a is 2, want == 1; .b is 2, want == 1"},

		"a 500 page never satisfies !=":       {rules: []string{`until .state != "pending"`}, o: answered(500, `{"error":"x"}`), want: status.NotReady, reason: "HTTP 500"},
		"a 500 page never satisfies an error": {rules: []string{`error-if .error`}, o: answered(500, `{"error":"x"}`), want: status.NotReady},
		"nor asks whether it is JSON":         {rules: []string{`until $isjson`}, o: answered(500, `{"error":"x"}`), want: status.NotReady},
		"unless the condition names $status":  {rules: []string{`error-if $status==500 && .error=="x"`}, o: answered(500, `{"error":"x"}`), want: status.Error},
		"or names $error":                     {rules: []string{`until $error == null and $body contains "x"`}, o: answered(500, `{"error":"x"}`), want: status.Success},
		"nor looks at its text":               {rules: []string{`until $body contains "x" || .a`, `error-if $header.X == null`}, o: answered(500, `{"error":"x"}`), want: status.NotReady},
		"nor how long it is the same":         {rules: []string{`until $unchanged > 1s`}, o: with(answered(500, "x"), unchanged), want: status.NotReady},
		"nor no answer":                       {rules: []string{`until $unchanged > 1s`}, o: with(custom("", &status.Failure{}), unchanged), want: status.NotReady},
		"a redirect, without a condition":     {o: with(answered(200, ""), func(o *status.Observation) { o.Protocol = meaning.HTTP{Redirect: "/login"} }), want: status.Success, reason: "HTTP 200 OK after a redirect to /login"},
		"a redirect is in the reason":         {rules: []string{done}, o: with(answered(200, `{"state":"done"}`), func(o *status.Observation) { o.Protocol = meaning.HTTP{Redirect: "/login"} }), want: status.Success, reason: "after a redirect to /login"},
		"a page never satisfies a path":       {rules: []string{`until .state != "pending"`}, o: answered(200, `<html>`), want: status.NotReady, reason: "not JSON"},
		"nor a negated one":                   {rules: []string{`until !(.state == "pending")`}, o: answered(200, `<html>`), want: status.NotReady},
		"a truncated body is not JSON": {rules: []string{`until .a==1`}, o: with(answered(200, `{"a":1}`), func(o *status.Observation) {
			o.Truncated, o.Size = true, 100
		}), want: status.NotReady, reason: "longer than the part that poll keeps"},
		"nor is it known not to be JSON": {rules: []string{`until $isjson == false`, `error-if $isjson`}, o: with(answered(200, `{"a":`), func(o *status.Observation) {
			o.Truncated, o.Size = true, 100
		}), want: status.NotReady, reason: "longer than the part that poll keeps"},
		"nor is a line of stderr": {rules: []string{`until !$isjson`, `until $isjson == false`}, o: status.Observation{Kind: status.KindCommand, Protocol: meaning.Command{}, Stderr: []byte("warning"),
			Message: true}, want: status.NotReady, reason: "the line is of stderr"},

		"503 with no such wait":    {o: with(answered(503, ""), retryAfter("0")), want: status.Throttled, reason: "HTTP 503 Service Unavailable"},
		"503 with an unknown wait": {o: with(answered(503, ""), retryAfter("soon")), want: status.Throttled},
		"403 with a hint":          {o: with(answered(403, ""), hint), want: status.Throttled},
		"403, rate limit used up":  {o: with(answered(403, ""), func(o *status.Observation) { o.Protocol = meaning.HTTP{Exhausted: true} }), want: status.Throttled},
		"403 of GitHub's":          {o: answered(403, `{"message":"You have exceeded a secondary rate limit."}`), want: status.Throttled},
		"another protocol":         {o: answered(101, ""), want: status.Error, reason: "after which no HTTP response comes"},
		"a redirect, not followed": {o: answered(302, ""), want: status.Error, reason: "not followed"},

		"a choice of pages":          {o: answered(300, ""), want: status.Error, reason: "HTTP 300 Multiple Choices, which was not followed"},
		"500, not to be asked again": {o: with(answered(500, ""), func(o *status.Observation) { o.Protocol = meaning.HTTP{ShouldRetry: new(false)} }), want: status.Error, reason: "asks not to retry"},
		"400, to be asked again":     {o: with(answered(400, ""), func(o *status.Observation) { o.Protocol = meaning.HTTP{ShouldRetry: new(true)} }), want: status.NotReady, reason: "asks to retry"},
		"429, to be asked again":     {o: with(answered(429, ""), func(o *status.Observation) { o.Protocol = meaning.HTTP{ShouldRetry: new(true)} }), want: status.Throttled},

		"no answer, != of the body": {rules: []string{`error-if $body != "ok"`}, o: failed(status.FailureTransient), want: status.NotReady},
		"no answer, what came before it": {rules: []string{`until $stdout contains "ready"`}, o: status.Observation{Kind: status.KindCommand, Protocol: meaning.Command{},
			Body: []byte("ready\n"), Failure: &status.Failure{Kind: status.FailureTransient, Reason: "timed out"}}, want: status.Success},
		"hopeless failure":       {rules: []string{"not-ready-if $attempt >= 0"}, o: failed(status.FailureHopeless), want: status.Error, final: true},
		"a start that was lost":  {rules: []string{"until $attempt >= 0"}, o: failed(status.FailureMayHaveStarted), want: status.Error, final: true},
		"a rule without the doc": {rules: []string{"until $attempt >= 0"}, o: failed(status.FailureTransient), want: status.NotReady},
		"the same for ERROR":     {rules: []string{"error-if $attempt >= 0"}, o: failed(status.FailureTransient), want: status.Error},

		"a page that failed":           {o: with(with(answered(503, ""), hint), page), want: status.Throttled, reason: "page 3 of the list: HTTP 503"},
		"after a redirect":             {rules: []string{`until .a==1`}, o: with(answered(200, `{"a":2}`), redirected), want: status.NotReady, reason: ".a is 2, want == 1, after a redirect to /results"},
		"failed after a redirect":      {rules: []string{`error-if .a==2`}, o: with(answered(200, `{"a":2}`), redirected), want: status.Error, reason: ".a is 2, after a redirect to /results"},
		"unconditional, redirected":    {o: with(answered(200, `{"a":2}`), redirected), want: status.Success, reason: "HTTP 200 OK after a redirect to /results"},
		"no doubt is a wish":           {rules: []string{`not-ready-if .s == "RUNNING"`}, o: answered(200, `{"x":1}`), want: status.NotReady, reason: `not-ready-if .s == "RUNNING" is unknown: .s is missing`, hint: status.HintDone},
		"not busy":                     {rules: []string{`not-ready-if .busy`}, o: answered(200, `{"state":1}`), want: status.Success, reason: "HTTP 200 OK"},
		"nor is a null":                {rules: []string{`not-ready-if .s == "RUNNING"`}, o: answered(200, `{"s":null}`), want: status.NotReady, reason: `not-ready-if .s == "RUNNING" is unknown: .s is null`, hint: status.HintDone},
		"nor is a name nearly right":   {rules: []string{`not-ready-if .State`}, o: answered(200, `{"state":1}`), want: status.NotReady, reason: `not-ready-if .State is false: .State is missing; did you mean .state?`, hint: status.HintDone},
		"a doubtful answer":            {o: with(answered(200, ``), doubted), want: status.NotReady, reason: "a page"},
		"start with nothing to follow": {rules: []string{done}, o: with(answered(200, `{"id":1}`), start), want: status.Error, reason: "names no URL to follow", hint: status.HintFollow, final: true},
		"start, nothing to follow and why": {o: with(answered(202, ""), func(o *status.Observation) {
			o.Start, o.Protocol = true, meaning.HTTP{Missing: ".url is null"}
		}), want: status.Error, reason: "the response to the start request is HTTP 202 Accepted, which poll cannot follow: .url is null", final: true},
		"start, not ready, nothing to follow": {rules: []string{"not-ready-if $status==200"}, o: with(answered(200, ""), start), want: status.Error, reason: "$status is 200; the start request is sent once", hint: status.HintFollow, final: true},
		"start, throttled, nothing to follow": {rules: []string{"throttled-if $status==409"}, o: with(answered(409, ""), start), want: status.Error, reason: "the start request is sent once", hint: status.HintFollow, final: true},
		"start, not ready, followed": {rules: []string{"not-ready-if $status==200"}, o: with(answered(200, ""), func(o *status.Observation) {
			o.Start, o.Next = true, "https://host/ops/1"
		}), want: status.NotReady},
		"start that never left":                    {o: with(failed(status.FailureTransient), start), want: status.NotReady},
		"start, not implemented":                   {o: with(answered(501, ""), start), want: status.Error, reason: "HTTP 501 Not Implemented", final: true},
		"start, not found":                         {o: with(answered(404, ""), start), want: status.Error, final: true},
		"start refused for load":                   {o: with(with(answered(503, ""), hint), start), want: status.Throttled},
		"Azure's document, done":                   {o: with(answered(200, `{"status":"Succeeded"}`), behind(meaning.MonitorAzure)), want: status.Success},
		"behind Location, 202, strict":             {rules: []string{done}, strict: true, o: with(answered(202, `{"state":"queued"}`), behind(meaning.MonitorLocation)), want: status.NotReady, reason: `"queued"`},
		"result of a status document, 202, strict": {rules: []string{done}, strict: true, o: with(answered(202, `{"state":"queued"}`), behind(meaning.MonitorResult)), want: status.NotReady, reason: `"queued"`},
		"behind Location, 200":                     {o: with(answered(200, "rows"), behind(meaning.MonitorLocation)), want: status.Success},

		"connected, to be asked otherwise": {rules: []string{"until $attempt >= 3"}, o: status.Observation{Kind: status.KindTCP, Protocol: meaning.Plain{}, Attempt: 2}, want: status.NotReady, reason: "$attempt is 2"},
		"connected":                        {o: status.Observation{Kind: status.KindTCP, Protocol: meaning.Plain{}}, want: status.Success},

		"custom":                       {o: custom("", nil), want: status.Success, reason: "the probe reports no failure"},
		"custom, condition":            {rules: []string{done}, o: custom(`{"state":"done"}`, nil), want: status.Success, reason: `.state is "done"`},
		"custom, error":                {rules: []string{`error-if .state == "lost"`}, o: custom(`{"state":"lost"}`, nil), want: status.Error},
		"custom, failed":               {rules: []string{done}, o: custom(`{"state":"done"}`, &status.Failure{Reason: "no luck"}), want: status.NotReady, reason: "no luck"},
		"custom, throttled for a time": {o: with(custom("", &status.Failure{Kind: status.FailureThrottled, Reason: "slowly"}), hint), want: status.Throttled, reason: "slowly, Retry-After asks for"},

		"exit 0":                        {o: exited(0, "", ""), want: status.Success},
		"exit 1, condition true":        {rules: []string{done}, o: exited(1, `{"state":"done"}`, ""), want: status.NotReady},
		"exit 1, condition names $exit": {rules: []string{`until $exit==1 && .state=="done"`}, o: exited(1, `{"state":"done"}`, ""), want: status.Success},
		"exit 1, error on stderr":       {rules: []string{`error-if $stderr contains "Forbidden"`}, o: exited(1, "", "Error: Forbidden\n"), want: status.Error},
		"exit 1":                        {o: exited(1, "", "error: no such pod\nbye\n"), want: status.NotReady, reason: "exit code 1: error: no such pod"},
		"exit 127":                      {o: exited(127, "", "sh: 1: nosuch: not found"), want: status.Error, reason: "nosuch: not found", final: true},
		"exit code of Windows":          {o: exited(int(controlC), "", ""), want: status.NotReady, reason: "exit code 3221225786 (0xC000013A)"},
		"killed": {o: with(exited(137, "", ""), func(o *status.Observation) { o.Signal = "SIGKILL" }),
			want: status.NotReady, reason: "SIGKILL"},
	} {
		t.Run(name, func(t *testing.T) {
			have := status.Rules{Own: rules(t, test.rules...), Strict: test.strict}.Classify(t.Context(), test.o)
			if have.Status != test.want || !strings.Contains(have.Reason, test.reason) {
				t.Errorf("have %s (%s; %s), want %s (...%s...)", have.Status, have.Rule, have.Reason, test.want, test.reason)
			}
			isHint := func(h status.Hint) bool { return h.Kind == test.hint }
			if test.hint != status.HintNote && !slices.ContainsFunc(have.Hints, isHint) || test.final != have.Final {
				t.Errorf("have hints %v, final %t; want %d, %t", have.Hints, have.Final, test.hint, test.final)
			}
		})
	}
}

func TestCodes(t *testing.T) {
	for want, codes := range map[status.Status][]int{
		status.Success:   {200, 204},
		status.NotReady:  {202, 304, 408, 425, 500, 502, 503, 599},
		status.Error:     {400, 403, 404, 501, 505},
		status.Throttled: {429},
	} {
		for _, code := range codes {
			if have := (status.Rules{}).Classify(t.Context(), answered(code, "")); have.Status != want {
				t.Errorf("HTTP %d: have %s (%s), want %s", code, have.Status, have.Reason, want)
			}
		}
	}
}

func TestError(t *testing.T) {
	class := func(class string) status.Observation {
		return with(failed(status.FailureTransient), func(o *status.Observation) { o.Failure.Class = class })
	}
	distrusted := with(failed(status.FailureHopeless), func(o *status.Observation) { o.Failure.Class = status.ClassTLS })
	lost := with(failed(status.FailureMayHaveStarted), func(o *status.Observation) { o.Failure.Class = status.ClassReset })
	for name, test := range map[string]struct {
		o      status.Observation
		rule   string
		want   status.Status
		reason string
	}{
		"any failure":          {class(""), `until $error != null`, status.Success, `$error is "other": no answer`},
		"an answer":            {answered(200, "{}"), `until $error != null`, status.NotReady, `$error is null, want != null`},
		"or the document":      {class(status.ClassReset), `until .gone or $error == "reset"`, status.Success, `$error is "reset": no answer`},
		"a bad document":       {answered(500, `{"gone":true}`), `until .gone or $error == "reset"`, status.Success, ".gone is true"},
		"not trusted":          {distrusted, `until $attempt >= 0`, status.Error, "no answer"},
		"not trusted, but so":  {distrusted, `until $error == "tls"`, status.Success, `$error is "tls": no answer`},
		"not trusted, not so":  {distrusted, `until $error == "refused"`, status.Error, "no answer"},
		"not trusted, not yet": {distrusted, `not-ready-if $error == "tls"`, status.NotReady, `$error is "tls": no answer`},
		"a start in the dark":  {lost, `until $error == "reset"`, status.Error, "no answer"},
	} {
		have := status.Rules{Own: rules(t, test.rule)}.Classify(t.Context(), test.o)
		if have.Status != test.want || have.Reason != test.reason {
			t.Errorf("%s: have %s (%s), want %s (%s)", name, have.Status, have.Reason, test.want, test.reason)
		}
	}
}

func TestTheReasonOfAFailedCommand(t *testing.T) {
	const klog = "E1121 13:05:01.123456   12345 memcache.go:265] "
	long := strings.Repeat("x", 1000)
	for _, test := range []struct{ stdout, stderr, want string }{
		{"", "", "exit code 3"},
		{"", "one\ntwo\n", "exit code 3: two"},
		{"", "Error: first\nError: second\nhint: try\n----\n", "exit code 3: Error: second"},
		{"", "it FAILED here\nbye\n", "exit code 3: it FAILED here"},
		{"", "---\n...\n", "exit code 3"},
		{"said on stdout\n", "", "exit code 3: said on stdout"},
		{"said on stdout\n", "  \n\n", "exit code 3: said on stdout"},

		// a document of several lines: its state, its message, and no accidental member
		{"{\n  \"sealed\": true,\n  \"active_time\": \"0001-01-01T00:00:00Z\"\n}\n", "", "exit code 3"},
		{"{\n  \"errors\": [],\n  \"status\": \"provisioning\"\n}\n", "", `exit code 3: .status is "provisioning"`},
		{"{\n  \"status\": \"failed\",\n  \"message\": \"no disk\"\n}\n", "", `exit code 3: .status is "failed": no disk`},
		{"{\n  \"status\": \"failed\"\n}\n", "cannot connect\n", "exit code 3: cannot connect"},
		{"", long, "exit code 3: " + long[:240] + "..."},
		{"", "no newline", "exit code 3: no newline"},
		{"", "\r\nfatal: not a git repository\r\n", "exit code 3: fatal: not a git repository"},

		// the prefix of a logger
		{"", klog + "\"Unhandled Error\" err=\"x\"\n" + klog + "\"Unhandled Error\" err=\"y\"\nThe connection to the server was refused\n",
			"exit code 3: The connection to the server was refused"},
		{"", "error: plain\n" + klog + "\"Unhandled Error\"\n", "exit code 3: error: plain"},
		{"", "waiting\n" + klog + "\"Unhandled Error\" err=\"x\"\n", `exit code 3: "Unhandled Error" err="x"`},
		{"", "W0102 03:04:05.000006       1 a.go:7] old\n", "exit code 3: old"},
		{"", "2026-11-21T13:05:01.123Z ERROR it broke\n", "exit code 3: ERROR it broke"},
		{"", "2026-11-21 13:05:01,123 - app - ERROR - it broke\n", "exit code 3: app - ERROR - it broke"},
		{"", "2026/11/21 13:05:01 it broke\n", "exit code 3: it broke"},
		{"", "[2026-11-21 13:05:01 +0100] it broke\n", "exit code 3: it broke"},
		{"", "[13:05:01] error: it broke\n", "exit code 3: error: it broke"},
		{"", "13:05:01: it broke\n", "exit code 3: it broke"},
		{"", "time=\"2026-11-21T13:05:01Z\" level=error msg=x\n", "exit code 3: level=error msg=x"},
		{"", "time=2026-11-21T13:05:01.123+01:00 level=ERROR msg=x\n", "exit code 3: level=ERROR msg=x"},
		{"", "13:05:01\n", "exit code 3: 13:05:01"},
		{"", "E1121 is no code\n", "exit code 3: E1121 is no code"},
		{"", "12:30 was too late, 13:05:01 as well\n", "exit code 3: 12:30 was too late, 13:05:01 as well"},
		{"2026-11-21T13:05:01Z pending\n", "", "exit code 3: pending"},
	} {
		have := status.Rules{}.Classify(t.Context(), exited(3, test.stdout, test.stderr))
		if have.Reason != test.want {
			t.Errorf("%q: have %q, want %q", test.stderr, have.Reason, test.want)
		}
	}
}

// A usage error of a command is permanent, unless a rule matches.
func TestCalledWrongly(t *testing.T) {
	for stderr, want := range map[string]status.Status{
		"ls: unrecognized option '--nope'\nTry 'ls --help'":               status.Error,
		"ls: invalid option -- '%'":                                       status.Error,
		"ls: illegal option -- -\nusage: ls":                              status.Error,
		"error: unknown flag: --nope\nSee 'kubectl get --help'":           status.Error,
		"unknown shorthand flag: 'x' in -x":                               status.Error,
		`Error: unknown command "nope" for "gh"`:                          status.Error,
		"flag provided but not defined: -nope\nUsage of x:":               status.Error,
		"usage: az [-h]\naz: error: unrecognized arguments: --nope":       status.Error,
		"x: error: the following arguments are required: id":              status.Error,
		"x: error: argument -o: invalid choice: 'jsn' (choose from json)": status.Error,
		"Usage: flask\nError: No such option: --nope":                     status.Error,
		"error: unexpected argument '--nope' found":                       status.Error,
		"curl: option --nope: is unknown":                                 status.Error,
		"git: 'nope' is not a git command. See 'git --help'.":             status.Error,
		"template parsing error: template: :1:8: executing \"\" at <.State.Health.Status>: map has no entry for key \"Health\"": status.Error,
		"docker: 'nope' is not a docker command.\nSee 'docker --help'":                                                          status.Error,
		"error: error parsing jsonpath {.status, unclosed action":                                                               status.Error,
		"aws: error: argument operation: Invalid choice, valid choices are:":                                                    status.Error,
		"ERROR: (gcloud.sql) Invalid choice: 'nope'.":                                                                           status.Error,
		"ERROR: 'nope' is misspelled or not recognized by the system.":                                                          status.Error,
		"Unknown command verb 'nope', did you mean 'cat'?":                                                                      status.Error,
		"jq: error: syntax error, unexpected end of file (Unix shell quoting issues?)":                                          status.Error,
		"jq: 1 compile error":                                                status.Error,
		"sh: 1: Syntax error: Unterminated quoted string":                    status.Error,
		"ERROR:  syntax error at or near \"selct\"\nLINE 1: selct 1":         status.Error,
		"ERROR 1064 (42000) at line 1: You have an error in your SQL":        status.Error,
		"bash: -c: line 1: syntax error near unexpected token `)'":           status.Error,
		"grep: unrecognized option: nope":                                    status.Error,
		"ls: option requires an argument -- 'w'":                             status.Error,
		"Error: flag needs an argument: --output":                            status.Error,
		"usage: aws [options]\nUnknown options: --nope":                      status.Error,
		"Error: No such command 'nope'.":                                     status.Error,
		"error: unrecognized subcommand 'nope'":                              status.Error,
		"error: the following required arguments were not provided:\n  <ID>": status.Error,
		"error: unknown option '--nope'":                                     status.Error,
		"unknown option: --nope\nusage: git":                                 status.Error,
		"unknown option -- z\nusage: ssh":                                    status.Error,
		"node: bad option: --nope":                                           status.Error,
		"find: unknown predicate `-nope'":                                    status.Error,
		"docker: unknown command: docker nope":                               status.Error,
		"error: unable to parse requirement: found 'x', expected: in, notin": status.Error,
		"Bad value for --query Stacks[: Bad jmespath expression":             status.Error,
		"Unknown JSON field: \"nope\"\nAvailable fields:":                    status.Error,
		"failed to parse jq expression (line 1, column 2)":                   status.Error,
		"Unknown command: \"nope\"":                                          status.Error,
		"  File \"<string>\", line 1\nSyntaxError: invalid syntax":           status.Error,
		"awk: syntax error at source line 1":                                 status.Error,
		"Unrecognized option or bad number of args for: '--nope'":            status.Error,
		"SyntaxError: Unexpected token '<', \"<html>\" is not valid JSON":    status.NotReady,
		"the template has a syntax error":                                    status.NotReady,
		"the state of the job is unknown":                                    status.NotReady,
		"no option is known":                                                 status.NotReady,
		"Error: connection refused":                                          status.NotReady,
		"myunknown flag: --x":                                                status.NotReady,
		"mysqladmin: [Warning] unknown option '--loose-infile'":              status.NotReady,
		"redis: ERR unknown command \"JSON.GET\"":                            status.NotReady,
		"2024-01-01 app: unrecognized option: foo, ignoring":                 status.NotReady,
		"warning: unknown option '-Wfoo' ignored":                            status.NotReady,
		"not ready (see unknown option -- docs)":                             status.NotReady,
		"ERROR: relay 3 unknown command \"READY\" from peer":                 status.NotReady,
		"upstream said option requires an argument":                          status.NotReady,
		"": status.NotReady,

		"An error occurred (ThrottlingException) when calling the DescribeStacks operation: Rate exceeded": status.Throttled,
		"gh: API rate limit exceeded for user ID 1. (HTTP 403)":                                            status.Throttled,
		"Error from server (TooManyRequests): the server has received too many requests":                   status.Throttled,
		"ERROR: (gcloud.builds.describe) RESOURCE_EXHAUSTED: Quota exceeded for quota metric":              status.Throttled,
		"curl: (22) The requested URL returned error: 429":                                                 status.Throttled,
		"An error occurred (ValidationError): Stack does not exist":                                        status.NotReady,
		"SlowDownload: 429 bytes": status.NotReady,
	} {
		have := status.Rules{}.Classify(t.Context(), exited(2, "", stderr))
		if have.Status != want || have.Final != (want == status.Error) || want == status.Error && !strings.HasSuffix(have.Reason, "the command was called wrongly") {
			t.Errorf("%q: have %s, final %t, %s", stderr, have.Status, have.Final, have.Reason)
		}
	}
	called := exited(2, "", "x: unknown flag: --nope\nTry 'x --help'")
	if have := (status.Rules{}).Classify(t.Context(), called).Reason; have != "exit code 2: x: unknown flag: --nope: the command was called wrongly" {
		t.Errorf("have %q", have)
	}
	for rule, want := range map[string]status.Status{"until $exit == 2": status.Success, "not-ready-if $exit == 2": status.NotReady, "until .a": status.Error} {
		if have := (status.Rules{Own: rules(t, rule)}).Classify(t.Context(), called); have.Status != want {
			t.Errorf("%s: have %s, %s", rule, have.Status, have.Reason)
		}
	}
	if have := (status.Rules{}).Classify(t.Context(), exited(0, "", "unknown flag: --nope")); have.Status != status.Success {
		t.Errorf("exit code 0: have %s, %s", have.Status, have.Reason)
	}
}

func redirected(o *status.Observation) { o.Protocol = meaning.HTTP{Redirect: "/results"} }

func doubted(o *status.Observation) { o.Doubt = "a page" }

func page(o *status.Observation) { o.Page = 3 }

// A preset may keep a wait going by an unsuccessful response, unless the server rejected the request because
// of load.
func TestPresetIsNotReady(t *testing.T) {
	preset := rules(t, `until .status == "ok"`, `not-ready-if .status == "creating"`)
	for i := range preset {
		preset[i].Preset = "mine"
	}
	for code, want := range map[int]status.Status{404: status.NotReady, 409: status.NotReady, 401: status.NotReady, 429: status.Throttled} {
		o := answered(code, `{"status":"creating"}`)
		if v := (status.Rules{Preset: &status.Preset{Stanzas: []status.Stanza{{Name: "mine", Rules: preset}}}}).Classify(t.Context(), o); v.Status != want {
			t.Errorf("HTTP %d is %s, want %s", code, v.Status, want)
		}
	}
}
