package expr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/itchyny/gojq"
	"github.com/pollcli/poll/internal/words"
)

const (
	// jqPrefix is the prefix of an expression that is a jq program.
	jqPrefix = "jq:"
	// jqTime is the time limit for one run of a jq program.
	jqTime = 10 * time.Second
)

// isJQ reports whether src is a jq program: it starts with "jq:" after optional white space.
func isJQ(src string) bool { return strings.HasPrefix(strings.TrimSpace(src), jqPrefix) }

// A program is a compiled jq program.
type program struct {
	code          *gojq.Code
	variables     []string // the names of the variables that the program reads, each with a $
	isCondition   bool
	readsDocument bool
	readsSecrets  bool // the program reads headers or the environment
}

// jq compiles a jq program. The program can read its input, the variables of package expr, and the environment
// variables named in its source. It cannot read files, modules or further inputs.
func (p *parser) jq(isCondition bool) *node {
	at := strings.Index(p.src, jqPrefix) + len(jqPrefix)
	source, start := p.src[at:], p.space(at)
	p.rejectIf(len(source) > maxSource || start == len(p.src), "length", "jq", at)
	query, err := gojq.Parse(source)
	x := &program{isCondition: isCondition}
	if parseError, _ := errors.AsType[*gojq.ParseError](err); parseError != nil {
		start = at + max(parseError.Offset-len(parseError.Token), 0)
	} else if op := lastStage(query).Op; op >= gojq.OpAssign && isCondition {
		err = fmt.Errorf("%s returns a changed value, but a condition needs true or false", op)
	} else {
		err = p.compileJQ(x, query, at)
	}
	if err != nil {
		kind, name, _ := strings.Cut(err.Error(), " not defined: ")
		if name, _, _ = strings.Cut(name, "/"); kind == "function" || kind == "variable" {
			start = max(start, at+strings.Index(source, name))
		}
		p.reject("jq error", words.OneLine(err.Error()), start)
	}
	isOfObject := slices.Contains(x.variables, "$element") || !jqWithoutDocument().MatchString(source)
	if isOfObject {
		p.addReads("object")
	}
	if x.readsDocument = isOfObject || slices.Contains(x.variables, "$json"); x.readsDocument {
		p.addReads(".", "other members")
	}
	x.readsSecrets = slices.Contains(p.reads, "ENV") || slices.Contains(p.reads, "header")
	return &node{op: opJQ, to: len(p.src), program: x}
}

// lastStage returns the part of a program after the last pipe. Its value is the value of the program.
func lastStage(query *gojq.Query) *gojq.Query {
	switch term := query.Term; {
	case query.Op == gojq.OpPipe:
		return lastStage(query.Right)
	case term != nil && term.Type == gojq.TermTypeQuery && term.SuffixList == nil:
		return lastStage(term.Query)
	}
	return query
}

// compileJQ compiles query into x.code, and sets x.variables. It compiles repeatedly, because gojq must be given the
// variables in advance, and its error names only one missing variable at a time.
func (p *parser) compileJQ(x *program, query *gojq.Query, at int) (err error) {
	for {
		x.code, err = gojq.Compile(query, gojq.WithVariables(x.variables), p.jqEnviron(at))
		name, isMissing := strings.CutPrefix(fmt.Sprint(err), "variable not defined: $")
		if !isMissing || !isOneOf(name, variables) {
			return err
		}
		p.addReads(name)
		x.variables = append(x.variables, "$"+name)
	}
}

// environVariable matches each expression in a program that reads the environment. Its group is the name of the
// variable.
var environVariable = words.Pattern(`(?:\$ENV|(?:^|[^\w.$"])env)\b(?:(?:\."?|\.?\[")(\w+))?`)

// jqEnviron returns an option with the environment variables that the program names. gojq calls the loader once for
// each expression that reads the environment. If there are more calls than names, an expression reads the
// environment without naming a variable, which is an error.
func (p *parser) jqEnviron(at int) gojq.CompilerOption {
	calls := 0
	return gojq.WithEnvironLoader(func() (environ []string) {
		for _, m := range environVariable().FindAllStringSubmatchIndex(p.src[at:], -1) {
			if m[2] > 0 {
				name := p.src[at+m[2] : at+m[3]]
				environ = append(environ, name+"="+p.lookUp(name, at+m[2]))
			}
		}
		if calls++; calls > len(environ) {
			p.lookUp("", p.space(at))
		}
		return environ
	})
}

