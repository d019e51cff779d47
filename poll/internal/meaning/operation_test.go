package meaning_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/presets"
)

func TestDocument_stateOfItsOperation(t *testing.T) {
	const followed, azure, created = meaning.MonitorLocation, meaning.MonitorAzure, meaning.MonitorCreated
	const stateless = "HTTP 200 OK without a state: a condition can describe the end"
	for _, test := range []struct {
		monitor meaning.Monitor
		body    string
		want    status.Status
		reason  string
		open    string
	}{
		// not known to be final
		{followed, `{"state":"running","progress":20}`, status.NotReady, `.state is "running", which is not a known final state: a condition can name the final state`, ".state"},
		{followed, `{"provisioningState":"Updating"}`, status.NotReady, `.provisioningState is "Updating"`, ".provisioningState"},
		{followed, `{"done":false,"name":"operations/7"}`, status.NotReady, ".done is false", ""},
		{followed, `{"state":"done","error":"No error","errors":"none"}`, status.Success, `.state is "done"`, ""},
		{followed, `{"state":"done","exitCode":0.0,"numErrors":"0.0","error":{"code":null,"message":""}}`, status.Success, `.state is "done"`, ""},
		{followed, `[[[[[[{"state":"done"}]]]]]]`, status.NotReady, stateless, ""},
		{followed, `{"done":null}`, status.NotReady, ".done is null", ".done"},
		{followed, `{"status":{"build":7}}`, status.NotReady, ".status is {", ".status.NAME"},
		{followed, `{"status":4,"complete":true}`, status.NotReady, ".status is 4, which is not a known final state", ".status==4"},
		{followed, `{"status":{"state":"RUNNING"}}`, status.NotReady, `.status.state is "RUNNING"`, ".status.state"},
		{followed, `{"status":{"state":{"state":"done"}}}`, status.NotReady, `.status.state is {"state":"done"}`, ".status.state.NAME"},
		{followed, `{"status":"done","state":"running"}`, status.NotReady, `.state is "running"`, ".state"},
		{followed, `{"state":"running","done":true}`, status.NotReady, `.state is "running"`, ".state"},
		{followed, `{"status":true}`, status.NotReady, ".status is true, which is not a known final state", ".status==true"},
		{followed, `{"properties":{"provisioningState":"Updating"}}`, status.NotReady, `.properties.provisioningState is "Updating"`, ".properties.provisioningState"},

		{followed, `Export is being prepared, please wait`, status.NotReady, "HTTP 200 OK with a text: a condition can describe the end", ""},
		{followed, `rows 7`, status.Success, "HTTP 200 OK", ""},

		// not in an envelope
		{followed, `{"status":"OK","result":{"done":false}}`, status.NotReady, `.result.done is false`, ""},
		{followed, `{"Status":"Success","operation":{"Phase":"Running"}}`, status.NotReady, `.operation.Phase is "Running"`, ".operation.Phase"},
		{followed, `{"status":200,"data":{"state":"queued"}}`, status.NotReady, `.data.state is "queued"`, ".data.state"},
		{azure, `{"id":7}`, status.NotReady, "HTTP 200 OK, which does not show whether the operation is done", ""},
		{azure, `rows`, status.NotReady, "HTTP 200 OK, which does not show whether the operation is done", ""},

		{followed, `{"status":"completed","result":{"status":"active"}}`, status.NotReady, `.result.status is "active"`, ".result.status"},

		// final
		{followed, `{"status":{"phase":"Succeeded"}}`, status.Success, `.status.phase is "Succeeded"`, ""},
		{followed, `{"status":"Update_Complete"}`, status.Success, "", ""},
		{followed, `done`, status.Success, `$body is "done"`, ""},
		{followed, `[{"state":"done"},{"state":"succeeded"}]`, status.Success, `.[0].state is "done"`, ""},
		{followed, `{"status":"completed","result":{"order_status":"shipped","rows":6}}`, status.Success, `.status is "completed"`, ""},
		{followed, `{"status":"success","result":{"url":"/x"}}`, status.Success, `.status is "success"`, ""},

		{azure, `{"status":"succeeded","error":{}}`, status.Success, "", ""},

		// failed
		{azure, `{"status":"succeeded","error":{"message":"no quota"}}`, status.Error, `succeeded with an error: no quota`, ""},
		{followed, `{"errors":[{"message":"x"}],"data":null}`, status.Error, "HTTP 200 OK: x", ""},
		{followed, `{"fault":{"faultstring":"x"}}`, status.Error, "HTTP 200 OK: x", ""},
		{followed, `{"error":"no such job"}`, status.Error, "HTTP 200 OK: no such job", ""},
		{followed, `{"status":{"state":"FAILED","error":{"message":"x"}}}`, status.Error, `.status.state is "FAILED": x`, ""},
		{followed, `{"message":"SUCCEED","data":{"task_status":"failed","task_status_msg":"Image pixel is invalid"}}`, status.Error, `.data.task_status is "failed": Image pixel is invalid`, ""},
		{followed, `{"message":"SUCCEED","data":{"task_status":"failed"}}`, status.Error, `.data.task_status is "failed"`, ""},
		{followed, `{"message":"no quota","job":{"state":"failed","message":"disk full"}}`, status.Error, `.job.state is "failed": disk full`, ""},
		{followed, `{"message":"no quota","job":{"state":"failed"}}`, status.Error, `.job.state is "failed": no quota`, ""},
		{followed, `{"status":"invalid","error":{"detail":"CAA record"}}`, status.Error, `.status is "invalid": CAA record`, ""},
		{followed, `{"app":{"state":"FINISHED","finalStatus":"FAILED","diagnostics":"x"}}`, status.Error, `.app.finalStatus is "FAILED": x`, ""},
		{followed, `{"app":{"state":"KILLED","finalStatus":"KILLED"}}`, status.Error, `.app.finalStatus is "KILLED"`, ""},
		{followed, `{"state":"Failed","errorMessage":"no such field"}`, status.Error, `.state is "Failed": no such field`, ""},
		{followed, `{"state":"error","error_message":"invalid _redirects"}`, status.Error, `.state is "error": invalid _redirects`, ""},
		{followed, `{"state":"OUT_OF_MEMORY"}`, status.Error, `.state is "OUT_OF_MEMORY"`, ""},
		{followed, `{"percentageComplete":100,"successful":false}`, status.Error, "HTTP 200 OK, but .successful is false", ""},
		{followed, `{"state":"dismissed"}`, status.Error, `.state is "dismissed"`, ""},
		{followed, `{"TaskState":"Exception"}`, status.Error, `.TaskState is "Exception"`, ""},
		{followed, `{"JobState":"CompletedWithErrors"}`, status.Error, `.JobState is "CompletedWithErrors"`, ""},
		{followed, `{"status":{"state":"DONE","errors":[{"reason":"invalid"}]}}`, status.Error, `.status.state is "DONE", but .status.errors is [`, ""},
		{followed, `{"state":"failed"}`, status.Error, `.state is "failed"`, ""},
		{followed, `{"done":true,"error":{"code":7,"message":"no quota"}}`, status.Error, ".done is true: no quota", ""},
		{azure, `{"state":"failed"}`, status.Error, `.state is "failed"`, ""},

		{followed, `{"status":"completed","conclusion":"failure"}`, status.Error, `.conclusion is "failure"`, ""},
		{followed, `{"state":"complete","errors":["x"]}`, status.Error, `.state is "complete": x`, ""},
		{followed, `{"done":true,"response":{"error":"x"}}`, status.Error, ".done is true, but .response.error is", ""},
		{followed, `failed`, status.Error, `$body is "failed"`, ""},
		{created, `{"id":7,"errors":["x"]}`, status.Error, "HTTP 200 OK: x", ""},

		// not known to be final in every API, or under another name, or further in
		{followed, `{"job_status":"done","lifecycleState":"CREATING"}`, status.NotReady, `.lifecycleState is "CREATING"`, ".lifecycleState"},
		{followed, `{"status":"success","data":[{"status":"done"},{"status":"running"}]}`, status.NotReady, `.data[1].status is "running"`, ".data[1].status"},
		{followed, `[{"state":"running"}]`, status.NotReady, `.[0].state is "running"`, ".[0].state"},
		{followed, `Queued`, status.NotReady, `$body is "Queued"`, "$body"},

		// a sign that the operation is running
		{followed, `{"percentageComplete":50,"successful":false}`, status.NotReady, ".percentageComplete is 50", ""},
		{followed, `{"readyToStream":true,"pctComplete":"39.000000"}`, status.NotReady, `.pctComplete is "39.000000"`, ""},
		{followed, `{"status":"incomplete"}`, status.NotReady, `.status is "incomplete", which is not a known final state`, ".status"}, // Airbyte tries again
		{followed, `{"app":{"state":"RUNNING","finalStatus":"UNDEFINED"}}`, status.NotReady, `.app.state is "RUNNING"`, ".app.state"},
		{followed, `{"state":"FINISHED","finalStatus":"UNDEFINED"}`, status.NotReady, `.finalStatus is "UNDEFINED"`, ".finalStatus"},
		{created, `{"progress":10}`, status.NotReady, ".progress is 10", ""},
		{created, `{"percentComplete":"99%"}`, status.NotReady, `.percentComplete is "99%"`, ""},
		{created, `{"completed_at":null}`, status.NotReady, ".completed_at is null", ""},
		{created, `{"queue_position":3}`, status.NotReady, ".queue_position is 3", ""},
		{created, `{"message":"still working"}`, status.NotReady, `.message is "still working"`, ""},
		{created, `{"completed":3,"total":10}`, status.NotReady, ".completed is 3", ""},
		{created, `{"completed":300,"total":1000}`, status.NotReady, ".completed is 300", ""},
		{created, `{"finished":1700000000}`, status.Success, "HTTP 200 OK", ""},
		{created, `{"complete":"False"}`, status.NotReady, `.complete is "False"`, ""},
		{created, `{"pending":[],"remaining":7}`, status.NotReady, ".remaining is 7", ""},
		{created, `{"items":[{"state":"done"},{"state":"failed"}]}`, status.NotReady, `.items[1].state is "failed"`, ""},
		{created, `{"status":"success","items":[{"state":"running"}]}`, status.NotReady, `.items[0].state is "running"`, ""},
		{created, `{"items":[{"state":"done"}]}`, status.Success, "HTTP 200 OK", ""},
		{followed, `{"status":"completed","progress":40}`, status.NotReady, ".progress is 40", ""},
		{followed, `{"status":"completed","progress":1.0}`, status.Success, `.status is "completed"`, ""},
		{created, `{"status":"success","data":{"progress":10}}`, status.NotReady, ".data.progress is 10", ""},

		// in any object, if nothing else states more than that the reply is fine
		{created, `{"status":"success","render":{"status":"queued"}}`, status.NotReady, `.render.status is "queued"`, ".render.status"},
		{created, `{"action":{"id":1,"status":"in-progress"}}`, status.NotReady, `.action.status is "in-progress"`, ".action.status"},
		{created, `{"a":{"b":{"c":{"state":"running"}}}}`, status.NotReady, `.a.b.c.state is "running"`, ".a.b.c.state"},
		{followed, `{"app":{"state":"RUNNING"}}`, status.NotReady, `.app.state is "RUNNING"`, ".app.state"},
		{followed, `{"app":{"state":"finished"}}`, status.NotReady, `.app.state is "finished", which may be about something else: a condition can describe the end`, ""},
		{followed, `{"state":"done","owner":{"state":"failed"}}`, status.Success, `.state is "done"`, ""},

		// a separate flag, and members inside the result
		{created, `{"jobComplete":false}`, status.NotReady, ".jobComplete is false", ""},
		{created, `{"building":true,"result":null}`, status.NotReady, ".building is true", ""},
		{followed, `{"done":true,"response":{"state":"RUNNING"}}`, status.Success, ".done is true", ""},
		{followed, `{"done":true,"error":{"message":"x"},"response":{"state":"RUNNING"}}`, status.Error, ".done is true: x", ""},
		{followed, `{"done":true,"response":{"state":"FAILED"}}`, status.Error, `.response.state is "FAILED"`, ""},
		{followed, `{"done":true,"metadata":{"state":"RUNNING"}}`, status.NotReady, `.metadata.state is "RUNNING"`, ".metadata.state"},

		// done, but
		{followed, `{"done":true,"timed_out":true}`, status.Error, ".done is true, but .timed_out is true", ""},
		{followed, `{"status":"completed","succeeded":9,"failed":1}`, status.Error, `.status is "completed", but .failed is 1`, ""},
		{created, `{"success":"false"}`, status.Error, `HTTP 200 OK, but .success is "false"`, ""},
		{followed, `{"status":"completed","failures":[{"id":7}]}`, status.Error, `.status is "completed", but .failures is`, ""},
		{followed, `{"status":"done","failures":[],"error_code":"0","errorMessage":null,"errorCount":0,"hasErrors":false,"failure_reason":""}`,
			status.Success, `.status is "done"`, ""},
		{followed, `{"status":"completed","conclusion":"action_required"}`, status.NotReady, `.conclusion is "action_required", which is not a known final state`, ".conclusion"},
		{followed, `{"status":"completed","result":"succeededWithIssues"}`, status.NotReady, `.result is "succeededWithIssues"`, ".result"},
		{followed, `{"status":"COMPLETED","conclusion":"NEUTRAL"}`, status.Success, `.status is "COMPLETED"`, ""},
		{followed, `{"status":"completed","result":"success","conclusion":"skipped"}`, status.Success, `.status is "completed"`, ""},

		// no state
		{created, `null`, status.NotReady, "HTTP 200 OK without a document of the operation", ""},
		{followed, "\n<p>please log in", status.NotReady, "HTTP 200 OK without a document of the operation", ""},
		{followed, `<?xml version="1.0"?><Task status="running"/>`, status.NotReady, "HTTP 200 OK without a document of the operation", ""},
		{created, `false`, status.NotReady, "HTTP 200 OK without a document of the operation", ""},
		{followed, `{"status":"ok","job":{"id":7}}`, status.NotReady, stateless, ""},
		{followed, `{"status":"OK","job_id":7}`, status.NotReady, stateless, ""}, // of the response
		{followed, `{"status":"ok","state":"done"}`, status.Success, `.state is "done"`, ""},
		{followed, `[]`, status.NotReady, stateless, ""},

		// about something else, or about a part
		{followed, `{"previousState":"done","lastRunStatus":"succeeded","paymentState":"done"}`, status.NotReady, stateless, ""},
		{followed, `{"step":"done"}`, status.NotReady, stateless, ""},
		{followed, `{"stage":"failed"}`, status.Error, `.stage is "failed"`, ""},
		{followed, `{"state":"done"`, status.NotReady, "HTTP 200 OK without a document of the operation", ""},
		{followed, ``, status.NotReady, "HTTP 200 OK without a document of the operation", ""},
		{created, ``, status.NotReady, "HTTP 200 OK without a document of the operation", ""},
		{followed, `state: running`, status.NotReady, "HTTP 200 OK with a text: a condition can describe the end", ""},
		{followed, `still running`, status.NotReady, "HTTP 200 OK with a text: a condition can describe the end", ""},
		{followed, `not done`, status.NotReady, "HTTP 200 OK with a text: a condition can describe the end", ""},
		{followed, `report ready`, status.Success, "HTTP 200 OK", ""},
		{followed, `{"finished":true,"passed":false}`, status.Error, `.finished is true, but .passed is false`, ""},
		{followed, `{"status":"done","returnCode":2}`, status.Error, `.status is "done", but .returnCode is 2`, ""},
		{followed, `{"status":"done","returnCode":0}`, status.Success, `.status is "done"`, ""},
		{followed, `{"status":"finished","exit_status":"error"}`, status.Error, `.status is "finished", but .exit_status is "error"`, ""},
		{followed, `{"status":"done","verdict":"rejected"}`, status.Error, `.status is "done", but .verdict is "rejected"`, ""},
		{followed, `{"state":"Done","reason":"Failed"}`, status.Error, `.state is "Done": Failed`, ""},
		{meaning.MonitorResult, `{"state":"running"}`, status.Success, "HTTP 200 OK", ""},

		// the result after a 303, unless the document has an open state
		{meaning.MonitorSeeOther, `{"state":"active"}`, status.Success, "HTTP 200 OK", ""},
		{meaning.MonitorSeeOther, `{"id":7,"owner":{"state":"queued"}}`, status.NotReady, `.owner.state is "queued"`, ".owner.state"},
		{meaning.MonitorSeeOther, `{"state":"queued"}`, status.NotReady, `.state is "queued"`, ".state"},
		{meaning.MonitorSeeOther, `{"running":true}`, status.NotReady, ".running is true", ""},
		{meaning.MonitorSeeOther, `{"state":"failed"}`, status.Error, `.state is "failed"`, ""},
		{meaning.MonitorSeeOther, ``, status.Success, "HTTP 200 OK", ""},

		// equal members
		{followed, `{"state":"queued","state":"done"}`, status.NotReady, `.state is "queued"`, ".state"},
		{followed, `{"job":{"state":"done","state":"queued"}}`, status.NotReady, `.job.state is "queued"`, ".job.state"},
		{created, `{"job":{"state":"done"},"job":{"state":"queued"}}`, status.NotReady, `.job.state is "queued"`, ".job.state"},
		{followed, `{"state":"failed","state":"done"}`, status.Error, `.state is "failed"`, ""},

		// SUCCESS only at the top level and in one envelope
		{followed, `{"job":{"state":"done"}}`, status.Success, `.job.state is "done"`, ""},
		{followed, `{"data":{"attributes":{"state":"done"}}}`, status.NotReady, `.data.attributes.state is "done", which may be about something else`, ""},
		{followed, `{"data":{"attributes":{"state":"active"}}}`, status.NotReady, `.data.attributes.state is "active"`, ".data.attributes.state"},
		{followed, `{"status":"done","data":{"attributes":{"state":"running"}}}`, status.NotReady, `.data.attributes.state is "running"`, ".data.attributes.state"},
		{followed, `{"data":{"attributes":{"state":"failed"}}}`, status.Error, `.data.attributes.state is "failed"`, ""},
	} {
		o := answered(200, test.body)
		o.Protocol = meaning.HTTP{Monitor: test.monitor}
		have := status.Rules{}.Classify(t.Context(), o)
		open := strings.TrimSuffix(textOf(have), `=="..."`)
		if have.Status != test.want || !strings.HasPrefix(have.Reason, test.reason) || open != test.open {
			t.Errorf("behind %d, %s: have %s, %q, open %q; want %s, %q, open %q",
				test.monitor, test.body, have.Status, have.Reason, open, test.want, test.reason, test.open)
		}
	}
}

