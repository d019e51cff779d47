package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
	"github.com/pollcli/poll/status/presets"
)

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