// jqWithoutDocument matches a program that cannot read the document. Such a program can decide even if the
// document is unreadable. It either starts with a variable and a pipe, or consists only of variables, constants,
// operators, and functions after a pipe.
var jqWithoutDocument = words.Pattern(`^\s*(?:\$\w+\s*\|[^=]|(?:\s|\$\w+(?:\.\w+|\["[^"\\]*"\])*|"[^"\\]*"|\d[\d.]*|[-+*/=!<>()]|` +
	`(?:true|false|null|and|or)\b|\|\s*[a-z]\w*(?:\("[^"\\]*"\))?)+$)`)

// hintAtJQ adds a hint to use jq if e.Source is a valid jq program that can yield true or false. It adds no hint if
// the mistake would also be a mistake in jq, such as a string that is always true.
func (e *Error) hintAtJQ() {
	if _, _, found := findRow("not jq", e.Message+" -- "+e.Source); found || isJQ(e.Source) {
		return
	}
	query, err := gojq.Parse(e.Source)
	if err != nil || !yieldsBoolean(lastStage(query)) {
		return
	}
	p := &parser{src: jqPrefix + e.Source, environ: func(string) (string, bool) { return "any", true }}
	if p.try(func() { p.jq(true) }) == nil {
		e.Hint = strings.TrimPrefix(e.Hint+"; or let jq evaluate the expression: write jq: before it", "; or ")
	}
}

// yieldsBoolean reports whether last, the last stage of a program, yields true or false: it is a comparison, a
// logical operation or a call of a test function.
func yieldsBoolean(last *gojq.Query) bool {
	isTest := last.Term != nil && last.Term.Type == gojq.TermTypeFunc && isOneOf(last.Term.Func.Name, testFunctions+"any all not isempty inside ")
	return isTest || gojq.OpEq <= last.Op && last.Op <= gojq.OpOr
}

// jq runs a program, and returns its value. If the program is a condition, any value other than true and false
// becomes unknown.
func (e *evaluator) jq(x *program) value {
	ctx, cancel := context.WithTimeout(cmp.Or(e.env.Context, context.Background()), jqTime)
	defer cancel()
	var input any
	if root := e.env.dot().value(); root.kind != kindUnknown {
		input = e.env.dot().decoded()
	} else if x.readsDocument {
		return root
	}
	var values []any
	for _, name := range x.variables {
		given, problem := e.jqVariable(name[1:])
		if problem != "" {
			return unknown(problem)
		}
		values = append(values, given)
	}
	v := onlyValue(x.code.RunWithContext(ctx, input, values...), x.readsSecrets)
	if v.kind == kindUnknown && e.env.Context != nil && e.env.Context.Err() != nil {
		panic(abandoned{})
	}
	if x.isCondition && v.kind != kindBool && v.kind != kindUnknown {
		return unknown("the program returns " + v.kind.noun() + ", but a condition needs true or false: compare the value, such as with != null")
	}
	return v
}

// jqVariable returns the value for gojq of the variable called name, or the problem that prevents reading it.
// $header contains each field under two keys: its name, and its name in lower case.
func (e *evaluator) jqVariable(name string) (given any, problem string) {
	if name == "header" && e.env.Error == "" {
		fields := map[string]any{}
		for name, values := range e.env.Header {
			if len(values) > 0 {
				text := fieldText(values)
				fields[name], fields[strings.ToLower(name)] = text, text
			}
		}
		return fields, ""
	}
	v := e.env.read(name, "")
	if v.lost != (cut{}) {
		return nil, "only the " + v.lost.kept() + " of $" + name + " is kept"
	}
	if v.kind == kindUnknown {
		return nil, v.detail
	}
	return v.decoded(), ""
}

// onlyValue returns the only value in results. If the program fails, or does not yield exactly one value, the result
// is unknown. If secret is true, the error is not shown, because it may contain a part of a value.
func onlyValue(results gojq.Iter, secret bool) value {
	given, ok := results.Next()
	if !ok {
		return unknown("the program returns no value")
	}
	err, failed := given.(error)
	if !failed {
		second, isSecond := results.Next()
		if err, failed = second.(error); isSecond && !failed {
			return unknown("the program returns several values: any(...), all(...), first(...) or [...] make one value")
		}
	}
	switch {
	case !failed:
		v := parseValue(marshal(given))
		v.hidden = secret
		return v
	case errors.Is(err, context.DeadlineExceeded):
		return unknown(fmt.Sprintf("the program ran longer than %s", jqTime))
	case secret:
		return unknown("the program stopped with an error, which is not shown: the error may hold an environment variable or a header")
	}
	return unknown("the program stopped: " + err.Error())
}