// textOf returns the text of the only hint of v, or "" if v has no hint, or a note.
func textOf(v status.Verdict) string {
	if len(v.Hints) != 1 || v.Hints[0].Kind == status.HintNote {
		return ""
	}
	return v.Hints[0].Text
}

// The members that hold URLs are in a hint, and their values are not shown.
func TestURLsThatAStartNames(t *testing.T) {
	for body, want := range map[string]string{
		`{"n":7}`:                        "",
		`{"id":7}`:                       "'/PATH/{.id}'",
		`{"owner_id":1,"jobId":7}`:       "'/PATH/{.jobId}'",
		`{"job_id":1,"run_id":2,"Id":7}`: "'/PATH/{.Id}'",
		`{"id":7,"audio_url":"https://media.example.com/a.mp3","links":{"html":{"href":"/7.html"}}}`: "'/PATH/{.id}'",
		`{"links":{"status":"/longtask/7"},"status":"pending"}`:                                      "'.links.status'",
		`{"result":{"links":{"progress":{"id":"p","url":"/progress/p"}}}}`:                           "'.result.links.progress.url'",
		`{"statementStatusUrl":"/statements/7?sig=s3cret"}`:                                          "'.statementStatusUrl'",
		`{"links":{"self":"https://api.example.com/7"},"name":"/etc/x"}`:                             "'.links.self'",
		`{"a-url":"/x","href":"nothing"}`:                                                            "",
		`{"a":{"b":{"c":{"d":{"href":"/x"}}}}}`:                                                      "",
		`{"a":{"b":{"href":"/x"}},"uri":"/y"}`:                                                       "'.a.b.href' or '.uri'",
	} {
		o := answered(202, body)
		o.Start = true
		want := []status.Hint{{Kind: status.HintFollow, Text: want}}
		if have := (status.Rules{}).Classify(t.Context(), o).Hints; !slices.Equal(have, want) {
			t.Errorf("%s: have hints %v, want %v", body, have, want)
		}
	}
	o := answered(200, "")
	o.Start = true
	o.Header = map[string][]string{"Location": {"/jobs/7"}}
	if have := textOf((status.Rules{}).Classify(t.Context(), o)); have != "'$header.Location'" {
		t.Errorf("have %s", have)
	}
}

