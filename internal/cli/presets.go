package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
	"github.com/pollcli/poll/status/presets"
)

func (p Process) presetsCommand() *argv.Command {
	return &argv.Command{
		Operands: "[NAME]",
		Summary:  "list the sets of rules, or explain one",
		Offers:   offeredPresets,
		Run:      p.showPresets,
	}
}

func offeredPresets() []argv.Candidate { return candidates(presets.All(), presets.Waiters()) }

func candidates(of ...[]presets.Preset) (list []argv.Candidate) {
	for _, p := range slices.Concat(of...) {
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			list = append(list, argv.Candidate{Word: name, About: p.API})
		}
	}
	return list
}

func (p Process) showPresets(ctx context.Context, l *argv.Line) (err error) {
	name := strings.Join(l.Operands, "")
	service, isAWS := strings.CutPrefix(name, "aws:")
	list := make([]presets.Preset, 1)
	switch file, one, isFile := presetFile(name); {
	case name == "":
		mine, unread := p.ownPresets()
		return cmp.Or(l.Write(ctx, presetList(mine)), unread)
	case isAWS && !strings.Contains(service, "/"):
		return showWaiters(ctx, l, service)
	case isFile && one == "":
		list, err = p.readPresets("presets", file)
		for i, preset := range list {
			list[i] = grouped(preset, list)
		}
	default:
		list[0], err = p.findPreset(l, "presets", name)
	}
	if err != nil {
		return err
	}
	for _, note := range l.Notes() {
		fmt.Fprintln(p.Streams.Err, "poll: "+note)
	}
	return p.explain(ctx, l, list)
}

// showWaiters lists the services of AWS, or the waiters of one.
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
		return argv.Usagef("presets: there is no service %q with waiters", service).Meant(service, services).Hint("poll presets aws: lists them")
	}
	return l.Write(ctx, lines)
}

const tried = "\nYour own rules come first. Of a preset, throttled-if is tried before error-if, until and not-ready-if.\n" +
	"A good answer that no rule matches is NOT_READY, or ERROR with --strict.\n"

// explain shows presets as they are written, and tests those of files on the answers that stand
// beside them.
func (p Process) explain(ctx context.Context, l *argv.Line, list []presets.Preset) error {
	var parts []string
	code := ExitSuccess
	for _, preset := range list {
		text := preset.Text + tried + stanzas(preset)
		if preset.File != "" {
			samples, ok, err := p.testPreset(ctx, preset)
			if err != nil {
				return err
			}
			if text = "# " + preset.File + "\n" + text + samples; !ok {
				code = ExitError
			}
		}
		parts = append(parts, text)
	}
	return cmp.Or(l.Write(ctx, strings.Join(parts, "\n")), exitWith(code))
}

// stanzas lists those of a group.
func stanzas(p presets.Preset) (lines string) {
	for _, s := range p.Stanzas() {
		lines += fmt.Sprintf("  %-24s %s\n", s.Name, cmp.Or(s.API, s.File))
	}
	if lines != "" {
		lines = "\nEach object is judged by the first of these that matches it, else by the rules above:\n" + lines
	}
	return lines
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
	w.Flush() // a strings.Builder never fails
	return b.String()
}

// testPreset judges the answers that stand beside the file of a preset: NAME.success.json, or X.success.json
// of NAME/X, is to be SUCCESS, and so are NAME.success.2.json and the like; error, throttled and not_ready are the
// other verdicts. It returns a line for each, and whether all are right.
func (p Process) testPreset(ctx context.Context, preset presets.Preset) (lines string, ok bool, err error) {
	dir, ok := filepath.Dir(preset.File), true
	stem := preset.Name[strings.LastIndexByte(preset.Name, '/')+1:] + "."
	files, err := os.ReadDir(dir)
	for _, f := range files {
		words := strings.Split(strings.TrimPrefix(f.Name(), stem), ".")
		if len(words) < 2 || !strings.HasPrefix(f.Name(), stem) || words[len(words)-1] != "json" {
			continue
		}
		file := filepath.Join(dir, f.Name())
		want := status.Status(strings.ToUpper(strings.ReplaceAll(words[0], "-", "_")))
		if want != status.Success && want != status.Error && want != status.Throttled && want != status.NotReady {
			return "", false, argv.Usagef("%s: %q is no verdict: success, error, throttled, not_ready", file, words[0])
		}
		body, err := p.readRegular(file)
		if err != nil {
			return "", false, argv.Usagef("read the answer: %w", err)
		}
		v, err := p.judgeSample(ctx, preset, body, want)
		if err != nil {
			return "", false, err
		}
		verdict := "ok"
		if v.Status != want {
			verdict, ok = "WRONG", false
		}
		lines += fmt.Sprintf("  %-5s %s is %s: %s\n", verdict, file, v.Status, v.Reason)
	}
	if lines == "" {
		return fmt.Sprintf("\nNo answers to test it with: %ssuccess.json beside it would be one, and so is any for poll eval --preset %s:%s.\n", stem, preset.File, preset.Name), ok, err
	}
	return "\nAnswers beside it:\n" + lines, ok, err
}

// judgeSample judges an answer as a URL or a command would give it. Of a list it returns the verdict
// on the first element that is not what is wanted.
func (p Process) judgeSample(ctx context.Context, preset presets.Preset, body []byte, want status.Status) (v status.Verdict, err error) {
	q := evaluation{Spec: newSpec(), process: p, env: expr.Env{Context: ctx, Body: body}}
	if q.Spec, err = q.withSettings(preset, ofAll, argv.Preset); err == nil {
		err = q.readRules()
	}
	if err != nil {
		return v, err
	}
	if strings.Contains(preset.Example, " -- ") {
		q.target.kind = status.KindCommand
	}
	all, _ := q.attempt()
	for _, e := range all {
		if v = e.Verdict; v.Status != want {
			break
		}
	}
	return v, nil
}
