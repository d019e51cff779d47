package syntax

import "strings"

const hintPlace = "write where the list is: .items"

// ParseEach parses the path of a list, or of its elements, for an iteration: [] is added to a
// path without one.
func ParseEach(src string) (*Path, *Error) {
	p := &parser{lexer: lexer{src: src, list: true}}
	switch {
	case len(src) > maxSource:
		p.fail(0, "", "the expression is longer than %d KiB", maxSource>>10)
	case strings.TrimSpace(src) == "":
		p.fail(0, hintPlace, "the expression is empty")
	}
	p.advance()
	path := p.tok.path
	if path == nil {
		p.fail(p.tok.From, hintPlace, "a path is missing")
		return nil, p.err
	}
	p.advance()
	if p.tok.kind != tokEnd {
		p.afterList(path)
	}
	if p.iterate(path); p.err != nil {
		return nil, p.err
	}
	return path, nil
}

// afterList refuses what follows the path of a list.
func (p *parser) afterList(path *Path) {
	hint := ""
	if list, _, _ := strings.Cut(path.Of(p.src), "["); p.tok.is("|") && len(list) > 1 {
		hint = "to leave elements out write " + list + `.#(name!="x")#`
	}
	p.fail(p.tok.From, hint, "after a path nothing can follow here")
}

// iterate adds [] to a path without it.
func (p *parser) iterate(path *Path) {
	_, iterates := path.Each()
	switch text := path.Of(p.src); {
	case p.err != nil:
		return
	case iterates && path.bare:
		p.fail(path.From, "write ."+text, "a path with [] begins with a dot")
		return
	case iterates:
		return
	case len(path.Steps) > 0:
		switch last := path.Steps[len(path.Steps)-1]; last.Kind {
		case LookupCount:
			p.fail(last.From, "leave it out", "# is the number of elements")
		case LookupFirst:
			p.fail(last.From, "write "+text+"# for all, or "+text+"[] for its members", "%s is the first element", last.Of(p.src))
		}
	}
	path.Steps = append(path.Steps, Step{Span: Span{path.To, path.To}, Kind: LookupEach, bracket: true})
	path.lower()
}
