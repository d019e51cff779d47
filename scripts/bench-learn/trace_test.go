package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestReadTrace(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("key,start_or_seq,duration_s\n")
	for i := range 30 {
		fmt.Fprintf(&text, "a,%d,%d\nb,%d,0\n", i, i+1, i)
	}
	tr, err := readTrace(strings.NewReader(text.String() + "c,1,5\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.keys) != 1 || tr.keys[0].key != "a" || len(tr.keys[0].durations) != 30 || tr.keys[0].median() != 15.5 {
		t.Errorf("trace %+v, want the 30 runs of a", tr)
	}
	for name, text := range map[string]string{
		"empty":       "",
		"few runs":    "key,start_or_seq,duration_s\na,1,2\n",
		"no number":   "key,start_or_seq,duration_s\na,1,x\n",
		"few columns": "key,start_or_seq,duration_s\na,1\n",
	} {
		if tr, err := readTrace(strings.NewReader(text)); err == nil {
			t.Errorf("%s: %+v, want an error", name, tr)
		}
	}
}
