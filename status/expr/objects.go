package expr

import (
	"cmp"
	"strings"
)

// Objects is a compiled expression for the objects of an answer, each of which is judged by itself. It is
// immutable and safe for concurrent use.
type Objects struct {
	src   string
	paths []*Each // the first that leads to something counts
}

// CompileObjects compiles the path of an object, such as .job, or of several, such as .items[]. After //
// comes another, for an answer where the one before leads nowhere: .items[] // . is each of the items,
// and an answer without a list of items. Every error is an [*Error].
func CompileObjects(source string) (x *Objects, err error) {
	p := &parser{src: source, list: true}
	defer p.recover(&err)
	p.begin()
	x = &Objects{src: source}
	for more := true; more; {
		p.refuseIf(isJQ(source) || !p.startsPath(p.pos), "list path", source[p.pos:], p.pos)
		path := p.path()
		if path.bare {
			p.fail(path.from, "write ."+source[path.from:path.to], "a path begins with a dot")
		}
		if path.root == rootLines && path.eachStep() == nil {
			path.steps = append(path.steps, step{from: path.to, to: path.to, kind: stepEach, bracket: true})
		}
		x.paths = append(x.paths, &Each{source, path})
		p.take(path.to)
		more = p.accept("//")
		p.refuseIf(!more && p.pos < len(source), "behind list", source[path.from:path.to]+" "+source[p.pos:], p.pos)
	}
	return x, nil
}

// String returns the source of the expression.
func (x *Objects) String() string { return x.src }

// Has reports whether a path is one of the alternatives.
func (x *Objects) Has(path string) bool {
	for _, one := range x.paths {
		if x.src[one.path.from:one.path.to] == path {
			return true
		}
	}
	return false
}

// Of returns the objects of a document in its order. If there is none, problem says why: ".items is
// missing". The members of an object are no list where another path follows.
func (x *Objects) Of(doc *Doc) (objects []*Doc, problem string) {
	for i, path := range x.paths {
		found, ofObject, why := path.Elements(doc)
		if why == "" && !(ofObject && i+1 < len(x.paths)) {
			return found, ""
		}
		problem = cmp.Or(problem, strings.TrimSpace(why))
	}
	return nil, problem
}
