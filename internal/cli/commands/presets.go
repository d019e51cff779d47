package commands

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/status/presets"
)

func Presets(p read.Env) *argv.Command {
	return &argv.Command{
		Operands: "[NAME]",
		Summary:  "list the sets of rules, or explain one",
		Offers:   read.OfferedPresets,
		Run:      func(ctx context.Context, l *argv.Line) error { return showPresets(ctx, p, l) },
	}
}

func showPresets(ctx context.Context, p read.Env, l *argv.Line) (err error) {
	name := strings.Join(l.Operands, "")
	service, isAWS := strings.CutPrefix(name, "aws:")
	list := make([]presets.Preset, 1)
	switch file, one, isFile := read.PresetFile(name); {
	case name == "":
		mine, unread := p.OwnPresets()
		return cmp.Or(l.Write(ctx, presetList(mine)), unread)
	case isAWS && !strings.Contains(service, "/"):
		return showWaiters(ctx, l, service)
	case isFile && one == "":
		list, err = p.ReadPresets("presets", file)
		for i, preset := range list {
			list[i] = read.Grouped(preset, list)
		}
	default:
		list[0], err = p.FindPreset(l, "presets", name)
	}
	if err != nil {
		return err
	}
	warn(p.Streams, l.Notes()...)
	return l.Write(ctx, explained(list))
}

// showWaiters prints the AWS waiters for a service. If service is "", it prints the names of all services that
// have waiters.
func showWaiters(ctx context.Context, l *argv.Line, service string) error {
	var lines string
	count := map[string]int{}
	for _, p := range presets.Waiters() {
		name, _, _ := strings.Cut(strings.TrimPrefix(p.Name, "aws:"), "/")
		if count[name]++; name == service {
			lines += fmt.Sprintf("%-52s %s\n", p.Name, p.API)
		}
	}
	services := slices.Sorted(maps.Keys(count))
	switch {
	case service == "":
		for _, s := range services {
			lines += fmt.Sprintf("aws:%-36s %d\n", s, count[s])
		}
	case lines == "":
		return argv.Usagef("presets: there is no service %q with waiters", service).Meant(service, services).Hint("poll presets aws: lists the services")
	}
	return l.Write(ctx, lines)
}

const tried = "\nYour own rules come first. In a preset, throttled-if comes before error-if, until and not-ready-if.\n" +
	"A successful response that no rule matches is NOT_READY, or ERROR with --strict.\n"

// explained returns the source text of the presets in list. After each preset, it explains in what order poll
// evaluates the rules. For a group, it also lists the members (stanzas).
func explained(list []presets.Preset) string {
	var parts []string
	for _, preset := range list {
		text, stanzas := preset.Text+tried, preset.Stanzas()
		if preset.File != "" {
			text = "# " + preset.File + "\n" + text
		}
		if len(stanzas) > 0 {
			text += "\npoll evaluates an object by the first of these that matches, else by the rules above:\n"
		}
		for _, s := range stanzas {
			text += fmt.Sprintf("  %-24s %s\n", s.Name, cmp.Or(s.API, s.File))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n")
}

func presetList(mine []presets.Preset) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, p := range append(mine, presets.All()...) {
		if p.File != "" || p.Match == "" {
			fmt.Fprintf(w, "%s\t%s\n", p.Name, cmp.Or(p.API, p.File))
		}
		for _, alias := range p.Aliases {
			fmt.Fprintf(w, "%s\tthe same as %s\n", alias, p.Name)
		}
	}
	fmt.Fprintf(w, "k8s/KIND\tone kind of Kubernetes: poll presets k8s\n")
	fmt.Fprintf(w, "aws:SERVICE/WAITER\tthe waiters of AWS: poll presets aws:\n")
	w.Flush() // writing to a strings.Builder never fails
	return b.String()
}
