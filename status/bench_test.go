package status

import (
	"strings"
	"testing"
)

// BenchmarkClassify judges an answer of 1 KB by three conditions, as an attempt does, with its reason.
func BenchmarkClassify(b *testing.B) {
	code := 200
	o := Observation{Kind: KindHTTP, Code: &code, Body: []byte(`{"note":"` + strings.Repeat("x", 970) + `","progress":42,"state":"running"}`)}
	o.Size = int64(len(o.Body))
	rules := elementRules(b,
		PresetRule{Status: Throttled, Expr: `$status == 429 || .progress == null`},
		PresetRule{Status: Error, Expr: `.state in ["failed", "canceled"]`},
		PresetRule{Status: Success, Expr: `.state == "done" && .progress >= 100`},
	)
	b.ReportAllocs()
	for b.Loop() {
		if v := rules.Classify(b.Context(), o); v.Status != NotReady {
			b.Fatal(v)
		}
	}
}
