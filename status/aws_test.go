package status

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"io"
	"os"
	"testing"
)

//go:embed aws.txt.gz
var awsGz []byte

func TestAWSOracle(t *testing.T) {
	z, err := gzip.NewReader(bytes.NewReader(awsGz))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(z)
	ps, err := parsePresets(string(text))
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]Rules{}
	for _, p := range ps {
		r, err := p.Compile(KindCommand, false)
		if err != nil {
			t.Error(err)
		}
		if _, err := p.Compile(KindHTTP, false); err != nil {
			t.Error(err)
		}
		rules[p.Name] = Rules{Preset: r}
	}
	f, _ := os.Open("testdata/aws-waiters.jsonl.gz")
	z, _ = gzip.NewReader(f)
	d := json.NewDecoder(z)
	n := 0
	diff := map[string]int{}
	for d.More() {
		var rec struct {
			Waiter   string
			Want     Status
			Document json.RawMessage
		}
		if err := d.Decode(&rec); err != nil {
			t.Fatal(err)
		}
		zero := 0
		v := rules["aws:"+rec.Waiter].Classify(context.Background(), Observation{Kind: KindCommand, Exit: &zero, Body: rec.Document, Size: int64(len(rec.Document))})
		n++
		if v.Status != rec.Want {
			diff[rec.Waiter]++
			if diff[rec.Waiter] < 4 {
				t.Errorf("%s %s: %s (%s %s), want %s", rec.Waiter, rec.Document, v.Status, v.Rule, v.Reason, rec.Want)
			}
		}
	}
	t.Log(n, diff)
}
