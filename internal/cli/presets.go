package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/status"
)

func presetsCommand() *argv.Command {
	return &argv.Command{
		Name:     "presets",
		Operands: "[NAME]",
		Summary:  "list the built-in sets of rules, or explain one",
		Flags:    argv.Flags{argv.HelpFlag()},
		Offers:   offeredPresets,
		Run:      showPresets,
	}
}

func offeredPresets() []argv.Candidate {
	var list []argv.Candidate
	for _, p := range status.Presets() {
		for _, name := range namesOf(p) {
			list = append(list, argv.Candidate{Word: name, About: p.API})
		}
	}
	return list
}

func namesOf(p status.Preset) []string { return append([]string{p.Name}, p.Aliases...) }

func showPresets(ctx context.Context, l *argv.Line) error {
	if len(l.Operands) == 0 {
		return l.Write(ctx, presetList())
	}
	preset, ok := status.LookupPreset(l.Operands[0])
	if !ok {
		return unknownPreset("presets", l.Operands[0])
	}
	return l.Write(ctx, explainPreset(preset))
}

func presetList() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, p := range status.Presets() {
		fmt.Fprintf(w, "%s\t%s\n", p.Name, p.API)
		for _, alias := range p.Aliases {
			fmt.Fprintf(w, "%s\tthe same as %s\n", alias, p.Name)
		}
	}
	w.Flush() // a strings.Builder never fails
	return b.String()
}

func explainPreset(p status.Preset) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", strings.Join(namesOf(p), ", "), p.API)
	if p.Example != "" {
		fmt.Fprintf(&b, "\n  %s\n", p.Example)
	}
	b.WriteString("\nMany at once:\n\n  " + strings.Join(p.Many, "\n  ") + "\n")
	if p.Note != "" {
		b.WriteString("\n" + p.Note + "\n")
	}
	last := status.None
	for _, rule := range p.Rules {
		if rule.Status != last {
			fmt.Fprintf(&b, "\n%s (%s) when\n", rule.Status, "--"+rule.Status.RuleName())
			last = rule.Status
		}
		fmt.Fprintf(&b, "  %s\n", rule.Expr)
		if rule.Why != "" {
			fmt.Fprintf(&b, "      -- %s\n", rule.Why)
		}
	}
	remark := "The rules are tried in this order, after your own; " +
		"a good answer\nthat none matches is NOT_READY, or ERROR with --strict."
	if len(p.Detail) > 0 {
		remark += "\nThe reason ends with what the API says about it: " + strings.Join(p.Detail, ", ") + "."
	}
	if p.Object != "" {
		remark += "\nThey are about " + p.Object + " of the answer, with --each about the element itself."
	}
	b.WriteString("\n" + remark + "\n")
	return b.String()
}
