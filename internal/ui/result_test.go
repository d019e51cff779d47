package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

func success(o *status.Observation) poll.Outcome {
	return poll.Outcome{Target: jobURL, Ending: poll.Succeeded, Status: status.Success, Reason: "ok",
		State: poll.State{Attempts: 1}, Elapsed: 1500 * time.Millisecond,
		Verdict: verdict(status.Success, until, "ok"), Observation: o}
}

func failure(o *status.Observation) poll.Outcome {
	out := success(o)
	out.Ending, out.Status, out.Reason = poll.Failed, status.Error, "HTTP 500"
	return out
}

func writeResult(s *term.Streams, r Result) error { return New(Config{Streams: s}).WriteResult(r, 0) }

// A printer is what Output.Print holds.
type printer = func(*status.Observation) (Value, error)

func printed(text, json string) []printer {
	return []printer{func(*status.Observation) (Value, error) { return Value{Text: text, JSON: []byte(json)}, nil }}
}

var notPrinted = []printer{func(*status.Observation) (Value, error) {
	return Value{}, errors.New("--print .output[0] is missing")
}}

func truncated() *status.Observation {
	o := httpAnswer(200, `{"a":`)
	o.Size, o.Truncated = 100, true
	return o
}

func TestResult_stdout(t *testing.T) {
	t.Parallel()
	binary := "\x00\xff\r\nno newline at the end"
	tests := []struct {
		name    string
		output  Output
		outcome poll.Outcome
		want    string
		ending  poll.Ending
	}{
		{"body byte for byte", Output{}, success(httpAnswer(200, binary)), binary, poll.Succeeded},
		{"empty body", Output{}, success(exitAnswer(0, "", "")), "", poll.Succeeded},
		{"no observation", Output{}, success(nil), "", poll.Succeeded},
		{"nothing on failure", Output{}, failure(httpAnswer(500, "oops")), "", poll.Failed},
		{"value", Output{Print: printed("a b", `"a b"`)}, success(httpAnswer(200, "{}")), "a b\n", poll.Succeeded},
		{"no value on failure", Output{Print: printed("a", `"a"`)}, failure(httpAnswer(500, "{}")), "", poll.Failed},
		{"missing value", Output{Print: notPrinted}, success(httpAnswer(200, "{}")), "", poll.Failed},
		{"truncated", Output{}, success(truncated()), "", poll.Failed},
		{"truncated but not printed", Output{Print: printed("200", "200")}, success(truncated()), "200\n", poll.Succeeded},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, out, _ := term.Buffers("")
			r := test.output.Settle(test.outcome)
			if err := writeResult(s, r); err != nil {
				t.Fatal(err)
			}
			if have := out.String(); have != test.want {
				t.Errorf("have %q, want %q", have, test.want)
			}
			if r.Outcome.Ending != test.ending {
				t.Errorf("ending %v, want %v", r.Outcome.Ending, test.ending)
			}
		})
	}
}

// A SUCCESS that cannot be printed says why, and is an ERROR.
func TestSettle_failure(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		output Output
		o      *status.Observation
		want   string
	}{
		"missing":   {Output{Print: notPrinted}, httpAnswer(200, "{}"), "--print .output[0] is missing"},
		"truncated": {Output{}, truncated(), "100 bytes is longer than the 5 that are kept"},
		"json":      {Output{JSON: true, Print: printed("1", "1")}, truncated(), "longer than the 5"},
	} {
		before := success(test.o)
		r := test.output.Settle(before)
		if r.Outcome.Status != status.Error || !strings.Contains(r.Outcome.Reason, test.want) {
			t.Errorf("%s: have %v %q, want ERROR and %q", name, r.Outcome.Status, r.Outcome.Reason, test.want)
		}
		if before.Ending != poll.Succeeded {
			t.Errorf("%s: the given outcome was changed", name)
		}
	}
}

func TestResult_cannotBeWritten(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken pipe")
	s, _, _ := term.Buffers("")
	s.Out = writerFunc(func([]byte) (int, error) { return 0, broken })
	for _, output := range []Output{{}, {JSON: true}, {Print: printed("1", "1")}} {
		err := writeResult(s, output.Settle(success(httpAnswer(200, "x"))))
		var e *ResultError
		if !errors.As(err, &e) || !errors.Is(err, broken) {
			t.Errorf("have %v, want a ResultError of %v", err, broken)
		}
	}
	closed, _, _ := term.Buffers("")
	closed.CloseOut = func() error { return broken }
	if err := writeResult(closed, Output{}.Settle(success(httpAnswer(200, "x")))); !errors.Is(err, broken) {
		t.Errorf("lost when it is closed: have %v, want %v", err, broken)
	}
	if err := writeResult(s, Output{}.Settle(failure(nil))); err != nil {
		t.Errorf("nothing to write: have %v", err)
	}
	if err := WriteFailure(s, 2, "usage"); err == nil {
		t.Error("a lost --json object is no error")
	}
}

func TestResult_fullDevice(t *testing.T) {
	t.Parallel()
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	s, _, _ := term.Buffers("")
	s.Out = f
	if err := writeResult(s, Output{}.Settle(success(httpAnswer(200, "x")))); err == nil {
		t.Error("a full device is no error")
	}
}

func TestResult_jsonBody(t *testing.T) {
	t.Parallel()
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
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, out, _ := term.Buffers("")
			output := Output{JSON: true}
			if err := writeResult(s, output.Settle(success(httpAnswer(200, test.body)))); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(out.String(), "\n"); n != 1 || !strings.HasSuffix(out.String(), "\n") {
				t.Errorf("%d newlines, want one at the end", n)
			}
			var d struct {
				Body     json.RawMessage
				Encoding string
			}
			if err := json.Unmarshal(out.Bytes(), &d); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(d.Body, []byte(test.want)) || d.Encoding != test.encoding {
				t.Errorf("have %.60s %q, want %.60s %q", d.Body, d.Encoding, test.want, test.encoding)
			}
		})
	}
}

func TestWriteFailure(t *testing.T) {
	t.Parallel()
	s, out, _ := term.Buffers("")
	if err := WriteFailure(s, 2, "--until: unexpected end\n  .state ==\n"); err != nil {
		t.Fatal(err)
	}
	want := `{"v":1,"status":null,"exit":2,"reason":"--until: unexpected end\\n  .state ==","attempts":0,"elapsed_s":0,"target":null,"timeline":[]}` + "\n"
	if have := out.String(); have != want {
		t.Errorf("have %s\nwant %s", have, want)
	}
}

func TestTimeline(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 50, 51, 500, 501, 1234} {
		var h history
		for i := range n {
			h.add(Moment{Attempt: i + 1})
		}
		have := h.moments
		if len(have) != min(n, 500) {
			t.Fatalf("%d attempts: %d moments", n, len(have))
		}
		for i, m := range have {
			want := i + 1
			if i >= 50 {
				want = n - len(have) + i + 1
			}
			if m.Attempt != want {
				t.Fatalf("%d attempts: moment %d is of attempt %d, want %d", n, i, m.Attempt, want)
			}
		}
	}
}

func ExampleOutput() {
	s, out, _ := term.Buffers("")
	result := Output{}.Settle(success(httpAnswer(200, `{"state":"done"}`)))
	if err := New(Config{Streams: s}).WriteResult(result, 0); err != nil {
		fmt.Println(err)
	}
	fmt.Println(out)
	// Output: {"state":"done"}
}
