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
	// jqPrefix begins an expression that is run by gojq.
	jqPrefix = "jq:"
	// jqTime is how long a program may take.
	jqTime = 10 * time.Second
)

func isJQ(src string) bool { return strings.HasPrefix(strings.TrimSpace(src), jqPrefix) }

// jq compiles a program in jq. It reads its input, the variables, and the variables of the environment
// that it names: no files, modules or further inputs.
func (p *parser) jq(condition bool) (code *gojq.Code, variables []string) {
	at := strings.Index(p.src, jqPrefix) + len(jqPrefix)
	source, start := p.src[at:], p.space(at)
	if len(source) > maxSource || start == len(p.src) {
		p.fail(at, `write one such as .state == "done"`, "jq: the program is empty, or longer than %d KiB", maxSource>>10)
	}
	query, err := gojq.Parse(source)
	if parseError, _ := errors.AsType[*gojq.ParseError](err); parseError != nil {
		start = at + max(parseError.Offset-len(parseError.Token), 0)
	} else if op := lastStage(query).Op; op >= gojq.OpAssign && condition {
		err = fmt.Errorf("this gives what %s has changed, and only true and false decide", op)
	} else if code, variables, err = p.jqCompile(query, at); err == nil {
		isOfObject := slices.Contains(variables, "$element") || !jqWithoutDocument().MatchString(source)
		if isOfObject {
			p.note("object")
		}
		if isOfObject || slices.Contains(variables, "$json") {
			p.note(".")
			p.note("other members")
		}
		return code, variables
	}
	kind, name, _ := strings.Cut(err.Error(), " not defined: ")
	if name, _, _ = strings.Cut(name, "/"); kind == "function" || kind == "variable" {
		start = max(start, at+strings.Index(source, name))
	}
	p.refuse("jq error", words.OneLine(err.Error()), start)
	return nil, nil
}

// lastStage is the part of a program behind its last pipe, which makes the value.
func lastStage(query *gojq.Query) *gojq.Query {
	switch term := query.Term; {
	case query.Op == gojq.OpPipe:
		return lastStage(query.Right)
	case term != nil && term.Type == gojq.TermTypeQuery && term.SuffixList == nil:
		return lastStage(term.Query)
	}
	return query
}

// jqCompile compiles a program with the variables that it reads: without one of them it does not
// compile.
func (p *parser) jqCompile(query *gojq.Query, at int) (code *gojq.Code, variables []string, err error) {
	for {
		code, err = gojq.Compile(query, gojq.WithVariables(variables), p.jqEnviron(at))
		name, isMissing := strings.CutPrefix(fmt.Sprint(err), "variable not defined: $")
		if _, known := (&Env{}).variable(name, ""); !isMissing || !known && !isOneOf(name, jsonVariables) {
			return code, variables, err
		}
		p.note(name)
		variables = append(variables, "$"+name)
	}
}

// environVariable is how a program names a variable of the environment.
var environVariable = words.Pattern(`(?:\$ENV|(?:^|[^\w.$"])env)\b(?:(?:\."?|\.?\[")(\w+))?`)

// jqEnviron gives a program the variables of the environment that it names. The loader is called for
// each time that it reads the environment, which has to be by a name.
func (p *parser) jqEnviron(at int) gojq.CompilerOption {
	asked := 0
	return gojq.WithEnvironLoader(func() (environ []string) {
		for _, m := range environVariable().FindAllStringSubmatchIndex(p.src[at:], -1) {
			if m[2] > 0 {
				name := p.src[at+m[2] : at+m[3]]
				environ = append(environ, name+"="+p.lookUp(name, at+m[2]))
			}
		}
		if asked++; asked > len(environ) {
			p.lookUp("", p.space(at))
		}
		return environ
	})
}

// jqWithoutDocument matches a program that cannot read the document, so that it can decide where
// that is unreadable: one that begins with $name |, or that has nothing but variables, constants and
// operators, and functions behind a pipe.
var jqWithoutDocument = words.Pattern(`^\s*(?:\$\w+\s*\|[^=]|(?:\s|\$\w+(?:\.\w+|\["[^"\\]*"\])*|"[^"\\]*"|\d[\d.]*|[-+*/=!<>()]|` +
	`(?:true|false|null|and|or)\b|\|\s*[a-z]\w*(?:\("[^"\\]*"\))?)+$)`)

// jq runs a program. As a condition only true and false decide.
func (e *evaluator) jq(x *Expr) (v value) {
	ctx, cancel := context.WithTimeout(cmp.Or(e.env.Context, context.Background()), jqTime)
	defer cancel()
	input, root := any(nil), e.env.dot().value()
	if root.kind != kindUnknown {
		input = e.env.dot().decoded()
	} else if x.Reads(".") {
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
	iter := x.jq.RunWithContext(ctx, input, values...)
	v = jqValue(iter, x.Reads("ENV", "header"))
	if v.kind == kindUnknown && e.env.Context != nil && e.env.Context.Err() != nil {
		panic(abandoned{})
	} else if x.condition && v.kind != kindBool && v.kind != kindUnknown {
		v = unknown("it gives " + v.kind.noun() + ", and only true and false decide; compare it, with != null if it is enough that it is there")
	}
	return v
}

// jqVariable is the value of a variable for gojq, or the problem with it. Names of headers are also
// there in lower case.
func (e *evaluator) jqVariable(name string) (given any, problem string) {
	v := e.env.read(name, "", "")
	switch {
	case name == "json":
		v = e.env.Doc.value()
	case name == "element":
		v = e.env.dot().value()
	case name == "header" && e.env.Error == "":
		fields := map[string]any{}
		for name, values := range e.env.Header {
			if len(values) > 0 {
				all := fieldValue(values)
				fields[name], fields[strings.ToLower(name)] = all, all
			}
		}
		return fields, ""
	}
	if v.kind == kindUnknown || v.partial != "" {
		return nil, cmp.Or(v.detail, "only the "+v.partial+" of $"+name+" is kept")
	}
	return v.decoded(), ""
}

// jqValue is the only value that a program gives. What gojq says of an error may hold a part
// of a value, and so of what is hidden.
func jqValue(iter gojq.Iter, hidden bool) (v value) {
	given, some := iter.Next()
	err, failed := given.(error)
	if some && !failed {
		second, several := iter.Next()
		if err, failed = second.(error); several && !failed {
			return unknown("it gives several values; any(...), all(...), first(...) or [...] make one of them")
		}
	}
	switch {
	case !some:
		return unknown("it gives no value")
	case failed && errors.Is(err, context.DeadlineExceeded):
		return unknown(fmt.Sprintf("it took longer than %s", jqTime))
	case failed && hidden:
		return unknown("it stopped with an error, which is not shown: it may hold a variable of the environment, or a header")
	case failed:
		return unknown("it stopped: " + err.Error())
	}
	v = parseValue(marshal(given))
	v.hidden = hidden
	return v
}
