package process

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/pollcli/poll/status"
)

// An observation has both outputs together, in the order of arrival, and each output alone.
func TestOutputs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, writes string // the first character of each write is the number of the output
		limit        int64
		want         status.Observation
	}{
		{"both", "1a 2b 1c 2d", 100, status.Observation{Body: []byte("ac"), Size: 2, Stderr: []byte("bd"), Output: []byte("abcd")}},
		{"stderr first", "2b 1c", 100, status.Observation{Body: []byte("c"), Size: 1, Stderr: []byte("b"), Output: []byte("bc")}},
		{"stdout alone", "1a 1b", 100, status.Observation{Body: []byte("ab"), Size: 2}},
		{"cut", "1abc 2def 1ghi", 5, status.Observation{Body: []byte("abcgh"), Size: 6, Stderr: []byte("def"), Output: []byte("abcde")}},
		{"cut before stderr", "1abc 2d", 2, status.Observation{Body: []byte("ab"), Size: 3, Stderr: []byte("d"), Output: []byte("ab")}},
	} {
		o := &outputs{stdout: head{limit: test.limit}, both: head{limit: test.limit}}
		for write := range strings.FieldsSeq(test.writes) {
			o.both.Write([]byte(write[1:]))
			[]io.Writer{&o.stdout, &o.stderr}[write[0]-'1'].Write([]byte(write[1:]))
		}
		var have status.Observation
		o.observe(&have)
		isCut := strings.HasPrefix(test.name, "cut")
		if string(have.Body) != string(test.want.Body) || have.Size != test.want.Size || have.Truncated != isCut ||
			string(have.Stderr) != string(test.want.Stderr) ||
			string(have.Output) != string(test.want.Output) || (have.Output == nil) != (test.want.Output == nil) || have.OutputCut != isCut {
			t.Errorf("%s: have %+v", test.name, have)
		}
	}
}

// wantComplete runs c several times. c writes "answer" and exits with 5. A program that has ended before the context was
// done has a result, even if attend sees both events at the same time. wantComplete returns the process ID of the last
// program.
func wantComplete(t *testing.T, c Command, times int) (pid int) {
	t.Helper()
	s := NewSession(c)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range times {
		c, failure := s.start(1, nil)
		if failure != nil {
			t.Fatal(failure.Reason)
		}
		<-c.exited
		if stopped := s.attend(ctx, c); stopped || c.cmd.ProcessState.ExitCode() != 5 {
			t.Fatalf("have %v, %s, want exit 5", stopped, c.cmd.ProcessState)
		}
		if body := c.outputs.stdout.kept; string(body) != "answer\n" {
			t.Fatalf("have %q, want the answer", body)
		}
		c.release()
		pid = c.cmd.Process.Pid
	}
	return pid
}
