package run

import (
	"cmp"
	"testing"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/ui/term"
)

// waitOf returns a wait for args without environment variables. The wait does not start.
func waitOf(tb testing.TB, stdin string, args ...string) *wait {
	tb.Helper()
	streams, _, _ := term.Buffers(stdin)
	env, s := read.NewEnv(func(string) (string, bool) { return "", false }, streams), read.New()
	s.LookupEnv = env.Lookup
	s.Parse(args)
	for _, w := range s.Typed {
		s.Add(w.Flag, w.Text, "--"+w.Flag.Name, argv.Typed)
	}
	kinds, err := read.Classify(s.Line)
	if err = cmp.Or(s.Err, err); err == nil {
		s, err = env.Complete(s, kinds)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return &wait{spec: s, process: Host{Env: env}}
}
