package stream

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// framers returns a new Framer of each kind, by its name.
var framers = map[string]func(limit int64, m *Memory, receive Receiver) Framer{
	"lines":     func(limit int64, _ *Memory, receive Receiver) Framer { return NewLines(limit, receive) },
	"documents": func(limit int64, _ *Memory, receive Receiver) Framer { return NewDocuments(limit, false, receive) },
	"records":   func(limit int64, _ *Memory, receive Receiver) Framer { return NewDocuments(limit, true, receive) },
	"events":    func(limit int64, m *Memory, receive Receiver) Framer { return NewEvents(limit, m, receive) },
}

// read returns the messages of a stream that is written in parts, one string for each message, and the Memory that
// the stream leaves.
func read(kind string, limit int64, parts ...[]byte) (messages []string, m Memory) {
	f := framers[kind](limit, &m, func(m Message) bool {
		text := string(m.Data)
		if m.Size != int64(len(m.Data)) {
			text += fmt.Sprintf("... of %d", m.Size)
		}
		if m.Part {
			text += " (part)"
		}
		if m.Event != "" && m.Event != "message" {
			text = m.Event + "=" + text
		}
		messages = append(messages, text)
		return false
	})
	for _, p := range parts {
		f.Write(bytes.Clone(p))
	}
	return messages, m
}

func TestMessages(t *testing.T) {
	for _, test := range []struct {
		kind, text string
		want       []string
	}{
		{"lines", "a\nb\r\n\n c\nd", []string{"a", "b", " c"}},
		{"lines", "{\n  \"a\": 1\n}\nx\n", []string{"{\n  \"a\": 1\n}", "x"}},
		{"lines", "[\n\t1,\n\t2\n]\n{\"a\":1}\n{}\n", []string{"[\n\t1,\n\t2\n]", `{"a":1}`, "{}"}},
		{"lines", "{\r\n  \"a\": 1\r\n}\r\n", []string{"{\n  \"a\": 1\n}"}},
		{"lines", "{\nready\n}\n", []string{"{ (part)", "ready", "}"}},
		{"lines", "{\n a\n{\n b\n}\n", []string{"{ (part)", " a (part)", "{\n b\n}"}},
		{"lines", "{\n  a: 0123456789\n  b\nready\n", []string{"{ (part)", "  a: 0123456789 (part)", "  b (part)", "ready"}},
		{"lines", "[\nlog\n  {}\n]\n  {}\n", []string{"[ (part)", "log", "  {} (part)", "]", "  {}"}},
		{"lines", "0123456789abcdefg\nx\n", []string{"0123456789abcdef... of 17", "x"}},
		{"documents", "{\"a\":\"}\\\"{\"}[1,[2]] \"x\" 12\nnul", []string{`{"a":"}\"{"}`, "[1,[2]]", `"x"`, "12"}},
		{"documents", "log: {\"a\":1}\n{\"b\":1}", []string{`log: {"a":1}`, `{"b":1}`}},
		{"documents", "\x1e{\"a\":1\x1e{\"b\":2}\n\x1e7\n\x1e8", []string{`{"b":2}`, "7"}},
		{"documents", "{\"a\":\"x\n{\"b\":1}", []string{`{"b":1}`}},
		{"documents", "{\n \"a\": 1\n}", []string{"{\n \"a\": 1\n}"}},
		{"documents", "}]{\"a\":1}\n{\"b\":1}", []string{"}]{\"a\":1}", `{"b":1}`}},
		{"documents", `{"a":"0123456789"}{"b":1}`, []string{`{"a":"0123456789... of 18`, `{"b":1}`}},
		{"records", "{\"a\":\n{\"b\":1}\n\n7\n", []string{`{"b":1}`, "7"}},
		{"records", "[log] {\"a\":1}\nlog: {\"a\":1}\n {\"b\":1} \r\n7", []string{"[log]", `log: {"a":1}`, `{"b":1}`}},
		{"events", "data: a\n\ndata:b\r\n\r\ndata:  c\r\rdata\n\ndata: d\n", []string{"a", "b", " c", ""}},
		{"events", "event: x\ndata: a\ndata: b\n\nevent: y\n\ndata: c\n\n", []string{"x=a\nb", "c"}},
		{"events", "\ufeffdata: a\n\n\ufeffdata: b\n\n", []string{"a"}},
		{"events", ": x\nfoo: y\nDATA: z\n data: z\n\n", nil},
		{"events", "data: 0123456789abcdefg\n\ndata: 0123456789\ndata: abcdefg\n\n", []string{"0123456789abcdef... of 17", "0123456789\nabcde... of 18"}},
		{"events", "data: 0123456789abcdef\n\n", []string{"0123456789abcdef"}},
		{"events", "data: " + strings.Repeat("x", 200) + "\n\n", []string{strings.Repeat("x", 16) + "... of 200"}},
	} {
		if have, _ := read(test.kind, 16, []byte(test.text)); !slices.Equal(have, test.want) {
			t.Errorf("%s %q\nhave %q\nwant %q", test.kind, test.text, have, test.want)
		}
	}
}

