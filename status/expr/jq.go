package expr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
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

// jq compiles a program in jq. It reads its input and the variables: no files, modules or further
// inputs, and of the environment what it names.
func (p *parser) jq(condition bool) (code *gojq.Code) {
	at := strings.Index(p.src, jqPrefix) + len(jqPrefix)
	source, start := p.src[at:], p.space(at)
	if len(source) > maxSource || start == len(p.src) {
		p.fail(at, `write one such as .state == "done"`, "jq: the program is empty, or longer than %d KiB", maxSource>>10)
	}
	query, err := gojq.Parse(source)
	if parseError, _ := errors.AsType[*gojq.ParseError](err); parseError != nil {
		start = at + max(parseError.Offset-len(parseError.Token), 0)
	} else if p.jqReads(reflect.ValueOf(query), true); p.jqAssigns != "" && condition {
		err = fmt.Errorf("this gives what %s has changed, and only true and false decide", p.jqAssigns)
	} else if code, err = p.jqCompile(query); err == nil {
		return code
	}
	kind, name, _ := strings.Cut(err.Error(), " not defined: ")
	if name, _, _ = strings.Cut(name, "/"); kind == "function" || kind == "variable" {
		start = max(start, at+strings.Index(source, name))
	}
	p.check("jq error", err.Error(), start)
	p.fail(start, "", "jq: %s", words.OneLine(err.Error()))
	return nil
}

// jqCompile compiles a program with the variables that it reads: without one of them it does not
// compile.
func (p *parser) jqCompile(query *gojq.Query) (code *gojq.Code, err error) {
	loader := gojq.WithEnvironLoader(func() []string { return p.jqEnviron })
	for {
		code, err = gojq.Compile(query, gojq.WithVariables(p.variables), loader)
		if err == nil {
			return code, nil
		}
		name := strings.TrimPrefix(err.Error(), "variable not defined: $")
		_, uses := (&Env{}).variable(name, "")
		if name == "json" {
			uses = UsesJSON | UsesWhole
		}
		if uses == 0 {
			return nil, err
		}
		p.variables, p.uses = append(p.variables, "$"+name), p.uses|uses
	}
}

// jqReads notes what a part of a program reads. Its dot is the document unless something else is
// piped into it. A function reads its dot.
func (p *parser) jqReads(part reflect.Value, ofDot bool) {
	part = reflect.Indirect(part)
	switch part.Kind() {
	case reflect.Slice:
		for i := range part.Len() {
			p.jqReads(part.Index(i), ofDot)
		}
	case reflect.Struct:
		query, _ := part.Interface().(gojq.Query)
		if query.Op >= gojq.OpAssign {
			p.jqAssigns = query.Op.String()
		}
		switch x := part.Interface().(type) {
		case gojq.Term:
			p.jqTerm(x, ofDot)
		case gojq.ObjectKeyVal:
			if x.Val == nil { // {state} or {$status}
				p.jqTerm(gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: cmp.Or(x.Key, ".")}}, ofDot)
			}
		}
		for i := range part.NumField() {
			name := part.Type().Field(i).Name
			isOther := name == "Right" && query.Op == gojq.OpPipe && query.Patterns == nil || isOneOf(name, " FuncDefs Update Catch ")
			p.jqReads(part.Field(i), ofDot && !isOther)
		}
	}
}

// jqEnviron is how a variable of the environment is named.
var jqEnviron = lazy(`^(?:\$ENV|env)(?:\."?|\[")(\w+)`)

// jqTerm notes what a term reads, apart from its parts and variables.
func (p *parser) jqTerm(x gojq.Term, ofDot bool) {
	name := "."
	switch x.Type {
	case gojq.TermTypeIdentity, gojq.TermTypeRecurse, gojq.TermTypeIndex, gojq.TermTypeFormat:
	case gojq.TermTypeFunc:
		name = x.Func.Name
	default:
		return
	}
	switch {
	case name == "$ENV" || name == "env":
		field := append(jqEnviron().FindStringSubmatch(x.String()), "", "")[1]
		at := max(strings.LastIndex(p.src, cmp.Or(field, name)), 0)
		p.jqEnviron = append(p.jqEnviron, field+"="+p.lookUp(field, at))
	case name == "now":
		p.uses |= UsesClock
	case ofDot && name[0] != '$':
		p.uses |= UsesJSON
	}
}

// jq runs a program. As a condition only true and false decide.
func (e *evaluator) jq(x *Expr) (v value) {
	ctx := e.env.Context
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, jqTime)
	defer cancel()
	input, root := any(nil), e.env.dot().value()
	if root.kind != KindUnknown {
		input = e.env.dot().decoded()
	} else if x.uses.Any(UsesJSON) {
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
	v = jqValue(iter, x.environ || x.uses.Any(UsesHeader))
	if v.kind == KindUnknown && e.env.Context != nil && e.env.Context.Err() != nil {
		panic(abandoned{})
	} else if x.condition && v.kind != KindBool && v.kind != KindUnknown {
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
		if v = e.env.Doc.value(); v.kind != KindUnknown {
			return e.env.Doc.decoded(), ""
		}
	case name == "header" && e.env.Error == "":
		fields := map[string]any{}
		for name, values := range e.env.Header {
			fields[name], fields[strings.ToLower(name)] = values[0], values[0]
		}
		return fields, ""
	}
	switch {
	case v.kind == KindUnknown || v.partial != "":
		return nil, cmp.Or(v.detail, "only the "+v.partial+" of $"+name+" is kept")
	}
	return decodeJSON(cmp.Or(v.json(), "null")), ""
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
