package read

import (
	"os"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/status/presets"
)

func OfferedPresets() []argv.Candidate { return candidates(presets.All(), presets.Waiters()) }

func candidates(of ...[]presets.Preset) (list []argv.Candidate) {
	for _, p := range slices.Concat(of...) {
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			list = append(list, argv.Candidate{Word: name, About: p.API})
		}
	}
	return list
}

// unknownPreset refuses a name, with the presets of the service that it may stand for.
func unknownPreset(origin, name string, mine []presets.Preset) error {
	err := argv.Usagef("%s: there is no preset %q", origin, name)
	if _, missing := os.Stat(name); missing == nil {
		return err.Hint("to use the file of that name: --preset ./%s", name)
	}
	var names, related []string
	list, members := presets.All(), "stanzas of that group"
	if strings.HasPrefix(name, "aws:") {
		list, members = presets.Waiters(), "waiters of that service"
	}
	if group, _, isMember := strings.Cut(name, "/"); isMember || strings.HasPrefix(name, "aws:") {
		for _, c := range candidates(mine, list) {
			names = append(names, c.Word)
		}
		return err.Meant(name, names).Hint("poll presets %s lists the %s", group, members)
	}
	for _, c := range candidates(mine, list) {
		names = append(names, c.Word)
		if len(name) > 2 && strings.Contains(" "+strings.ToLower(c.Word+" "+c.About), " "+strings.ToLower(name)) {
			related = append(related, c.Word)
		}
	}
	if len(related) > 0 {
		return err.Hint("did you mean %s?", strings.Join(related[:min(len(related), 5)], " or "))
	}
	if err.Meant(name, names); len(err.Hints) == 0 {
		err.Hint("poll presets lists them")
	}
	return err
}
