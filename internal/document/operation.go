package document

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Stage is how far an operation is, according to a document. Of several members the one with
// the last stage in this order counts.
type Stage uint8

// The stages.
const (
	Unknown Stage = iota
	Done
	Odd  // final in some APIs, and in others not
	Open // surely not final
	Failed
)

// A Statement is what a member of a document says about its operation.
type Statement struct {
	Stage Stage
	Path  string // ".state"
	Raw   string // its value, as JSON
}

// Final returns a condition that may name the final state: the state itself if it is a number.
func (s Statement) Final() string {
	switch {
	case s.Raw[0] == '{':
		return s.Path + `.NAME=="..."`
	case strings.ContainsAny(s.Raw[:1], `"n`):
		return s.Path + `=="..."`
	}
	return s.Path + "==" + s.Raw
}

// A Report is what a document says about its operation. Sign says that it is not done, where State
// is unknown; Wrong, that something failed; Aside, that something failed in an object that may be about
// anything. Other is a state in such an object, or too deep to count. Result is the state of the result in its envelope.
// IsResult is true if the document may be the result of an operation. It is false for an empty object or list, and
// if a member may report that the operation is running or has failed.
type Report struct {
	State, Sign, Wrong, Aside, Other, Result Statement
	IsResult                                 bool
}

// Read returns what the document of an answer with a status code says about its operation: at the top
// level or in one envelope. A deeper state, or a state in any other object, never reports success. A
// text without JSON is a state if the text is one known word.
func Read(text []byte, code int) Report {
	text = bytes.TrimSpace(text)
	isJSON := json.Valid(text)
	if isJSON && bytes.ContainsAny(text[:1], "{[") {
		r := reading{code: strconv.Itoa(code)}
		r.value(text, "", 0, top)
		isEmpty := len(bytes.Join(bytes.Fields(text), nil)) == 2
		return Report{r.state(), r.first(sign), r.first(wrong), r.said[other][wrong], cmp.Or(r.said[deeper][state], r.said[other][state]),
			r.said[inner][state], !isEmpty && r.said[top][doubt].Path == ""}
	}
	if len(text) == 0 { // without making the vocabulary, as for most commands
		return Report{}
	}
	path := "$body"
	if isJSON {
		path = "."
	}
	if stage := stageOf(string(text)); stage != Odd {
		return Report{State: Statement{stage, path, strconv.Quote(string(bytes.Trim(text, `"`)))}}
	}
	return Report{}
}

// A kind is what a statement is about.
type kind string

const (
	state     kind = "state"     // the operation
	sign      kind = "sign"      // it is not done yet
	wrong     kind = "wrong"     // something failed
	odd       kind = "odd"       // a result that may be a failure
	operation kind = "operation" // there is an envelope with the operation
	doubt     kind = "doubt"     // the document may not be a result
)

// A level is where a statement stands.
type level uint8

const (
	top    level = iota // in the document itself
	inner               // in an envelope
	deeper              // in an envelope in an envelope
	other               // in an object that is no known envelope, and may be about anything
	levels
)

// within is the level of what an envelope holds.
func (at level) within() level {
	if at == other {
		return other
	}
	return min(at+1, deeper)
}

// A reading collects what a document says: of each kind and level the statement with the last stage,
// and of several such the first.
type reading struct {
	code string // of the answer
	part bool   // it is about an object such as .status
	said [levels]map[kind]Statement
}

func (r *reading) note(at level, k kind, s Statement) {
	if r.said[at] == nil {
		r.said[at] = make(map[kind]Statement)
	}
	if s.Stage > r.said[at][k].Stage {
		r.said[at][k] = s
	}
}

// maxNesting is how many objects and lists are opened, one in another.
const maxNesting = 3

// value collects what the members of a value say, or those of the elements of a list.
func (r *reading) value(raw []byte, path string, depth int, at level) {
	if depth > maxNesting {
		return
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) == nil {
		for i, item := range items {
			r.value(item, fmt.Sprintf("%s[%d]", cmp.Or(path, "."), i), depth+1, at)
		}
		return
	}
	members := membersOf(raw)
	for _, m := range members {
		m.path = path + "." + m.name
		r.member(at, m)
		if depth < 2 && !strings.HasPrefix(path, ".[") && m.isDoubtful() {
			r.note(top, doubt, Statement{Open, m.path, string(m.raw)})
		}
		key := flattened(m.name)
		envelope := cmp.Or(vocabulary().around[key], vocabulary().around[strings.TrimSuffix(key, "s")])
		if envelope == "operation" {
			r.note(at, operation, Statement{Stage: Open})
		}
		switch {
		case envelope != "":
			r.value(m.raw, m.path, depth+1, at.within())
		case m.raw[0] == '{' && len(members) <= 100: // more than that are a table of past operations
			r.value(m.raw, m.path, depth+1, other)
		}
	}
}