// After a response with a state, a response without a state does not end the operation: the response may come
// from a proxy.
func TestOperation_responseWithoutAStateAfterAState(t *testing.T) {
	const reason = `HTTP 200 OK without a state, and before it .status is "running"`
	for _, test := range []struct {
		rule, body string
		want       status.Status
		reason     string
	}{
		{"", `{}`, status.NotReady, reason},
		{`until .status == "done"`, `{}`, status.NotReady, ".status is missing"},
		{"", `{"app":{"state":"FINISHED"}}`, status.NotReady, `.app.state is "FINISHED", which may be about something else, and before it .status is "running"`},
		{`not-ready-if .status == "running"`, `{"rows":[]}`, status.Success, "HTTP 200 OK"},
		{`not-ready-if .status == "running"`, `{"error":"upstream"}`, status.NotReady, reason},
		{`not-ready-if .status == "running"`, `<html>maintenance`, status.NotReady, reason},
		{`not-ready-if .status == "running"`, ``, status.NotReady, reason},
		{`not-ready-if $status == 409`, `{}`, status.NotReady, reason},
	} {
		o := answered(200, test.body)
		o.Protocol = meaning.HTTP{Monitor: meaning.MonitorLocation, Earlier: `.status is "running"`}
		var own []status.Rule
		if test.rule != "" {
			own = rules(t, test.rule)
		}
		have := status.Rules{Own: own}.Classify(t.Context(), o)
		if have.Status != test.want || !strings.HasPrefix(have.Reason, test.reason) {
			t.Errorf("%q, %s: have %s, %q; want %s, %q", test.rule, test.body, have.Status, have.Reason, test.want, test.reason)
		}
		o.Protocol = meaning.HTTP{Monitor: meaning.MonitorResult}
		if have := (status.Rules{}).Classify(t.Context(), o); have.Status != status.Success {
			t.Errorf("a result, %s: have %s, %q", test.body, have.Status, have.Reason)
		}
	}
}

