package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/httpscript"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

func success(o *status.Observation) poll.Outcome {
	return poll.Outcome{Target: jobURL, Ending: poll.Succeeded, Status: status.Success, Reason: "ok",
		State: poll.State{Attempts: 1}, Elapsed: 1500 * time.Millisecond,
		Verdict: verdict(status.Success, until, "ok"), Observation: o}
}

func writeResult(s *term.Streams, r Result) error { return New(Config{Streams: s}).WriteResult(r, 0) }

// A printer is what Output.Print holds.
type printer = func(*status.Observation) (expr.Value, error)

// printed returns a printer of the JSON value text, or of a missing value if text is "".
func printed(text string) []printer {
	x, _ := expr.CompileValue(".")
	value := x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(text))}).Value()
	return []printer{func(*status.Observation) (expr.Value, error) { return value, nil }}
}

func TestResult_jsonBody(t *testing.T) {
	deep := strings.Repeat("[", 1e6)
	tests := []struct{ name, body, want, encoding string }{
		{"object", "{\n \"a\" : 9007199254740993,\n \"b\":\"<&>\" }\n", `{"a":9007199254740993,"b":"<&>"}`, ""},
		{"white space and escapes", " [ \"a \\\" b\\\\\" ,\t\" \\\\\\\" , \" , { } ]\r\n", `["a \" b\\"," \\\" , ",{}]`, ""},
		{"number", "42\n", "42", ""},
		{"text", "line\n\ttwo\x1b", `"line\n\ttwo\u001b"`, ""},
		{"empty", "", `""`, ""},
		{"binary", "\xff\x00", `"/wA="`, "base64"},
		{"JSON with a byte that is not UTF-8", "\"\xff\"", `"Iv8i"`, "base64"},
		{"too deep", deep, `"` + deep + `"`, ""},
	}
	for _, test := range tests {
		s, out, _ := httpscript.Streams("")
		output := Output{JSON: true}
		check(t, writeResult(s, output.Evaluate(success(httpAnswer(200, test.body)))))
		if n := strings.Count(out.String(), "\n"); n != 1 || !strings.HasSuffix(out.String(), "\n") {
			t.Errorf("%s: %d newlines, want one at the end", test.name, n)
		}
		var d struct {
			Body     json.RawMessage
			Encoding string
		}
		check(t, json.Unmarshal(out.Bytes(), &d))
		if !bytes.Equal(d.Body, []byte(test.want)) || d.Encoding != test.encoding {
			t.Errorf("%s: have %.60s %q, want %.60s %q", test.name, d.Body, d.Encoding, test.want, test.encoding)
		}
	}
}

// On a terminal a newline ends the answer, so that the prompt is on the next line. Otherwise the bytes are not changed.
func TestResult_newline(t *testing.T) {
	for _, test := range []struct{ body, onTerminal string }{
		{"text", "text\n"}, {"line\n", "line\n"}, {"two\n\n", "two\n\n"}, {"crlf\r\n", "crlf\r\n"}, {"", ""},
	} {
		for isTerminal, want := range map[bool]string{true: test.onTerminal, false: test.body} {
			s, out, _ := httpscript.Streams("")
			s.OutIsTerminal = isTerminal
			result := Output{}.Evaluate(success(httpAnswer(200, test.body)))
			if err := writeResult(s, result); err != nil || out.String() != want || string(result.Answer(false)) != test.body {
				t.Errorf("terminal %v: have %q, want %q: %v", isTerminal, out, want, err)
			}
		}
	}
}

func TestTimeline(t *testing.T) {
	var h timeline
	for i := range 1234 {
		h.update(poll.Event{Kind: poll.EventAttempt, State: poll.State{Attempts: i + 1}})
	}
	if m := h.kept(); len(m) != 500 || m[49].Attempt != 50 || m[50].Attempt != 785 || m[499].Attempt != 1234 {
		t.Errorf("have %d moments: %v", len(m), m)
	}
}

// Columns are sanitized for a terminal, and only there. What --print gives nothing for has no line.
func TestResults_columnsOnTerminal(t *testing.T) {
	result := Output{PerTarget: true, Print: append(printed(`"\u001b]0;x\u0007\t1"`), printed(`"b"`)...)}.
		Evaluate(success(httpAnswer(200, "{}")))
	for isTerminal, want := range map[bool]string{true: `\x1b]0;x\x07\t1` + "\tb\n", false: "\x1b]0;x\a\\t1\tb\n"} {
		s, stdout, _ := httpscript.Streams("")
		s.OutIsTerminal = isTerminal
		r := New(Config{Streams: s, Face: None, Goal: "all"})
		nothing := Output{PerTarget: true, Print: printed("")}.Evaluate(success(httpAnswer(200, "{}")))
		if err := errors.Join(r.WriteTarget(1, nothing, 0), r.WriteTarget(2, result, 0)); err != nil || stdout.String() != want {
			t.Errorf("terminal %v: have %q, want %q: %v", isTerminal, stdout, want, err)
		}
	}
}

