package expr_test

import (
	"encoding/binary"
	"testing"
	"unicode/utf16"

	"github.com/pollcli/poll/status/expr"
)

// utf16Text is a text as Windows PowerShell writes it to a file: with a byte order mark.
func utf16Text(order binary.AppendByteOrder, text string) (b []byte) {
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		b = order.AppendUint16(b, unit)
	}
	return b
}

func TestByteOrderMarks(t *testing.T) {
	t.Parallel()
	const text = "{\"state\":\"done\",\"name\":\"Zoë 🚀\"}\r\n"
	for name, body := range map[string][]byte{
		"none":                  []byte(text),
		"UTF-8":                 []byte("\ufeff" + text),
		"UTF-16, little endian": utf16Text(binary.LittleEndian, text),
		"UTF-16, big endian":    utf16Text(binary.BigEndian, text),
	} {
		for _, condition := range []string{
			`.state == "done" and .name == "Zoë 🚀"`, `$isjson`, `jq: .name == "Zoë 🚀"`,
			`$body =~ "^[{].*🚀\"}$"`, `$stdout contains "Zoë"`, `$stderr contains "Zoë"`,
		} {
			exit := 0
			env := &expr.Env{Doc: expr.NewDoc(body), Body: body, Stderr: body, Exit: &exit}
			if r := mustCompile(t, condition).Eval(env); r.Tri != expr.True {
				t.Errorf("%s: %s is %v: %v", name, condition, r.Tri, explain(r, 5))
			}
		}
	}
}

func TestUTF16_malformed(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"\xff\xfe":                 "",
		"\xff\xfea\x00b":           "a\ufffd",
		"\xff\xfe\x00\xd8a\x00":    "\ufffda",
		"\xff\xfe\x00\xdca\x00":    "\ufffda",
		"\xff\xfea\x00\x00\xd8":    "a\ufffd",
		"\xfe\xff\xd8\x3d\xde\x80": "🚀",
	} {
		if have := expr.NewDoc([]byte(body)).Bytes(); string(have) != want {
			t.Errorf("%q: have %q, want %q", body, have, want)
		}
	}
}
