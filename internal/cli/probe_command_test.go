package cli

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestHurried(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		asked, ended time.Duration // when hurry is closed, and the context done
		want         time.Duration
	}{
		"asked for before the end": {asked: time.Second, ended: 3 * time.Second, want: time.Second},
		"asked for after the end":  {asked: 4 * time.Second, ended: 3 * time.Second, want: 4 * time.Second},
		"not asked for":            {asked: time.Hour, ended: 3 * time.Second, want: 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), test.ended)
				defer cancel()
				hurry := make(chan struct{})
				time.AfterFunc(test.asked, func() { close(hurry) })
				began := time.Now()
				<-hurried(ctx, hurry, 2*time.Second)
				if have := time.Since(began); have != test.want {
					t.Errorf("have it after %v, want %v", have, test.want)
				}
			})
		})
	}
}
