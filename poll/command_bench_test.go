//go:build unix

package poll_test

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/pollcli/poll/poll"
)

// cpuTime is the user and system time of this process and of the children that
// it has reaped.
func cpuTime() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

func measureCPU(b *testing.B, attempt func()) {
	b.ReportAllocs()
	before := cpuTime()
	for b.Loop() {
		attempt()
	}
	b.ReportMetric(float64(cpuTime()-before)/float64(b.N), "cpu-ns/op")
}

func BenchmarkCommand(b *testing.B) {
	session := poll.Command{Args: []string{"true"}}.Session()
	measureCPU(b, func() {
		if obs := session.Probe(b.Context(), poll.Attempt{Number: 1}); !obs.Good() {
			b.Fatal(obs.Failure)
		}
	})
}

// BenchmarkCommandFloor is what there is to compare with: os/exec with both
// outputs captured.
func BenchmarkCommandFloor(b *testing.B) {
	measureCPU(b, func() {
		if _, err := exec.Command("true").Output(); err != nil {
			b.Fatal(err)
		}
	})
}
