package presets

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/pollcli/poll/status"
)

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
	file, err := os.Open("testdata/argo/cases.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
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
	t.Parallel()
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
