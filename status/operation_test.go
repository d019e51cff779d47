package status_test

import (
	"strings"
	"testing"

	"github.com/pollcli/poll/status"
)

func TestWhatADocumentSaysOfItsOperation(t *testing.T) {
	t.Parallel()
	const followed, azure = status.MonitorLocation, status.MonitorAzure
	for _, test := range []struct {
		monitor status.Monitor
		body    string
		want    status.Status
		reason  string
		open    string
	}{
		// not known to be final
		{followed, `{"state":"running","progress":20}`, status.NotReady, `.state is "running", which is no known final state: a condition can say what is`, ".state"},
		{followed, `{"status":"shipped"}`, status.NotReady, `.status is "shipped"`, ".status"},
		{followed, `{"phase":""}`, status.NotReady, `.phase is ""`, ".phase"},
		{followed, `{"provisioningState":"Updating"}`, status.NotReady, `.provisioningState is "Updating"`, ".provisioningState"},
		{followed, `{"State":"Running"}`, status.NotReady, `.State is "Running"`, ".State"},
		{followed, `{"done":false,"name":"operations/7"}`, status.NotReady, ".done is false", ""},
		{followed, `{"done":5}`, status.NotReady, ".done is 5", ".done"},
		{followed, `{"done":null}`, status.NotReady, ".done is null", ".done"},
		{followed, `{"status":{"phase":"Succeeded"}}`, status.NotReady, ".status is {", ".status"},
		{followed, `{"status":["done"]}`, status.NotReady, ".status is [", ".status"},
		{followed, `{"status":404}`, status.NotReady, ".status is 404", ".status"},
		{followed, `{"state":"stopped"}`, status.NotReady, `.state is "stopped"`, ".state"},
		{followed, `{"status":"done","state":"running"}`, status.NotReady, `.state is "running"`, ".state"},
		{followed, `{"state":"running","done":true}`, status.NotReady, `.state is "running"`, ".state"},
		{status.MonitorBuilt, `{"status":"starting"}`, status.NotReady, `.status is "starting"`, ".status"},
		{followed, `{"status":true}`, status.NotReady, ".status is true, which is no known final state", ".status"},
		{followed, `{"status":false}`, status.NotReady, ".status is false, which is no known final state", ".status"},
		{followed, `{"properties":{"provisioningState":"Updating"}}`, status.NotReady, `.properties.provisioningState is "Updating"`, ".properties.provisioningState"},
		{azure, `{"state":"running"}`, status.NotReady, `.state is "running"`, ".state"},

		// not in an envelope
		{followed, `{"status":true,"data":{"state":"queued"}}`, status.NotReady, ".status is true", ".status"},
		{followed, `{"status":"ok","job":{"state":"queued"}}`, status.NotReady, `.job.state is "queued"`, ".job.state"},
		{followed, `{"status":"success","data":{"status":"queued"}}`, status.NotReady, `.data.status is "queued"`, ".data.status"},
		{followed, `{"status":"OK","result":{"done":false}}`, status.NotReady, `.result.done is false`, ""},
		{followed, `{"Status":"Success","operation":{"Phase":"Running"}}`, status.NotReady, `.operation.Phase is "Running"`, ".operation.Phase"},
		{followed, `{"status":200,"data":{"state":"queued"}}`, status.NotReady, `.data.state is "queued"`, ".data.state"},
		{followed, `{"status":"success","state":"running","data":{"state":"done"}}`, status.NotReady, `.state is "running"`, ".state"},
		{azure, `{"id":7}`, status.NotReady, "HTTP 200 OK, which does not say whether the operation is done", ""},
		{azure, `rows`, status.NotReady, "HTTP 200 OK, which does not say whether the operation is done", ""},

		// final
		{followed, `{"state":"ready","name":"c1"}`, status.Success, `.state is "ready"`, ""},
		{followed, `{"status":"SUCCEEDED"}`, status.Success, "", ""},
		{followed, `{"status":"Update_Complete"}`, status.Success, "", ""},
		{followed, `{"status":"active"}`, status.Success, "", ""},
		{followed, `{"done":true,"response":{}}`, status.Success, ".done is true", ""},
		{followed, `{"status":200,"data":[]}`, status.Success, "HTTP 200 OK", ""},
		{followed, `{"status":"completed","state":"done","error":null}`, status.Success, "", ""},
		{followed, `{"status":"completed","error":{ }}`, status.Success, "", ""},
		{followed, `{"status":"completed","error":""}`, status.Success, "", ""},
		{followed, `{"status":"completed","error":false}`, status.Success, "", ""},
		{azure, `{"state":"done"}`, status.Success, `.state is "done"`, ""},

		{followed, `{"status":"success","data":{"state":"done"}}`, status.Success, `.data.state is "done"`, ""},
		{followed, `{"status":"success","data":{"rows":[]}}`, status.Success, `.status is "success"`, ""},
		{followed, `{"status":"done","data":{"state":"queued"}}`, status.Success, `.status is "done"`, ""},
		{followed, `{"status":201,"data":{"state":"queued"}}`, status.NotReady, `.status is 201`, ".status"},
		{azure, `{"status":"succeeded","error":null}`, status.Success, "", ""},
		{azure, `{"status":"succeeded","error":{}}`, status.Success, "", ""},

		// failed
		{followed, `{"status":"ok","job":{"state":"failed"}}`, status.Error, `.job.state is "failed"`, ""},
		{azure, `{"status":"succeeded","error":{"message":"no quota"}}`, status.Error, `.status is "succeeded" with an error: no quota`, ""},
		{azure, `{"status":"Succeeded","error":["x"]}`, status.Error, "", ""},
		{followed, `{"error":"no such job"}`, status.Error, "HTTP 200 OK with nothing but an error: no such job", ""},
		{followed, `{"errors":[{"message":"x"}],"data":null}`, status.Error, "HTTP 200 OK with nothing but an error: x", ""},
		{followed, `{"error":{"code":"Gone"},"request_id":"7","Message":"y"}`, status.Error, "HTTP 200 OK with nothing but an error: Gone", ""},
		{followed, `{"state":"failed"}`, status.Error, `.state is "failed"`, ""},
		{followed, `{"status":"ERROR","message":"disk full"}`, status.Error, `.status is "ERROR": disk full`, ""},
		{followed, `{"status":"timed out","error":"after 3 min"}`, status.Error, `.status is "timed out": after 3 min`, ""},
		{followed, `{"status":"running","state":"Cancelled"}`, status.Error, `.state is "Cancelled"`, ""},
		{followed, `{"done":true,"error":{"code":7,"message":"no quota"}}`, status.Error, ".done is true: no quota", ""},
		{followed, `{"status":"completed","error":["x"]}`, status.Error, `.status is "completed"`, ""},
		{azure, `{"state":"failed"}`, status.Error, `.state is "failed"`, ""},

		// nothing is said
		{followed, `{"id":7,"nested":{"state":"running"}}`, status.Success, "HTTP 200 OK", ""},
		{followed, `{"id":7,"error":"x"}`, status.Success, "HTTP 200 OK", ""},
		{followed, `{"error":null,"message":"done it"}`, status.Success, "HTTP 200 OK", ""},
		{followed, `{"errors":[],"data":null}`, status.Success, "HTTP 200 OK", ""},
		{followed, `{"errors":[{"row":7}],"imported":6}`, status.Success, "HTTP 200 OK", ""},
		{followed, `{"data":{"state":"queued"}}`, status.Success, "HTTP 200 OK", ""},
		{followed, `[{"state":"running"}]`, status.Success, "HTTP 200 OK", ""},
		{followed, `"running"`, status.Success, "HTTP 200 OK", ""},
		{followed, `state: running`, status.Success, "HTTP 200 OK", ""},
		{followed, ``, status.Success, "HTTP 200 OK", ""},
		{status.MonitorGiven, `{"state":"running"}`, status.Success, "HTTP 200 OK", ""},
		{status.MonitorResult, `{"state":"running"}`, status.Success, "HTTP 200 OK", ""},
	} {
		o := answered(200, test.body)
		o.Following.Monitor = test.monitor
		have := status.Rules{}.Classify(t.Context(), o)
		if have.Status != test.want || !strings.HasPrefix(have.Reason, test.reason) || have.Advice.Path != test.open {
			t.Errorf("behind %d, %s: have %s, %q, open %q; want %s, %q, open %q",
				test.monitor, test.body, have.Status, have.Reason, have.Advice.Path, test.want, test.reason, test.open)
		}
	}
}