// With a rule for NOT_READY on the document, an unknown state of the document means SUCCESS, except in Azure's
// status documents. Known states keep their meaning.
func TestRules_andStatesOfADocument(t *testing.T) {
	for _, test := range []struct {
		rule    string
		monitor meaning.Monitor
		body    string
		want    status.Status
		reason  string
	}{
		{`not-ready-if .state == "queued"`, meaning.MonitorLocation, `{"state":"odd"}`, status.Success, ""},
		{`not-ready-if .state == "queued"`, meaning.MonitorLocation, `{"state":"failed"}`, status.Error, ""},
		{`not-ready-if .state == "queued"`, meaning.MonitorAzure, `{"state":"odd"}`, status.NotReady, `.state is "odd"`},
		{`not-ready-if $status == 404`, meaning.MonitorLocation, `{"state":"running"}`, status.NotReady, `.state is "running"`},
	} {
		o := answered(200, test.body)
		o.Protocol = meaning.HTTP{Monitor: test.monitor}
		have := status.Rules{Own: rules(t, test.rule)}.Classify(t.Context(), o)
		if have.Status != test.want || !strings.HasPrefix(have.Reason, test.reason) {
			t.Errorf("%s, behind %d, %s: have %s, %q; want %s, %q", test.rule, test.monitor, test.body, have.Status, have.Reason, test.want, test.reason)
		}
	}
}

