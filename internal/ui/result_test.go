package ui

import (
	"bytes"
	"encoding/json"
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

func writeResult(s *term.Streams, r Result) error { return New(Config{Streams: s}).WriteResult(r, 0) }

// A printer is what Output.Print holds.
type printer = func(*status.Observation) (Value, error)

func printed(text, json string) []printer {
	return []printer{func(*status.Observation) (Value, error) { return Value{Text: text, JSON: []byte(json)}, nil }}
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
		s, out, _ := term.Buffers("")
		output := Output{JSON: true}
		if err := writeResult(s, output.Evaluate(success(httpAnswer(200, test.body)))); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "\n"); n != 1 || !strings.HasSuffix(out.String(), "\n") {
			t.Errorf("%s: %d newlines, want one at the end", test.name, n)
		}
		var d struct {
			Body     json.RawMessage
			Encoding string
		}
		if err := json.Unmarshal(out.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(d.Body, []byte(test.want)) || d.Encoding != test.encoding {
			t.Errorf("%s: have %.60s %q, want %.60s %q", test.name, d.Body, d.Encoding, test.want, test.encoding)
		}
	}
}

// On a terminal a newline ends the answer, so that the prompt is not beside it. Elsewhere its bytes are as they are.
func TestResult_newline(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ body, onTerminal string }{
		{"text", "text\n"}, {"line\n", "line\n"}, {"two\n\n", "two\n\n"}, {"crlf\r\n", "crlf\r\n"}, {"", ""},
	} {
		for isTerminal, want := range map[bool]string{true: test.onTerminal, false: test.body} {
			s, out, _ := term.Buffers("")
			s.OutIsTerminal = isTerminal
			result := Output{}.Evaluate(success(httpAnswer(200, test.body)))
			if err := writeResult(s, result); err != nil || out.String() != want || string(result.Answer()) != test.body {
				t.Errorf("terminal %v: have %q, want %q: %v", isTerminal, out, want, err)
			}
		}
	}
}

func TestTimeline(t *testing.T) {
	t.Parallel()
	var h timeline
	for i := range 1234 {
		h.add(Moment{Attempt: i + 1})
	}
	if m := h.moments; len(m) != 500 || m[49].Attempt != 50 || m[50].Attempt != 785 || m[499].Attempt != 1234 {
		t.Errorf("have %d moments: %v", len(m), m)
	}
}