// Once a state was seen, an answer without one is not the end: it may be of
// whatever stands before the server.
func TestAnAnswerWithoutAStateAfterOneThatHadIt(t *testing.T) {
	t.Parallel()
	const reason = `HTTP 200 OK without a state, and before it .status is "running"`
	for _, test := range []struct {
		rule, body string
		want       status.Status
		reason     string
	}{
		{"", `<html>maintenance`, status.NotReady, reason},
		{"", `{"status":"runn`, status.NotReady, reason},
		{"", ``, status.NotReady, reason},
		{"", `{}`, status.NotReady, reason},
		{"", `{"error":"upstream"}`, status.NotReady, reason},
		{"", `{"status":"done"}`, status.Success, `.status is "done"`},
		{"until $status == 200", `<html>maintenance`, status.Success, ""},
		{`until .status == "done"`, `{}`, status.NotReady, ".status is missing"},
		{`not-ready-if .status == "running"`, `{"rows":[]}`, status.Success, "HTTP 200 OK"},
		{`not-ready-if .status == "running"`, `{"error":"upstream"}`, status.NotReady, reason},
		{`not-ready-if .status == "running"`, `<html>maintenance`, status.NotReady, reason},
		{`not-ready-if .status == "running"`, ``, status.NotReady, reason},
		{`not-ready-if $status == 409`, `{}`, status.NotReady, reason},
	} {
		o := answered(200, test.body)
		o.Following.Monitor, o.Following.Earlier = status.MonitorLocation, `.status is "running"`
		var own []status.Rule
		if test.rule != "" {
			own = rules(t, test.rule)
		}
		have := status.Rules{Own: own}.Classify(t.Context(), o)
		if have.Status != test.want || !strings.HasPrefix(have.Reason, test.reason) {
			t.Errorf("%q, %s: have %s, %q; want %s, %q", test.rule, test.body, have.Status, have.Reason, test.want, test.reason)
		}
		o.Following.Monitor = status.MonitorResult
		if have := (status.Rules{}).Classify(t.Context(), o); have.Status != status.Success {
			t.Errorf("a result, %s: have %s, %q", test.body, have.Status, have.Reason)
		}
	}
}

