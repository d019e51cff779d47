package table

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A lap has a number, a name and, if it was finished, a time.
type lap struct {
	n    int
	name string
	time *float64
}

func TestTable(t *testing.T) {
	t.Parallel()
	laps := Table[lap]{
		Columns: []Column[lap]{
			{Name: "n", Head: "lap", Value: func(l lap) any { return l.n }},
			{Head: "who", Text: func(l lap) string { return l.name }}, // for people only
			{Name: "time_s", Value: func(l lap) any { return l.time }},
			{Name: "name", Value: func(l lap) any { return l.name }},
		},
		Rows: []lap{{1, `a "b", c`, new(1e-7)}, {12, "d", nil}},
	}
	for format, want := range map[string]string{
		Text:     "  lap       who\n    1  a \"b\", c\n   12         d\n",
		Markdown: "| lap | who |\n|---:|---:|\n| 1 | a \"b\", c |\n| 12 | d |\n",
		CSV:      "n,time_s,name\n1,0.0000001,\"a \"\"b\"\", c\"\n12,,d\n",
		JSON:     "[\n  {\"n\":1,\"time_s\":1e-7,\"name\":\"a \\\"b\\\", c\"},\n  {\"n\":12,\"time_s\":null,\"name\":\"d\"}\n]\n",
	} {
		have, err := laps.In(format)
		if diff := cmp.Diff(want, have); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", format, err, diff)
		}
	}
	laps.Rows, laps.IsOne = laps.Rows[:1], true
	if have, err := laps.In(JSON); have != "{\"n\":1,\"time_s\":1e-7,\"name\":\"a \\\"b\\\", c\"}\n" || err != nil {
		t.Errorf("have %q, %v", have, err)
	}
	laps.Rows = nil
	if have, err := laps.In(JSON); have != "[]\n" || err != nil {
		t.Errorf("without rows: have %q, %v", have, err)
	}
}
