package status

import (
	"fmt"
	"sync"

	"github.com/pollcli/poll/status/expr"
)

// Compile returns the rules of p for a kind of probe, in the order in which
// they are asked. Rules that ask for what such a probe never has ($exit and
// $stderr of a URL) are left out.
func (p Preset) Compile(kind Kind) ([]Rule, error) {
	detail, err := p.compileDetail()
	if err != nil {
		return nil, err
	}
	var rules []Rule
	for _, r := range p.Rules {
		x, err := expr.Compile(r.Expr)
		if err != nil {
			return nil, fmt.Errorf("compiling preset %s, %s: %w", p.Name, r.Status.RuleName(), err)
		}
		if !offers(kind, x.Uses()) {
			continue
		}
		rule := Rule{Status: r.Status, Expr: x, Origin: "preset " + p.Name, Preset: p.Name, Why: r.Why}
		if r.Status == Error {
			rule.Detail = detail
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

func (p Preset) compileDetail() ([]*expr.Expr, error) {
	var detail []*expr.Expr
	for _, source := range p.Detail {
		x, err := expr.CompileValue(source)
		if err != nil {
			return nil, fmt.Errorf("compiling preset %s, detail: %w", p.Name, err)
		}
		detail = append(detail, x)
	}
	return detail, nil
}

// offers reports whether a kind of probe has all that an expression reads.
func offers(kind Kind, u expr.Uses) bool {
	switch kind {
	case KindCommand:
		return !u.Status && !u.Header
	case KindHTTP:
		return !u.Exit && !u.Stdout && !u.Stderr
	case KindCustom:
		return !u.Status && !u.Header && !u.Exit && !u.Stdout && !u.Stderr
	}
	return !u.Answer() && !u.JSON && !u.IsJSON
}

// azureRules are the rules of the status document behind Azure-AsyncOperation
// and Operation-Location.
var azureRules = sync.OnceValue(func() []Rule {
	p, ok := LookupPreset("azure-lro")
	if !ok {
		panic("preset azure-lro is missing")
	}
	rules, err := p.Compile(KindHTTP)
	if err != nil {
		panic(err)
	}
	return rules
})