// Several goroutines may write results, each line whole, while others show events.
func TestResults_concurrent(t *testing.T) {
	const n = 20
	for _, out := range []Output{{PerTarget: true}, {PerTarget: true, JSON: true}} {
		s, stdout, _ := httpscript.Streams("")
		s.Out = writerFunc(func(p []byte) (int, error) { // a piece at a time
			for _, b := range p {
				stdout.WriteByte(b)
				runtime.Gosched()
			}
			return len(p), nil
		})
		r := New(Config{Streams: s, Face: Lines, Targets: n, Goal: allOf(n)})
		var writers sync.WaitGroup
		for i := range n {
			writers.Go(func() {
				events := jobRun(jobName(i), 1, queued, succeeded)
				last := events[len(events)-1]
				last.N = i + 1
				r.Event(last)
				if err := r.WriteTarget(i+1, out.Evaluate(*last.Outcome), 0); err != nil {
					t.Error(err)
				}
			})
		}
		writers.Wait()
		if err := r.WriteSummary(out, poll.Summary{Ending: poll.Succeeded}, 0); err != nil {
			t.Error(err)
		}
		results := strings.Count(stdout.String(), `"n":`)
		for line := range strings.Lines(stdout.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("not whole: %.80s", line)
			}
		}
		if results != n {
			t.Errorf("%d results, want %d", results, n)
		}
	}
}

// A wait can continue after each error response, except where credentials are missing.
func TestInsteadOfAnError(t *testing.T) {
	for code, want := range map[int]bool{404: true, 409: true, 403: true, 501: true, 401: false, 407: false} {
		o := poll.Outcome{Ending: poll.Failed, Observation: httpAnswer(code, "")}
		if have := instead(&o); strings.Contains(have, fmt.Sprintf("--not-ready-if '$status==%d'", code)) != want {
			t.Errorf("%d: have %q", code, have)
		}
	}
}

// Long text is cut between characters, wherever the cut falls.
func TestExcerpt(t *testing.T) {
	for pad := range 4 {
		text := strings.Repeat("x", pad) + strings.Repeat("€", 4000) + "\n" + strings.Repeat("€", 4000) + "\nend\n"
		for _, fromEnd := range []bool{false, true} {
			have := ownLines(excerpt([]byte(text), 2, fromEnd))
			if strings.Contains(have, `\x`) || strings.Count(have, "\n") > 3 || !strings.Contains(have, "| ...\n") {
				t.Errorf("from the end: %v: have %q", fromEnd, have)
			}
		}
	}
	if have, want := ownLines(excerpt([]byte("a\nb\nc"), 2, false)), "| a\n| b\n| ...\n"; have != want {
		t.Errorf("have %q, want %q", have, want)
	}
	if have, want := ownLines(excerpt([]byte("a\nb\nc"), 2, true)), "| ...\n| b\n| c\n"; have != want {
		t.Errorf("have %q, want %q", have, want)
	}
}

// A target that is not done, in this wait or after it, has another color than one that has failed.
func TestRow_tone(t *testing.T) {
	for _, test := range []struct {
		row  *boardRow
		want term.Tone
	}{
		{&boardRow{}, term.Pending},
		{&boardRow{status: status.NotReady}, term.Pending},
		{&boardRow{status: status.Throttled}, term.Slow},
		{&boardRow{ending: poll.TimedOut}, term.Pending},
		{&boardRow{status: status.Throttled, ending: poll.TimedOut}, term.Slow},
		{&boardRow{ending: poll.ThrottledTooLong}, term.Slow},
		{&boardRow{status: status.Success, ending: poll.Succeeded}, term.Good},
		{&boardRow{ending: poll.CannotRun}, term.Bad},
		{&boardRow{status: status.Throttled, ending: poll.Failed}, term.Bad},
		{&boardRow{status: status.NotReady, ending: poll.AttemptsExhausted}, term.Pending},
		{&boardRow{status: status.NotReady, ending: poll.Cancelled}, term.Faint},
	} {
		if have := test.row.tone(); have != test.want {
			t.Errorf("%s, %s: have tone %q, want %q", test.row.status, test.row.ending, have, test.want)
		}
	}
}

// The common part of names ends at a slash, and something of each name is left.
func TestCommonPart(t *testing.T) {
	for _, test := range []struct {
		names []string
		want  string
	}{
		{[]string{"deploy-eu-1", "deploy-eu-10"}, ""},
		{[]string{"https://a/jobs/", "https://a/jobs/1"}, "https://a/"},
		{[]string{"web", "web"}, ""},
		{[]string{"部署/一", "部署/二"}, "部署/"},
		{[]string{"部署一", "部署二"}, ""},
		{[]string{"a-1", ""}, ""},
	} {
		if have := test.names[0][:commonPart(test.names)]; have != test.want {
			t.Errorf("%q: have %q, want %q", test.names, have, test.want)
		}
	}
}