// The rules for Azure's status document are evaluated without a flag. If these rules do not decide, the reason
// does not mention them.
func TestAzureRulesAreSilentWhereTheyDoNotDecide(t *testing.T) {
	for _, test := range []struct {
		rule, body, reason string
	}{
		{`until .state == "done"`, `{"state":"queued"}`, `.state is "queued", want == "done"`},
		{`until .state == "done"`, `{"id":7}`, `.state is missing, want == "done"`},
		{`until .state == "done"`, `{"status":"Running","state":"queued"}`, `.state is "queued", want == "done"`},
		{`error-if .state == "burnt"`, `{"state":"queued"}`, `.state is "queued", which is not a known final state: a condition can name the final state`},
		{`error-if .state == "burnt"`, `{"status":"Running"}`, `.status // `},
	} {
		o := answered(200, test.body)
		o.Protocol = meaning.HTTP{Monitor: meaning.MonitorAzure}
		have := status.Rules{Own: rules(t, test.rule)}.Classify(t.Context(), o)
		if have.Status != status.NotReady || !strings.HasPrefix(have.Reason, test.reason) || strings.Contains(have.Reason, "startswith") {
			t.Errorf("%s of %s: have %s, %q; want %q", test.rule, test.body, have.Status, have.Reason, test.reason)
		}
	}
}

