//go:build unix

package poll_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
)

// shellStream returns a Command that runs a script, whose messages are evaluated.
func shellStream(text string) poll.Command {
	return poll.Command{Args: []string{"sh", "-c", text}, Stream: true}
}

// A count of SUCCESS is a count of lines in one run, and of documents in a row.
func TestStream_commandThreshold(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, script string
		until        []string
		want         string
	}{
		{"others between them", "echo ok; echo no; echo no; echo ok; echo ok; sleep 3600", []string{`$stdout == "ok"`}, "succeeded after 4"},
		{"of either output", "echo ok; echo ok >&2; sleep 3600", []string{`$stdout == "ok"`, `$stderr == "ok"`}, "succeeded after 2"},
		{"too few", "echo ok; echo no", []string{`$stdout == "ok"`}, "attempts exhausted after 4"},
		{"a line for NOT_READY", "echo ok; echo stop; echo ok; echo no; echo ok; sleep 3600", []string{`$stdout == "ok"`, `?$stdout == "stop"`}, "succeeded after 5"},
		{"a line and the end of the command", "echo ok", []string{`$stdout == "ok"`, `$exit == 0`}, "attempts exhausted after 2"},
		{"documents", "echo '\"ok\"'; echo 1; echo '\"ok\"'; echo '\"ok\"'; sleep 3600", []string{`. == "ok"`}, "succeeded after 4"},
		{"a rule for documents, too", "echo ok; echo no; echo ok; echo ok; sleep 3600", []string{`$stdout == "ok"`, `.x == 1`}, "succeeded after 4"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := poll.Poller{Probe: shellStream(test.script), Rules: conditions(t, test.until...), Immediate: true, MaxAttempts: 2,
				SuccessThreshold: poll.Threshold{Times: 2}, Schedule: backoff.Fixed(0), Timeout: time.Minute}
			o, _ := p.Run(t.Context())
			if have := fmt.Sprintf("%s after %d", o.Ending, o.State.Messages); have != test.want {
				t.Errorf("have %s: %s\nwant %s", have, o.Reason, test.want)
			}
		})
	}
}

// Each wait for the lines of a command has an outcome, and ends without waiting for processes that are left
// running.
func TestStream_command(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, script string
		until        []string
		want         string
	}{
		{"a line", "echo a; echo ready; sleep 3600", []string{`$stdout contains "ready"`}, `succeeded after 2: $stdout is "ready"`},
		{"of stderr as of either", "echo ready >&2; sleep 3600", []string{`$output == "ready"`}, `succeeded after 1: $output is "ready"`},
		{"of stdout as of either", "echo ready; sleep 3600", []string{`$output == "ready"`}, `succeeded after 1: $output is "ready"`},
		{"of stderr", "echo ready >&2; sleep 3600", []string{`$stderr == "ready"`}, `succeeded after 1: $stderr is "ready"`},
		{"in parts", "printf rea; sleep .1; echo dy; sleep 3600", []string{`$stdout contains "ready"`}, `succeeded after 1: $stdout is "ready"`},
		{"children stay", "sleep 3600 & (trap '' TERM; sleep 3600) & echo ready; wait", []string{`$stdout == "ready"`}, `succeeded after 1: $stdout is "ready"`},
		{"TERM is ignored", "trap '' TERM; echo ready; sleep 3600; sleep 3600", []string{`$stdout == "ready"`}, `succeeded after 1: $stdout is "ready"`},
		{"a document", "printf '{\\n  \"state\": \"pending\"\\n}\\n{\\n  \"state\": \"done\"\\n}\\n'; sleep 3600", []string{`.state == "done"`}, `succeeded after 2: .state is "done"`},
		{"the last line", "echo a; printf ready", []string{`$stdout == "ready"`}, `succeeded after 2: $stdout is "ready"`},
		{"the last line of stderr", "echo a; printf ready >&2", []string{`$stderr == "ready"`}, `succeeded after 2: $stderr is "ready"`},
		{"the exit code", "echo a; exit 3", []string{`$stdout == "ready"`, "!$exit != 0"}, `failed after 1: $exit is 3`},
		{"the exit code and the last line", "echo a; echo b", []string{`$exit == 0 and $stdout == "b"`}, `succeeded after 2: $exit is 0; $stdout is "b"`},
		{"lines do not decide by what comes later", "echo a", []string{`$stdout != "a"`, "!$exit == 0"}, `failed after 1: $exit is 0`},
		{"not found in it", "notthere", []string{`$stdout == "ready"`}, `failed after 1: exit code 127 (command not found): sh: 1: notthere: not found`},
		{"a long line", "printf %0200d 7; echo; echo ready", []string{`not ($stdout startswith "0") or $stdout endswith "7"`}, `succeeded after 2: $stdout is "ready"`},
		{"the last of many", "seq 1000", []string{`$stdout == "x"`}, `attempts exhausted after 1000: attempts made: 1 of 1; last: $stdout is "1000", want == "x"`},
		{"no line is lost", "seq 100000; sleep 3600", []string{`$stdout == "100000"`}, `succeeded after 100000: $stdout is "100000"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := shellStream(test.script)
			c.MaxBody = 100
			p := poll.Poller{Probe: c, Rules: conditions(t, test.until...), Immediate: true, MaxAttempts: 1, Timeout: slack}
			o, _ := p.Run(t.Context())
			if have := fmt.Sprintf("%s after %d: %s", o.Ending, o.State.Messages, o.Reason); have != test.want {
				t.Errorf("have %s\nwant %s", have, test.want)
			}
		})
	}
}

// An unfinished line of a killed program is not a message.
func TestStream_command_killed(t *testing.T) {
	t.Parallel()
	p := poll.Poller{Probe: shellStream("printf ready; kill -9 $$"), Rules: conditions(t, `$stdout == "ready"`), Immediate: true, MaxAttempts: 1}
	if o, _ := p.Run(t.Context()); o.Ending != poll.AttemptsExhausted || o.State.Messages != 0 {
		t.Errorf("%s: %s", o.Ending, o.Reason)
	}
}
