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

// version returns the version of the release, or else of the module, and the
// commit that poll was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "poll " + cmp.Or(release, "(unknown version)")
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"]
	if commit != "" {
		commit = " (" + commit[:min(12, len(commit))]
		if settings["vcs.modified"] == "true" {
			commit += ", modified"
		}
		commit += ")"
	}
	return "poll " + cmp.Or(release, info.Main.Version) + commit + " " + info.GoVersion
}

func versionCommand() *argv.Command {
	return &argv.Command{
		Name:     "version",
		Summary:  "the version, as --version shows it",
		About:    "poll version shows the version of poll, and what it was built from.",
		Examples: []argv.Example{{Line: "poll version"}},
		Flags:    argv.Flags{argv.HelpFlag()},
		Run:      func(ctx context.Context, l *argv.Line) error { return l.Write(ctx, version()+"\n") },
	}
}
