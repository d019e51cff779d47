package expr_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/itchyny/gojq"
	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr"
)

// listDocument is a document of about size bytes, most of it a list, with
// "state" at its end.
func listDocument(size int) []byte {
	var b strings.Builder
	b.WriteString(`{"kind":"List","items":[`)
	for i := 0; b.Len() < size-150; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"pod-%d","status":{"phase":"Running","ready":true},"n":%d,"labels":{"app":"web","tier":"front"},"note":"a few words to fill the line"}`, i, i)
	}
	b.WriteString(`],"progress":42,"state":"done"}`)
	return []byte(b.String())
}

// BenchmarkRatios reports times of poll as multiples of others' for the same
// answer, measured by turns in the same run.
func BenchmarkRatios(b *testing.B) {
	for _, size := range []int{1 << 10, 100 << 10, 10 << 20} {
		body := listDocument(size)
		name := fmt.Sprintf("%dKB", size>>10)
		state := mustCompile(b, `.state == "done"`)
		ours := func() {
			if !state.Eval(&expr.Env{Doc: expr.NewDoc(body)}).Matched() {
				b.Fatal("no match")
			}
		}
		b.Run(name+"/state/gjson.Valid+Get", func(b *testing.B) {
			ratio(b, ours, func() {
				if !gjson.ValidBytes(body) || gjson.GetBytes(body, "state").Str != "done" {
					b.Fatal("no match")
				}
			})
		})
		b.Run(name+"/state/gojq", func(b *testing.B) {
			ratio(b, ours, jqCondition(b, `.state == "done"`, body))
		})
		all := mustCompile(b, `all(.items[]; .status.phase == "Running")`)
		b.Run(name+"/all/gojq", func(b *testing.B) {
			ratio(b, func() {
				if !all.Eval(&expr.Env{Doc: expr.NewDoc(body)}).Matched() {
					b.Fatal("no match")
				}
			}, jqCondition(b, `all(.items[]; .status.phase == "Running")`, body))
		})
	}
}

// ratio measures two functions by turns, and reports the time of the first in
// times of the second.
func ratio(b *testing.B, first, second func()) {
	var ours, theirs time.Duration
	for b.Loop() {
		start := time.Now()
		first()
		middle := time.Now()
		second()
		ours += middle.Sub(start)
		theirs += time.Since(middle)
	}
	b.ReportMetric(float64(ours)/float64(theirs), "ours/theirs")
	b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "ours-us/op")
}

func jqCondition(b *testing.B, src string, body []byte) func() {
	query, err := gojq.Parse(src)
	if err != nil {
		b.Fatal(err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		b.Fatal(err)
	}
	return func() {
		var doc any
		if err := json.Unmarshal(body, &doc); err != nil {
			b.Fatal(err)
		}
		if v, _ := code.Run(doc).Next(); v != true {
			b.Fatal(v)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, src := range []string{
		`.state == "done"`,
		`.status.updatedReplicas == .spec.replicas and .status.availableReplicas == .spec.replicas`,
		`all(.items[]; any(.status.conditions[]; .type == "Ready" and .status == "True"))`,
		`.status.conditions.#(type=="Ready").status == "True"`,
	} {
		b.Run(src, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := expr.Compile(src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// listPage is an answer with 5,000 jobs in 1.4 MB.
func listPage() []byte {
	var b strings.Builder
	b.WriteString(`{"total":5000,"jobs":[`)
	for i := range 5000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"job-%05d","state":"running","created":"2026-11-20T09:%02d:00Z","owner":{"name":"ci","team":"platform"},`+
			`"labels":["nightly","linux"],"progress":%d,"image":"registry.example.com/build/tools:2026.11","command":"make -j8 test","note":"a few words to fill the line up"}`,
			i, i%60, i%100)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

// BenchmarkElements checks a page and splits it into elements; "keys" also reads their keys.
func BenchmarkElements(b *testing.B) {
	page, jobs := listPage(), mustEach(b, `.jobs`)
	id, err := expr.CompileValue(`.id`)
	if err != nil {
		b.Fatal(err)
	}
	run := func(b *testing.B, visit func(expr.Element)) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			elements, _, problem := jobs.Elements(expr.NewDoc(page))
			if len(elements) != 5000 {
				b.Fatal(problem)
			}
			for _, e := range elements {
				visit(e)
			}
			n += len(elements)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/element")
	}
	b.Run("split", func(b *testing.B) { run(b, func(expr.Element) {}) })
	b.Run("keys", func(b *testing.B) {
		run(b, func(e expr.Element) {
			if _, problem := e.Key(b.Context(), id); problem != "" {
				b.Fatal(problem)
			}
		})
	})
}