// A document whose own state is not final is never SUCCESS, with any other members.
func FuzzAnUnfinishedOperation(f *testing.F) {
	f.Add("job", `{"state":"done"}`)
	f.Add("result", `[{"status":"succeeded","done":true}]`)
	f.Add("Done", `true`)
	f.Fuzz(func(t *testing.T, name, value string) {
		member, err := json.Marshal(name)
		if err != nil || !json.Valid([]byte(value)) || strings.HasPrefix(strings.ToLower(name), "stat") {
			return
		}
		for _, word := range []string{"running", "queued", "active", "failed"} {
			document := `{"state":"` + word + `",` + string(member) + `:` + value + `}`
			for _, monitor := range []meaning.Monitor{meaning.MonitorLocation, meaning.MonitorCreated, meaning.MonitorAzure} {
				o := answered(200, document)
				o.Protocol = meaning.HTTP{Monitor: monitor}
				if have := (status.Rules{}).Classify(t.Context(), o); have.Status == status.Success {
					t.Errorf("monitor %d, %s: SUCCESS, %s", monitor, document, have.Reason)
				}
			}
		}
	})
}

// A status document of Azure has the same verdict as with the preset, without a flag. Only the preset accepts
// a resource without a state.
func TestAzureIsThePreset(t *testing.T) {
	preset := must(presets.Rules("azure-lro", status.KindHTTP))
	samples := must(os.ReadFile("../../../status/presets/testdata/presets/azure-lro.jsonl"))
	for line := range bytes.Lines(samples) {
		var sample struct {
			Code int
			Body json.RawMessage
		}
		if err := json.Unmarshal(line, &sample); err != nil {
			t.Fatal(err)
		}
		o := answered(cmp.Or(sample.Code, 200), string(sample.Body))
		want := preset.Classify(t.Context(), o)
		o.Protocol = meaning.HTTP{Monitor: meaning.MonitorAzure}
		have := status.Rules{}.Classify(t.Context(), o)
		isAtRest := want.Status == status.Success && strings.HasPrefix(want.Reason, "the resource has no")
		if want.Rule != "" && !isAtRest && have.Status != want.Status {
			t.Errorf("%s:\nhave %s: %s\nwant %s: %s", sample.Body, have.Status, have.Reason, want.Status, want.Reason)
		}
	}
}

// must returns value, and panics if err is not nil: the preparation of a test has failed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
