package read

import (
	"os"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/status/presets"
)

// OfferedPresets returns the candidates for completing --preset.
func OfferedPresets() []argv.Candidate { return candidates(presets.All(), presets.Waiters()) }

func candidates(of ...[]presets.Preset) (list []argv.Candidate) {
	for _, p := range slices.Concat(of...) {
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			list = append(list, argv.Candidate{Word: name, About: p.API})
		}
	}
	return list
}

// unknownPreset returns the usage error for an unknown preset. Its hint lists presets with similar names or of
// the same service. mine are the presets of the user's directory.
func unknownPreset(origin, name string, mine []presets.Preset) error {
	err := argv.Usagef("%s: there is no preset %q", origin, name)
	if _, missing := os.Stat(name); missing == nil {
		return err.Hint("to use the file of that name: --preset ./%s", name)
	}
	var names, related []string
	list, isAWS := presets.All(), strings.HasPrefix(name, "aws:")
	if isAWS {
		list = presets.Waiters()
	}
	for _, c := range candidates(mine, list) {
		names = append(names, c.Word)
		if len(name) > 2 && strings.Contains(" "+strings.ToLower(c.Word+" "+c.About), " "+strings.ToLower(name)) {
			related = append(related, c.Word)
		}
	}
	switch group, _, isMember := strings.Cut(name, "/"); {
	case isMember || isAWS:
		return err.Meant(name, names).Hint("poll presets %s lists its members", group)
	case related != nil:
		return err.Hint("did you mean %s?", strings.Join(related[:min(len(related), 5)], " or "))
	}
	if err.Meant(name, names); len(err.Hints) == 0 {
		err.Hint("poll presets lists them")
	}
	return err
}
