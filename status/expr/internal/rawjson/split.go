package rawjson

import "strings"

// Split checks a document and calls visit for each element of the list that names lead to,
// all in one pass. It reports whether the text is one document with such a list. It may report
// false where keys are written with escapes or occur twice.
func Split(s string, names []string, visit func(element string)) bool {
	p := &splitter{s: s, visit: visit}
	end := p.value(SkipSpace(s, 0), names, 0)
	return p.found && !p.failed && SkipSpace(s, end) == len(s)
}

// A splitter goes through a document. Once it has failed, what it returns means nothing.
type splitter struct {
	s             string
	visit         func(element string)
	found, failed bool
	closing       brackets
}

// value goes through the value at s[i], which is nested depth levels deep, and returns the
// offset after it.
func (p *splitter) value(i int, names []string, depth int) int {
	switch c := p.at(i); {
	case len(names) > 0 && c == '{':
		return p.object(i, names, depth)
	case len(names) == 0 && c == '[':
		p.found = true
		return p.list(i, depth)
	}
	return p.scan(i, depth)
}

// list visits the elements of the list at s[i].
func (p *splitter) list(i, depth int) int {
	if i = SkipSpace(p.s, i+1); p.at(i) == ']' {
		return i + 1
	}
	for {
		end := p.scan(i, depth+1)
		if p.failed {
			return end
		}
		p.visit(p.s[i:end])
		if i = SkipSpace(p.s, end); p.at(i) != ',' {
			return p.close(i, ']')
		}
		i = SkipSpace(p.s, i+1)
	}
}

// object looks for a name among the members of the object at s[i].
func (p *splitter) object(i int, names []string, depth int) int {
	if i = SkipSpace(p.s, i+1); p.at(i) == '}' {
		return i + 1
	}
	for {
		start, flaw := scanKey(p.s, i)
		if flaw != NoFlaw || strings.Contains(p.s[i:start], `\`) {
			p.failed = true
			return start
		}
		key, end := p.s[i+1:start], SkipSpace(p.s, start)
		if len(names) > 0 && strings.HasPrefix(key, names[0]) && key[len(names[0])] == '"' {
			end = p.value(end, names[1:], depth+1)
			names = nil // the first counts
		} else {
			end = p.scan(end, depth+1)
		}
		if p.failed {
			return end
		}
		if i = SkipSpace(p.s, end); p.at(i) != ',' {
			return p.close(i, '}')
		}
		i = SkipSpace(p.s, i+1)
	}
}

// scan checks the value at s[i].
func (p *splitter) scan(i, depth int) int {
	end, flaw := scan(p.s, i, MaxDepth-depth, &p.closing)
	p.failed = p.failed || flaw != NoFlaw
	return end
}

// close expects a bracket at s[i].
func (p *splitter) close(i int, bracket byte) int {
	p.failed = p.failed || p.at(i) != bracket
	return i + 1
}

// at is the byte at offset i, 0 past the end.
func (p *splitter) at(i int) byte {
	if i < len(p.s) {
		return p.s[i]
	}
	return 0
}
