package presets

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/status"
)

// For documents that meet each condition of the waiters, a preset returns the same result as botocore, or no result.
// scripts/aws-waiters/oracle.py has recorded the results of botocore.
func TestWaitersAgreeWithJMESPath(t *testing.T) {
	t.Parallel()
	rules := map[string]status.Rules{}
	for _, p := range Waiters() {
		compiled, _, err := p.Compile(status.KindCommand, false)
		_, _, urlErr := p.Compile(status.KindHTTP, false)
		ofURL := slices.ContainsFunc(p.rules, func(r rule) bool { return r.Status == status.Success && !strings.Contains(r.Expr, "$exit") })
		if err != nil || ofURL != (urlErr == nil) { // of some, only an error of the AWS CLI is the end
			t.Fatal(p.Name, err, urlErr)
		}
		_, command, _ := strings.Cut(p.Example, " -- ")
		if len(p.Settings) != 2 || !strings.Contains(command, " --") || p.API == "" { // an example names the thing
			t.Errorf("%s: %+v", p.Name, p)
		}
		rules[p.Name] = status.Rules{Preset: compiled}
	}
	if len(rules) != 378 {
		t.Errorf("have %d waiters, want 378", len(rules))
	}
	file, err := os.Open("testdata/waiters.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	type change struct{ Want, Have status.Status }
	changes := map[change]int{}
	for lines := json.NewDecoder(text); lines.More(); {
		var record struct {
			Waiter   string
			Want     status.Status
			Document json.RawMessage
		}
		if err := lines.Decode(&record); err != nil {
			t.Fatal(err)
		}
		o := presetSample{Body: record.Document}.observation(status.KindCommand)
		v := rules["aws:"+record.Waiter].Classify(t.Context(), o)
		changes[change{record.Want, v.Status}]++
		if v.Status == status.Success && record.Want != status.Success {
			t.Errorf("%s: %s is SUCCESS by %s, want %s", record.Waiter, record.Document, v.Rule, record.Want)
		}
	}
	want := map[change]int{
		{status.Success, status.Success}: 2850, {status.Error, status.Error}: 3993, {status.NotReady, status.NotReady}: 5843,
		{status.Success, status.NotReady}: 131, // an element lacks the field, or is no object: JMESPath leaves it out; no services at all; types that differ
		{status.Error, status.NotReady}:   14,  // types that differ
		{status.Success, status.Error}:    5,   // both acceptors match, and that of the success comes first
		{status.NotReady, status.Error}:   4,   // and that of the retry
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("verdicts (-want +have):\n%s", diff)
	}
}

// Where AWS asks only whether the request for a list has succeeded, no documents are recorded: by
// botocore each is SUCCESS. The presets say so of a list that has an element.
func TestWaitersExpectElements(t *testing.T) {
	t.Parallel()
	for waiter, list := range map[string]string{
		"ec2/VpcExists": "Vpcs", "ec2/VpcPeeringConnectionExists": "VpcPeeringConnections",
		"cloudformation/StackExists": "Stacks", "elbv2/LoadBalancerExists": "LoadBalancers",
	} {
		p, _ := Lookup("aws:" + waiter)
		for body, want := range map[string]status.Status{`[]`: status.NotReady, `null`: status.NotReady, `[{}]`: status.Success} {
			for _, kind := range []status.Kind{status.KindCommand, status.KindHTTP} {
				rules, _, err := p.Compile(kind, false)
				o := presetSample{Body: json.RawMessage(`{"` + list + `":` + body + `}`)}.observation(kind)
				if v := (status.Rules{Preset: rules}).Classify(t.Context(), o); err != nil || v.Status != want {
					t.Errorf("%s: %s is %s (%s), want %s; %v", waiter, o.Body, v.Status, v.Reason, want, err)
				}
			}
		}
	}
}

// An error of the AWS CLI that a waiter names is what it says, one that may pass is not yet an end,
// and any other is ERROR.
func TestWaitersReadErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		waiter, code string
		want         status.Status
	}{
		{"lambda/FunctionExists", "ResourceNotFoundException", status.NotReady},
		{"lambda/FunctionExists", "AccessDeniedException", status.Error},
		{"lambda/FunctionExists", "TooManyRequestsException", status.Throttled},
		{"lambda/FunctionExists", "ServiceUnavailable", status.NotReady},
		{"s3/BucketNotExists", "404", status.Success},
		{"s3/BucketExists", "404", status.NotReady},
		{"s3/BucketExists", "403", status.Success},
		{"s3/BucketExists", "400", status.Error},
		{"rds/DBInstanceDeleted", "DBInstanceNotFound", status.Success},
		{"rds/DBInstanceAvailable", "DBInstanceNotFound", status.Error},
		{"ec2/InstanceRunning", "InvalidInstanceID.NotFound", status.NotReady},
		{"ec2/InstanceRunning", "InvalidInstanceIDxNotFound", status.Error},
	} {
		p, ok := Lookup("aws:" + c.waiter)
		rules, _, err := p.Compile(status.KindCommand, false)
		if !ok || err != nil {
			t.Fatal(c.waiter, ok, err)
		}
		s := presetSample{Exit: 254, Stderr: "\nAn error occurred (" + c.code + ") when calling the X operation: no\n"}
		v := status.Rules{Preset: rules}.Classify(t.Context(), s.observation(status.KindCommand))
		if v.Status != c.want {
			t.Errorf("%s: %s is %s (%s), want %s", c.waiter, c.code, v.Status, v.Reason, c.want)
		}
	}
	for _, name := range []string{"aws:", "aws:rds", "aws:rds/Nothing", "rds/DBInstanceAvailable"} {
		if have, ok := Lookup(name); ok {
			t.Errorf("Lookup(%q) = %s", name, have.Name)
		}
	}
}