func TestStatement(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code       int
		body, want string
	}{
		{200, `{"state":"running"}`, `.state is "running"`},
		{200, `{"done":true}`, ".done is true"},
		{200, `{"status":"ok","job":{"state":"queued"}}`, `.job.state is "queued"`},
		{200, `{"status":200}`, ""},
		{200, `rows`, ""},
		{500, `{"state":"running"}`, ""},
	} {
		o := answered(test.code, test.body)
		if have := o.Statement(); have != test.want {
			t.Errorf("%d, %s: have %q, want %q", test.code, test.body, have, test.want)
		}
	}
	if have := (&status.Observation{Kind: status.KindCommand, Exit: new(0), Body: []byte(`{"state":"running"}`)}).Statement(); have != "" {
		t.Errorf("a command: have %q", have)
	}
}

// A rule of the user's that says what is final, or what is not, decides instead.
func TestRulesAndWhatADocumentSays(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rule    string
		monitor status.Monitor
		body    string
		want    status.Status
		reason  string
	}{
		{`until .state == "shipped"`, status.MonitorLocation, `{"state":"shipped"}`, status.Success, ""},
		{`until .state == "shipped"`, status.MonitorLocation, `{"state":"done"}`, status.NotReady, `.state is "done", want == "shipped"`},
		{`until .state == "shipped"`, status.MonitorLocation, `{"state":"failed"}`, status.NotReady, `.state is "failed", want == "shipped"`},
		{`not-ready-if .state == "queued"`, status.MonitorLocation, `{"state":"odd"}`, status.Success, ""},
		{`not-ready-if .state == "queued"`, status.MonitorLocation, `{"state":"failed"}`, status.Error, ""},
		{`not-ready-if .state == "queued"`, status.MonitorAzure, `{"state":"odd"}`, status.NotReady, `.state is "odd"`},
		{`not-ready-if $status == 404`, status.MonitorLocation, `{"state":"running"}`, status.NotReady, `.state is "running"`},
		{`error-if .state == "burnt"`, status.MonitorLocation, `{"state":"running"}`, status.NotReady, `.state is "running"`},
	} {
		o := answered(200, test.body)
		o.Following.Monitor = test.monitor
		have := status.Rules{Own: rules(t, test.rule)}.Classify(t.Context(), o)
		if have.Status != test.want || !strings.HasPrefix(have.Reason, test.reason) {
			t.Errorf("%s, behind %d, %s: have %s, %q; want %s, %q", test.rule, test.monitor, test.body, have.Status, have.Reason, test.want, test.reason)
		}
	}
}

// The rules of Azure's status document are asked behind a start without anybody
// having given them. What they miss is no news to who reads the reason.
func TestAzureRulesAreSilentWhereTheyDoNotDecide(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rule, body, reason string
	}{
		{`until .state == "done"`, `{"state":"queued"}`, `.state is "queued", want == "done"`},
		{`until .state == "done"`, `{"id":7}`, `.state is missing, want == "done"`},
		{`until .state == "done"`, `{"status":"Running","state":"queued"}`, `.state is "queued", want == "done"`},
		{`error-if .state == "burnt"`, `{"state":"queued"}`, `.state is "queued", which is no known final state: a condition can say what is`},
		{`error-if .state == "burnt"`, `{"status":"Running"}`, `.status // `}, // this one is Azure's
	} {
		o := answered(200, test.body)
		o.Following.Monitor = status.MonitorAzure
		have := status.Rules{Own: rules(t, test.rule)}.Classify(t.Context(), o)
		if have.Status != status.NotReady || !strings.HasPrefix(have.Reason, test.reason) || strings.Contains(have.Reason, "startswith") {
			t.Errorf("%s of %s: have %s, %q; want %q", test.rule, test.body, have.Status, have.Reason, test.reason)
		}
		var tally status.Tally
		tally.Add(have)
		if notes := strings.Join(tally.Notes(status.KindHTTP), "\n"); strings.Contains(notes, "azure") {
			t.Errorf("%s of %s: have notes %q", test.rule, test.body, notes)
		}
	}
}

func TestAzureRulesTellWhatTheyDecide(t *testing.T) {
	t.Parallel()
	o := answered(200, `{"status":"Failed","error":{"message":"no quota"}}`)
	o.Following.Monitor = status.MonitorAzure
	have := status.Rules{Own: rules(t, `until .state == "done"`)}.Classify(t.Context(), o)
	if have.Status != status.Error || !strings.Contains(have.Rule, "azure") || !strings.HasSuffix(have.Reason, "no quota") {
		t.Errorf("have %s by %q, %q", have.Status, have.Rule, have.Reason)
	}
}
