package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// testPreset judges the answers that stand beside the file of a preset: NAME.success.json is to be
// SUCCESS, and so are NAME.success.2.json and the like; error, throttled and not_ready are the
// other verdicts. It returns a line for each, and whether all are right.
func (w World) testPreset(ctx context.Context, p status.Preset) (lines string, ok bool, err error) {
	dir, ok := filepath.Dir(p.File), true
	files, err := filepath.Glob(filepath.Join(escapeGlob(dir), escapeGlob(p.Name)+".*.json"))
	for _, file := range files {
		words := strings.Split(strings.TrimPrefix(filepath.Base(file), p.Name+"."), ".")
		want := status.Status(strings.ToUpper(strings.ReplaceAll(words[0], "-", "_")))
		if want != status.Success && want != status.Error && want != status.Throttled && want != status.NotReady {
			return "", false, argv.Usagef("%s: %q is no verdict: success, error, throttled, not_ready", file, words[0])
		}
		body, err := w.readFile(file, maxLines)
		if err != nil {
			return "", false, err
		}
		v, err := judgeSample(ctx, p, body, want)
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
		return fmt.Sprintf("\nNo answers to test it with: %s.success.json beside it would be one.\n", p.Name), ok, err
	}
	return "\nAnswers beside it:\n" + lines, ok, err
}

// judgeSample judges an answer as a URL or a command would give it. With each, it returns the verdict
// on the first element that is not what is wanted.
func judgeSample(ctx context.Context, p status.Preset, body []byte, want status.Status) (v status.Verdict, err error) {
	o := status.Observation{Kind: status.KindHTTP, Code: new(200), Body: body, Size: int64(len(body)), Attempt: 1}
	if strings.Contains(p.Example, " -- ") {
		o.Kind, o.Code, o.Exit = status.KindCommand, nil, new(0)
	}
	var each string
	for _, s := range p.Settings {
		if s.Key == "each" {
			each = s.Values[0]
		}
	}
	compiled, err := p.Compile(o.Kind, each != "")
	rules := status.Rules{Preset: compiled}
	if err != nil || each == "" {
		return rules.Classify(ctx, o), err
	}
	list, err := expr.CompileEach(each)
	if err != nil {
		return v, err
	}
	page := expr.NewDoc(body)
	elements, _, problem := list.Elements(page)
	v = status.Verdict{Status: status.NotReady, Reason: problem}
	for _, e := range elements {
		o.Body, o.Within = []byte(e.Raw), page
		if v = rules.Classify(ctx, o); v.Status != want {
			break
		}
	}
	return v, nil
}

// escapeGlob returns a pattern that matches a path alone.
func escapeGlob(path string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path)
}
