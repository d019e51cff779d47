package presets

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// For documents that meet each condition of the waiters, a preset returns the same result as botocore, or no result.
// scripts/aws-waiters/oracle.py has recorded the results of botocore.
func TestWaitersAgreeWithJMESPath(t *testing.T) {
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
	file := must(os.Open("testdata/waiters.jsonl.gz"))
	defer file.Close()
	text := must(gzip.NewReader(file))
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

// If AWS tests only whether the request for a list has succeeded, no documents are recorded: by
// botocore each is SUCCESS. The presets say so of a list that has an element.
func TestWaitersExpectElements(t *testing.T) {
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

// An error of the AWS CLI that a waiter names has the waiter's verdict. An error that may pass is NOT_READY,
// and any other error is ERROR.
func TestWaitersReadErrors(t *testing.T) {
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

// An argoCase is an object, with the health that Argo CD computes for the object.
type argoCase struct {
	Kind, Name   string
	Health, Want string // want is what a wait should say: SUCCESS, ERROR or NOT_READY
	Doc          json.RawMessage
}

// An argoDifference is a case of which a stanza says something else, for a reason.
type argoDifference struct{ Kind, Name, Have, Why string }

// argoCases returns the cases that scripts/argo-cases has written.
func argoCases(t *testing.T) (all []argoCase) {
	t.Helper()
	file := must(os.Open("testdata/argo/cases.jsonl.gz"))
	defer file.Close()
	unpacked := must(gzip.NewReader(file))
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c argoCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if lines.Err() != nil || len(all) != 1168 {
		t.Fatalf("have %d cases, want 1168; %v", len(all), lines.Err())
	}
	return all
}

// An argoCount counts cases.
type argoCount struct{ cases, exact, agree, bold int }

func (c *argoCount) add(have, want status.Status) {
	c.cases++
	if have == want {
		c.exact++
	}
	switch {
	case (have == status.Success) == (want == status.Success):
		c.agree++
	case have == status.Success:
		c.bold++
	}
}

func (c argoCount) String() string {
	return fmt.Sprintf("%d cases, %d exact, %d done or not, %d bold", c.cases, c.exact, c.agree, c.bold)
}

// For each case of Argo CD's health checks, a stanza returns the same result as Argo CD, or the case is a known
// difference with a reason. An object that Argo CD calls Degraded may recover, and is NOT_READY in that case. A wait for a
// kind without a stanza may be too long. go test -v prints a table by kind.
func TestArgoCases(t *testing.T) {
	differences := map[string]argoDifference{}
	for _, d := range readLines[argoDifference](t, "testdata/argo/differences.jsonl") {
		differences[d.Kind+"/"+d.Name] = d
		if d.Why == "" {
			t.Errorf("%s/%s: no reason", d.Kind, d.Name)
		}
	}
	p, _ := Lookup("k8s")
	preset, _, err := p.Compile(status.KindCommand, false)
	if err != nil {
		t.Fatal(err)
	}
	kinds, all, own := map[string]*argoCount{}, argoCount{}, argoCount{}
	for _, c := range argoCases(t) {
		v := status.Rules{Preset: preset}.Classify(t.Context(), presetSample{Body: c.Doc}.observation(status.KindCommand))
		want, byStanza := status.Status(c.Want), v.Objects[0].Stanza != p.Name
		if kinds[c.Kind] == nil {
			kinds[c.Kind] = &argoCount{}
		}
		kinds[c.Kind].add(v.Status, want)
		all.add(v.Status, want)
		if !byStanza {
			continue
		}
		own.add(v.Status, want)
		known, isKnown := differences[c.Kind+"/"+c.Name]
		mayHeal := want == status.Error && v.Status == status.NotReady
		switch {
		case isKnown && (string(v.Status) != known.Have || v.Status == want):
			t.Errorf("%s/%s: have %v, known is %s", c.Kind, c.Name, v.Status, known.Have)
		case !isKnown && v.Status != want && !mayHeal:
			t.Errorf("%s/%s: have %v by %s (%s), want %v", c.Kind, c.Name, v.Status, v.Objects[0].Stanza, v.Reason, want)
		}
	}
	if testing.Verbose() {
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			t.Logf("%-60s %v", kind, kinds[kind])
		}
		t.Logf("with a stanza: %v; all: %v", own, all)
	}
	if own.bold > 0 || all.bold > 8 || own.agree*100 < own.cases*95 || all.agree*100 < all.cases*86 {
		t.Errorf("with a stanza: %v; all: %v", own, all)
	}
}

// padding makes an object as large as a real object, about 4 KB.
var padding = strings.Repeat(`{"manager":"kubectl","operation":"Update","fieldsV1":{"f:spec":{"f:replicas":{}}}},`, 42)

// An objectOf returns an object as kubectl prints it.
func objectOf(apiVersion, kind string, n int) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"w%d","generation":2,"managedFields":[%s{}]},"spec":{"replicas":3},`+
		`"status":{"observedGeneration":2,"replicas":3,"updatedReplicas":3,"availableReplicas":3,"phase":"Running","conditions":[`+
		`{"type":"Available","status":"True"},{"type":"Progressing","status":"False","message":"progressing"},{"type":"Ready","status":"True"}]}}`,
		apiVersion, kind, n, padding)
}

// A list of a thousand objects of several kinds, 4 MB, and one object.
func BenchmarkObjects(b *testing.B) {
	kinds := [][2]string{{"apps/v1", "Deployment"}, {"v1", "Pod"}, {"example.com/v1", "Widget"}, {"example.com/v1", "Last"}}
	var list []string
	for i := range 1000 {
		list = append(list, objectOf(kinds[i%4][0], kinds[i%4][1], i))
	}
	group, _ := Lookup("k8s")
	for i := range 40 - len(group.stanzas) {
		kind := fmt.Sprintf("Kind%d", i)
		if i == 0 {
			kind = "Last"
		}
		group.stanzas = append(group.stanzas, Preset{Name: "k8s/" + kind, rules: group.rules,
			Match: fmt.Sprintf(`.kind == %q and .apiVersion startswith "example.com/"`, kind)})
	}
	alone, _ := Lookup("k8s-deployment")
	alone.Object, alone.Match = "", "" // as a preset without objects
	for _, test := range []struct {
		name, body string
		preset     Preset
	}{
		{"list", `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(list, ",") + `]}`, group},
		{"one", list[0], group},
		{"plain", list[0], alone},
	} {
		preset, _, err := test.preset.Compile(status.KindCommand, false)
		if err != nil {
			b.Fatal(err)
		}
		o := poll.Recorded(status.Observation{Exit: new(0), Body: []byte(test.body)})
		b.Run(test.name, func(b *testing.B) {
			for b.Loop() {
				if v := (status.Rules{Preset: preset}).Classify(b.Context(), o); v.Status != status.Success {
					b.Fatal(v.Reason)
				}
			}
		})
	}
}

// must returns value, and panics if err is not nil: the preparation of a test has failed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
