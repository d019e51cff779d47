//go:build torture && linux

package torture

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/httpscript"
)

const (
	once  = "--immediate --max-attempts 1 --max-body 1MiB"
	asked = `--immediate --max-attempts 1 --until .state=="done" --error-if any(.x[];.y==1)`
)

// Whatever floods poll, it keeps a little of it.
func TestFloods(t *testing.T) {
	for _, f := range []struct {
		name   string
		answer string // of a server
		child  string // what the command floods, and how many MiB
		flags  string
		code   int
		words  string
		most   int64 // MiB
	}{
		{name: "stdout of 5 GB", child: "1 5120", flags: once, code: 1, words: "of 5368709120 bytes", most: 24},
		{name: "stderr of 1 GB", child: "2 1024", flags: once, most: 24},
		{name: "answer of 2 GB", answer: "200,repeat=2147483648:0", flags: once, code: 1, words: "--max-body", most: 24},
		{name: "answer of 1 GB, compressed", answer: "200,repeat=1073741824,gzip:0", flags: once, code: 1, words: "--max-body", most: 24},
		{name: "answer of 10 MB of [", answer: "200,repeat=10485760:[", flags: asked, code: 3, words: "NOT_READY", most: 80},
		{name: "headers of 64 MB", answer: "200,headers=1000000", flags: once, code: 3, words: "response headers exceeded", most: 40},
	} {
		t.Run(f.name, func(t *testing.T) {
			args := words(f.flags)
			if f.answer != "" {
				flood := answer(t, f.answer)
				args = append(args, serve(t, func(httpscript.Request) *httpscript.Answer { return flood }))
			} else {
				args = append(args, words("-- "+os.Args[0]+" "+floodWord+" "+f.child)...)
			}
			start(t, nil, args...).end(t, f.code, f.words).keepsWithin(t, f.most)
		})
	}
}

// A history may have become anything.
func TestFloods_history(t *testing.T) {
	const endless = `{"end":"2026-11-20T12:46:25Z","lo_s":-1e308,"hi_s":1e308,"outcome":"success"}` + "\n"
	for name, text := range map[string]string{
		"16 MB of [":              strings.Repeat("[", 16<<20),
		"16 MB of empty lines":    strings.Repeat("\n", 16<<20),
		"5,000,000 empty objects": strings.Repeat("{}\n", 5<<20),
		"65,536 endless runs":     strings.Repeat(endless, 1<<16),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "flood.jsonl"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			args := words("--interval 1ms --learn flood --history " + dir + " -- true")
			start(t, nil, args...).end(t, 0).keepsWithin(t, 64)
		})
	}
}

func (e ended) keepsWithin(t *testing.T, mebi int64) {
	t.Helper()
	t.Logf("%d MiB resident", e.peak>>20)
	if e.peak > mebi<<20 {
		t.Errorf("%d bytes resident, want %d MiB at most", e.peak, mebi)
	}
}

// floodWord as the first argument makes this program a command that writes so many MiB to a
// descriptor.
const floodWord = "flood"

func writeFlood(descriptor, mib string) (code int) {
	fd, _ := strconv.Atoi(descriptor)
	count, _ := strconv.Atoi(mib)
	out := os.NewFile(uintptr(fd), "out")
	block := []byte(strings.Repeat("abcdefghijklmno\n", 1<<16))
	for range count {
		if _, err := out.Write(block); err != nil {
			return 1
		}
	}
	return 0
}
