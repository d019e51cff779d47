package read

import (
	"cmp"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/ui/term"
)

// lineOf parses arguments without environment variables.
func lineOf(t *testing.T, args ...string) (*Run, Env, error) {
	t.Helper()
	streams, _, _ := term.Buffers("")
	env, r := NewEnv(func(string) (string, bool) { return "", false }, streams), New()
	r.LookupEnv = env.Lookup
	r.Parse(args)
	for _, w := range r.Typed {
		r.Add(w.Flag, w.Text, "--"+w.Flag.Name, argv.Typed)
	}
	kinds, err := Classify(r.Line)
	if err = cmp.Or(r.Err, err); err != nil {
		return r, env, err
	}
	r, err = env.Complete(r, kinds)
	return r, env, err
}

// Each row of the manual explains a flag.
func TestManual(t *testing.T) {
	t.Parallel()
	table := WaitFlags()
	for row := range strings.Lines(manual) {
		if name, _, isRow := strings.Cut(row, "\t"); isRow && table.Lookup(name) == nil {
			t.Errorf("the manual explains --%s, which is not a flag", name)
		}
	}
}
