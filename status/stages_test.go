package status_test

import (
	"testing"
	"time"

	"github.com/pollcli/poll/status"
)

func TestStages_Last(t *testing.T) {
	t.Parallel()
	var s status.Stages
	if stage, ok := s.Last(); ok {
		t.Errorf("nothing was reached: have %d", stage)
	}
	now := time.Now()
	for stage := status.StageName; stage <= status.StageBody; stage++ {
		s.Note(stage, now, now)
		if have, ok := s.Last(); !ok || have != stage {
			t.Errorf("have %d, %t, want %d", have, ok, stage)
		}
	}
	s.Note(status.StageTLS, now, now.Add(time.Second))
	if s.Took[status.StageTLS] != time.Second || s.Took[status.StageName] != 1 {
		t.Errorf("have %v", s.Took)
	}
}