// member collects the statements of a member. An object such as .status has the state that stands in it. A state
// that repeats the status code, or is "ok", is about the response and not about the operation.
func (r *reading) member(at level, m member) {
	stage := stageOf(string(m.raw))
	for _, row := range vocabulary().rows(m.name) {
		isOfResponse := row.kind == state && slices.Contains([]string{r.code, "ok"}, flattened(string(m.raw)))
		if isOfResponse || !row.isFor(string(m.raw), stage) {
			continue
		}
		own := reading{code: r.code, part: true}
		if row.kind == state && !r.part {
			own.value(m.raw, m.path, maxNesting, top)
		}
		r.note(at, wrong, own.first(wrong))
		r.note(at, row.kind, cmp.Or(own.state(), Statement{cmp.Or(row.stage, stage), m.path, string(m.raw)}))
	}
}

// first returns the outermost statement of a kind in the envelopes.
func (r *reading) first(k kind) Statement {
	return cmp.Or(r.said[top][k], r.said[inner][k], r.said[deeper][k])
}

// state returns the state of the operation: of the outermost object whose state is not done, else
// of the innermost.
func (r *reading) state() (s Statement) {
	in := top
	for at := top; at <= deeper && s.Stage <= Done; at++ {
		next := r.said[at][state]
		if next.Stage == Done {
			next = cmp.Or(r.said[at][odd], next)
		}
		isTooDeep := at == deeper && next.Stage == Done && s.Stage == Unknown
		if next.Stage != Unknown && !isTooDeep && !s.outlives(next) {
			s, in = next, at
		}
	}
	// A "success" next to an operation may be about the response.
	if s.isReply() && (r.first(sign).Stage > 0 || r.said[in][operation].Stage > 0) {
		s = Statement{}
	}
	// In any other object a state counts if nothing else says more than that the reply is fine.
	if other := r.said[other][state]; other.Stage >= Open && (s.Stage == Unknown || s.isReply()) {
		s = other
	}
	return s
}

// outlives reports whether an operation is done, whatever the state of an object in its response: a done of true holds.
func (s Statement) outlives(in Statement) bool {
	isDone := s.Raw == "true" && strings.HasSuffix(s.Path, ".done")
	return isDone && strings.Contains(in.Path, ".response.") && in.Stage > Done && in.Stage < Failed
}

// isReply reports whether a statement may be about the answer rather than the operation.
func (s Statement) isReply() bool {
	return s.Stage == Done && flattened(s.Raw) == "success"
}

//go:embed operation.txt
var operationText string

// words are what operation.txt says of words, of members and of what is around, each by its flattened
// name.
type words struct {
	word    map[string]Stage
	members map[string][]row
	around  map[string]string
}

// A row is what a member says if its value meets a test; the value says the stage if the row does not.
type row struct {
	test  string
	kind  kind
	stage Stage
}

var vocabulary = sync.OnceValue(func() *words {
	stages := map[string]Stage{"done": Done, "open": Open, "failed": Failed}
	v := &words{map[string]Stage{}, map[string][]row{}, map[string]string{}}
	for line := range strings.Lines(operationText) {
		head, names, _ := strings.Cut(line, ": ")
		heads := append(strings.Fields(head), "", "", "", "")
		for _, name := range strings.Fields(names) {
			switch heads[0] {
			case "word":
				v.word[name] = stages[heads[1]]
			case "member":
				v.members[name] = append(v.members[name], row{heads[1], kind(heads[2]), stages[heads[3]]})
			case "around":
				v.around[name] = heads[1]
			}
		}
	}
	return v
})

// rows returns the rows for a member.
func (v *words) rows(name string) []row {
	return v.members[strings.TrimPrefix(flattened(name), "is")]
}

// maxWord is the length of the longest text that is read as a word.
const maxWord = 240

// stageOf returns the stage that a text means. A value that is none is odd.
func stageOf(text string) Stage {
	if len(text) <= maxWord && !strings.ContainsAny(text, "{[") {
		return cmp.Or(vocabulary().word[flattened(text)], Odd)
	}
	return Odd
}

// oddWord matches a word. Other texts, such as a URL, are what came of an operation.
var oddWord = pattern(`^"[\pL_-]+"$`)

// isFor reports whether a row is for a value of some stage.
func (r row) isFor(raw string, stage Stage) bool {
	switch r.test {
	case "any":
		return true
	case "value":
		return raw != "true" && raw != "false"
	case "unfinished":
		return stage != Done
	case "some":
		isNone := slices.Contains([]string{"none", "noerror", "noerrors"}, flattened(raw))
		return hasContent(raw) && !isNone && stage != Done // an errorCode may be OK
	case "open":
		return stage == Open
	case "failed":
		return stage == Failed
	case "odd":
		isNone := slices.Contains([]string{"neutral", "skipped"}, flattened(raw))
		return stage == Odd && !isNone && oddWord().MatchString(raw)
	case "below100":
		n, err := strconv.ParseFloat(strings.Trim(raw, `"%`), 64)
		return err == nil && n < 100
	}
	return raw == r.test
}
