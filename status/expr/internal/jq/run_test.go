package jq

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		ctx  context.Context
		most limits
		src  string
		want string
	}{
		{t.Context(), limits{time.Hour, 16 << 20}, "def f: 1 + f; f", "took more than 16 MiB of memory"},
		{t.Context(), limits{20 * time.Millisecond, math.MaxUint64 / 2}, "last(range(1e15))", "took longer than 20ms"},
		{ended, limits{time.Hour, math.MaxUint64 / 2}, "last(range(1e15))", ErrAbandoned.Error()},
		{t.Context(), limits{time.Hour, math.MaxUint64 / 2}, "reduce range(10001) as $i (0; [.])", "gives a value that is nested deeper than 10000 levels"},
	} {
		p, problem := Compile(test.src, nil, nil)
		if problem != nil {
			t.Fatal(problem.Message)
		}
		json, err := p.runWithin(test.ctx, test.most, nil, nil)
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: have %.20q, %v, want %s", test.src, json, err, test.want)
		}
	}
	p, _ := Compile("reduce range(9999) as $i (0; [.])", nil, nil)
	if _, err := p.Run(t.Context(), nil, nil); err != nil {
		t.Errorf("not so deep: %v", err)
	}
	if _, err := p.Run(ended, nil, nil); !errors.Is(err, ErrAbandoned) {
		t.Errorf("have %v, want it abandoned", err)
	}
}
