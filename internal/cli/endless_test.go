package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/cli/run"
	"github.com/pollcli/poll/internal/ui/term"
)

// Files that poll reads before the first attempt may be endless.
func TestEndlessFiles(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip(err)
	}
	for line, want := range map[string]string{
		"poll -H @/dev/zero http://127.0.0.1:1/":         "poll: --header: /dev/zero is larger than 1 MiB, the most that poll reads\n",
		"NETRC=/dev/zero poll -n http://127.0.0.1:1/":    "poll: --netrc: /dev/zero is larger than 1 MiB, the most that poll reads\n",
		"poll --targets /dev/zero http://127.0.0.1:1/{}": "larger than 16 MiB, the most that poll reads\n",
	} {
		process, out := processOf(t, line)
		if code := Run(t.Context(), process); code != run.ExitUsage || !strings.HasSuffix(out.err.String(), want) {
			t.Errorf("%s: have exit code %d and %q, want %q", line, code, &out.err, want)
		}
	}
}

// Bodies, documents and the input of a command have the limit of readFile.
func TestReadFile_limit(t *testing.T) {
	t.Parallel()
	full := strings.Repeat("x", 1<<20)
	for input, want := range map[string]string{full: "", full + "x": "stdin is larger than 1 MiB, the most that poll reads"} {
		var p read.Env
		p.Streams, _, _ = term.Buffers(input)
		text, err := p.ReadFile("-", 1<<20)
		if want == "" && (err != nil || string(text) != input) || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%d bytes: have %d bytes and %v, want %q", len(input), len(text), err, want)
		}
	}
}
