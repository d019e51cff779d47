package cli

import (
	"cmp"
	"context"
	"runtime/debug"

	"github.com/pollcli/poll/internal/argv"
)

// release is the version of a released program, "v1.2.3". Only the linker sets it,
// for .goreleaser.yaml.
var release string

// version returns the version of the release, or else of the module, which names the commit
// that poll was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "poll " + cmp.Or(release, "(unknown version)")
	}
	return "poll " + cmp.Or(release, info.Main.Version) + " " + info.GoVersion
}

func versionCommand() *argv.Command {
	return &argv.Command{
		Name:    "version",
		Summary: "the version, as --version shows it",
		Run:     func(ctx context.Context, l *argv.Line) error { return l.Write(ctx, version()+"\n") },
	}
}