func TestLines_End(t *testing.T) {
	for text, want := range map[string][]string{
		"a\nb":         {"a", "b"},
		"a\n":          {"a"},
		"":             nil,
		"{\n  \"a\": ": {"{", `  "a": `},
		"{\n 1\n}":     {"{\n 1\n}"},
	} {
		var have []string
		l := NewLines(100, func(m Message) bool {
			have = append(have, string(m.Data))
			return false
		})
		l.Write([]byte(text))
		if l.End(); !slices.Equal(have, want) {
			t.Errorf("%q: have %q, want %q", text, have, want)
		}
	}
}

func TestEvents_memory(t *testing.T) {
	for text, want := range map[string]Memory{
		"id: 1\n\nid: 2\n":           {LastID: "1"},
		"id: 1\n\nid\n\n":            {},
		"id: 1\n\nid: a\x00b\n\n":    {LastID: "1"},
		"id: 1\n\nid: a\x01\n\n":     {LastID: "1"},
		"id: 1\ndata: x\n\n: c\n\n":  {LastID: "1"},
		"retry: 10\n":                {Retry: 10e6},
		"retry: 10\nretry: -1\n":     {Retry: 10e6},
		"retry: 10\nretry: 1s\n":     {Retry: 10e6},
		"retry: 99999999999999999\n": {},
	} {
		if _, have := read("events", 100, []byte(text)); have != want {
			t.Errorf("%q leaves %+v, want %+v", text, have, want)
		}
	}
}

// Write stops after the message for which the Receiver returns true.
func TestWrite_enough(t *testing.T) {
	for kind, text := range map[string]string{
		"lines": "a\nb\nc\n", "documents": "[1][2][3]", "records": "[1]\n[2]\n[3]\n", "events": "data:1\n\ndata:2\n\ndata:3\n\n",
	} {
		told := 0
		f := framers[kind](100, new(Memory), func(Message) bool {
			told++
			return told == 2
		})
		if !f.Write([]byte(text)) || told != 2 {
			t.Errorf("%s: %d messages were told, want 2", kind, told)
		}
	}
}

// pieces are the fragments of random streams.
var pieces = strings.Split(`{ } [ ] " \ : , data data: event: id: retry: 12 true null {"state":"done"} {"state":"failed"} data:{"state":"done"} x`, " ")

var gaps = []string{"", "", "\n", "\n\n", "\r\n", "\r", " ", "\t", "\x1e", "\ufeff"}

// The messages do not depend on how a stream is split into writes. A stream that is cut has no message that the whole
// stream lacks.
func TestCuts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2_500 {
		var b bytes.Buffer
		for range 1 + random.IntN(40) {
			b.WriteString(pieces[random.IntN(len(pieces))] + gaps[random.IntN(len(gaps))])
		}
		text, limit := b.Bytes(), int64(1+random.IntN(60))
		for kind := range framers {
			whole, left := read(kind, limit, text)
			var parts [][]byte
			for from := 0; from < len(text); {
				n := min(1+random.IntN(8), len(text)-from)
				parts = append(parts, text[from:from+n])
				from += n
			}
			have, also := read(kind, limit, parts...)
			if !slices.Equal(have, whole) || left != also {
				t.Fatalf("%s %q in parts %q\nhave %q\nwant %q", kind, text, parts, have, whole)
			}
			cut := random.IntN(len(text))
			if have, _ := read(kind, limit, text[:cut]); !slices.Equal(have, whole[:min(len(have), len(whole))]) {
				t.Fatalf("%s %q cut after %q\nhave %q\nof %q", kind, text, text[:cut], have, whole)
			}
		}
	}
}

// naiveEvents returns the events of a complete stream, by the algorithm of the standard.
func naiveEvents(text string) (events []string) {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	blocks := strings.Split(text, "\n")
	data, name, has := "", "", false
	for _, line := range blocks[:len(blocks)-1] {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if has {
				data = strings.TrimSuffix(data, "\n")
				if name != "" && name != "message" {
					data = name + "=" + data
				}
				events = append(events, data)
			}
			data, name, has = "", "", false
		case field == "data":
			data += value + "\n"
			has = true
		case field == "event":
			name = value
		}
	}
	return events
}

func FuzzEvents(f *testing.F) {
	f.Add("data: a\n\nevent: b\rdata: c\r\ndata\r\r", uint(3))
	f.Add("\ufeff:x\ndata:  y\n\n\n", uint(1))
	f.Fuzz(func(t *testing.T, text string, part uint) {
		parts := slices.Collect(slices.Chunk([]byte(text), int(part%64)+1))
		have, _ := read("events", 1<<20, parts...)
		if want := naiveEvents(text); !slices.Equal(have, want) {
			t.Errorf("%q in parts of %d:\nhave %q\nwant %q", text, part%64+1, have, want)
		}
	})
}

// An endless message needs no more memory than the bytes that are kept.
func TestMemory(t *testing.T) {
	const limit, mib = 1 << 16, 1 << 20
	part := bytes.Repeat([]byte("x"), mib)
	for kind, begin := range map[string]string{"lines": "", "documents": `{"a":"`, "records": `{"a":"`, "events": "data: "} {
		f := framers[kind](limit, new(Memory), func(Message) bool { return true })
		f.Write([]byte(begin))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 32 {
			if f.Write(part) {
				t.Fatalf("%s: a message", kind)
			}
		}
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > mib {
			t.Errorf("%s: %d bytes for a message of %d", kind, after.TotalAlloc-before.TotalAlloc, 32*mib)
		}
	}
}
