package meaning

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
	"unicode"

	"github.com/pollcli/poll/internal/words"
)

// A Stage is the progress of an operation as a document reports it. If several members report a stage, the last
// stage in the order of the constants counts.
type Stage uint8

// The stages.
const (
	Unknown Stage = iota
	Done
	Odd  // a word without a known meaning, or final only in some APIs
	Open // the operation is still running
	Failed
)

// A Statement is the information of one member about the operation. The zero value means that there is no such
// member.
type Statement struct {
	Stage Stage
	Path  string // ".state"
	Raw   string // the value of the member, as JSON
}

// String returns s as text, such as `.state is "running"`.
func (s Statement) String() string { return s.Path + " is " + words.Excerpt([]byte(s.Raw)) }

// Final returns a condition that the user may complete to name the final state, such as .state=="...". The condition
// contains a number, boolean or list unchanged. Text and null become "...", and an object
// becomes .NAME=="...". s must not be the zero Statement.
func (s Statement) Final() string {
	switch {
	case s.Raw[0] == '{':
		return s.Path + `.NAME=="..."`
	case strings.ContainsAny(s.Raw[:1], `"n`):
		return s.Path + `=="..."`
	}
	return s.Path + "==" + s.Raw
}

// A Report holds the statements of a document about its operation.
//
// State is the state of the operation. Sign reports that the operation is not done, and counts if State is
// unknown. Wrong reports that something failed. Other is a state in an object that may describe anything, or in an
// envelope too deep to count.
//
// IsResult is true if the document may be the result of an operation. It is false for an empty object or list,
// and for text that is neither an object nor a list. It is also false if a member may report that the operation
// is running or has failed.
type Report struct {
	State, Sign, Wrong, Other Statement
	IsResult                  bool
}

// read returns the statements of text, a response with the status code or exit code code. It reads a state at
// the top level or in one envelope. A deeper state, or a state in any other object, never reports success. A
// single word, with or without quotes, is the state if its meaning is known. Any other text without an object or
// a list has the zero Report.
func read(text []byte, code int) Report {
	text = bytes.TrimSpace(text)
	isJSON := json.Valid(text)
	if isJSON && bytes.ContainsAny(text[:1], "{[") {
		r := reading{code: strconv.Itoa(code)}
		r.value(text, "", 0, top)
		isEmpty := len(bytes.Join(bytes.Fields(text), nil)) == 2
		return Report{r.state(), r.first(sign), r.first(wrong), cmp.Or(r.said[deeper][state], r.said[other][state]),
			!isEmpty && r.said[top][doubt].Path == ""}
	}
	if len(text) == 0 { // most commands print nothing: do not build the vocabulary
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

// A kind is the subject of a statement, as operation.txt names it.
type kind string

const (
	state     kind = "state"     // the state of the operation
	sign      kind = "sign"      // the operation is not done yet
	wrong     kind = "wrong"     // something failed
	odd       kind = "odd"       // the outcome of a finished operation may be a failure
	operation kind = "operation" // the document has an envelope that holds the operation
	doubt     kind = "doubt"     // the document may not be a result
)

// A level is the position of a statement in the document.
type level uint8

const (
	top    level = iota // in the document itself
	inner               // in an envelope, such as .data or .job
	deeper              // in an envelope in an envelope
	other               // in an object that is not a known envelope, and may describe anything
	levels
)

// within returns the level of the content of an envelope that is at level at.
func (at level) within() level {
	if at == other {
		return other
	}
	return min(at+1, deeper)
}

// A reading collects the statements of a document. For each kind and level it keeps the statement with the last
// stage, and the first of several statements with that stage.
type reading struct {
	code string // the code of the response, in decimal
	part bool   // the reading covers only an object such as .status
	said [levels]map[kind]Statement
}

// note keeps s, unless a statement of this kind and level has the same or a later stage. The zero Statement is
// never kept.
func (r *reading) note(at level, k kind, s Statement) {
	if r.said[at] == nil {
		r.said[at] = make(map[kind]Statement)
	}
	if s.Stage > r.said[at][k].Stage {
		r.said[at][k] = s
	}
}

// maxNesting is the depth at which nested objects and lists are still read. The document has depth 0.
const maxNesting = 3

// value collects the statements of an object, or of the elements of a list. path is the path of raw, and "" for
// the document. Any other value has no statements.
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
		case m.raw[0] == '{' && len(members) <= 100: // a larger object is a table of past operations
			r.value(m.raw, m.path, depth+1, other)
		}
	}
}

// member collects the statements of m. The state of an object such as .status is the state in that object. A
// state that repeats the code of the response, or is "ok", describes the response, so member leaves it out.
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

// first returns the outermost statement of kind k at the top level and in the envelopes, or the zero Statement.
func (r *reading) first(k kind) Statement {
	return cmp.Or(r.said[top][k], r.said[inner][k], r.said[deeper][k])
}

// state returns the state of the operation. It is the state of the outermost object that is not done. If every
// object is done, it is the state of the innermost. A success in an envelope within an envelope does not count
// alone.
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
	// A "success" next to an operation may describe the response.
	if s.isReply() && (r.first(sign).Stage > 0 || r.said[in][operation].Stage > 0) {
		s = Statement{}
	}
	// A state in any other object counts if the rest of the document reports no more than a fine response.
	if other := r.said[other][state]; other.Stage >= Open && (s.Stage == Unknown || s.isReply()) {
		s = other
	}
	return s
}

// outlives reports whether s holds in spite of the statement in. A member .done that is true holds if in is an
// unfinished state in .response. That object may be a resource with its own state.
func (s Statement) outlives(in Statement) bool {
	isDone := s.Raw == "true" && strings.HasSuffix(s.Path, ".done")
	return isDone && strings.Contains(in.Path, ".response.") && in.Stage > Done && in.Stage < Failed
}

// isReply reports whether s may describe the response rather than the operation: it is the word "success".
func (s Statement) isReply() bool {
	return s.Stage == Done && flattened(s.Raw) == "success"
}

//go:embed operation.txt
var operationText string

// A glossary is the content of operation.txt: the stages of words, the rows of members, and the kinds of envelopes.
// The keys are names as flattened returns them.
type glossary struct {
	word    map[string]Stage
	members map[string][]row
	around  map[string]string
}

// A row is a line of operation.txt about a member. It applies if the value of the member meets test. Its stage
// is stage, or the stage of the value if stage is Unknown.
type row struct {
	test  string
	kind  kind
	stage Stage
}

// vocabulary returns the content of operation.txt, parsed at the first call.
var vocabulary = sync.OnceValue(func() *glossary {
	stages := map[string]Stage{"done": Done, "open": Open, "failed": Failed}
	v := &glossary{map[string]Stage{}, map[string][]row{}, map[string]string{}}
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

// rows returns the rows for members called name, with or without a leading "is".
func (v *glossary) rows(name string) []row {
	return v.members[strings.TrimPrefix(flattened(name), "is")]
}

// maxWord is the length in bytes of the longest text that may be a word.
const maxWord = 240

// stageOf returns the stage that text means. It returns Odd for a text that is not a known word.
func stageOf(text string) Stage {
	if len(text) <= maxWord && !strings.ContainsAny(text, "{[") {
		return cmp.Or(vocabulary().word[flattened(text)], Odd)
	}
	return Odd
}

// oddWord matches a JSON string that is one word. Other strings, such as a URL, are a result of the operation.
var oddWord = words.Pattern(`^"[\pL_-]+"$`)

// isFor reports whether the value raw, which means stage, meets the test of the row. A test without a case below
// is the value itself.
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
		return hasContent(raw) && !isNone && stage != Done // a member errorCode may be "OK"
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

// isDoubtful reports whether m makes it doubtful that a document is the result of an operation. A member with
// the name of a status code is doubtful if its number is neither 0 nor from 200 to 299. Any other member is
// doubtful if its value is a string with a word for an open or failed state. A string with a slash is not
// doubtful, since it may be a URL.
func (m member) isDoubtful() bool {
	text := string(m.raw)
	if slices.Contains([]string{"code", "statuscode", "httpcode", "httpstatus", "httpstatuscode"}, flattened(m.name)) {
		n, err := strconv.Atoi(strings.Trim(text, `"`))
		return err == nil && n != 0 && n/100 != 2
	}
	isURL := strings.Contains(text, "/")
	parts := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	return text[0] == '"' && len(text) <= maxWord && !isURL && slices.ContainsFunc(append(parts, text), func(word string) bool {
		stage := stageOf(word)
		return stage == Open || stage == Failed
	})
}

// A member is a name of a JSON object with its value, or a header field.
type member struct {
	name, path string
	raw        json.RawMessage
	key        string // the path of names as flattened returns them, without X-: ".meta.nextpage"
	isNear     bool   // at the top level of a page, in its header, or in an object such as .meta
}

// membersOf returns the members of the JSON object, ordered by name. It keeps members with equal names, in the
// order of the object. It returns nil for any other value.
func membersOf(object []byte) (all []member) {
	d := json.NewDecoder(bytes.NewReader(object))
	if begin, _ := d.Token(); begin != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, _ := d.Token()
		m := member{}
		if m.name, _ = name.(string); d.Decode(&m.raw) != nil {
			return nil
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return all
}

// urlMember matches the name of a member, a space and its raw value, if the name means a URL and the value is a
// URL or an absolute path.
var urlMember = words.Pattern(`^(?:[A-Za-z_]\w*)?(?i:url|uri|href|link|location|self|monitor|status) "(?:https?://|/)`)

// otherURL matches the path of a member whose URL leads to a page for people, an input or a notification.
var otherURL = words.Pattern(`(?i)(?:audio|avatar|callback|console|dashboard|docs?|html|image|media|video|web(?:hook)?)[._]?(?:url|uri|href|link)$`)

// urlsIn returns the paths of the members of text that hold a URL, each in single quotes and starting with path.
// It reads the document and three levels of objects below. URLs that otherURL matches are left out.
func urlsIn(text []byte, path string) (paths []string) {
	for _, m := range membersOf(text) {
		at := path + "." + m.name
		if isURL := urlMember().MatchString(m.name + " " + string(m.raw)); isURL && !otherURL().MatchString(at) {
			paths = append(paths, "'"+at+"'")
		} else if !isURL && strings.Count(path, ".") < 3 {
			paths = append(paths, urlsIn(m.raw, at)...)
		}
	}
	return paths
}

// idMember matches the name of a member, a space and its raw value, if the member holds the identifier of an
// operation.
var idMember = words.Pattern(`^(?i:(?:(?:build|job|operation|request|run|task)_?)?(?:id|uuid)) ["\d]`)

// idIn returns the path of the member of object that holds the identifier of an operation. It prefers ".id" and
// otherwise takes the last name in alphabetical order, such as ".job_id". It returns "" without such a member.
func idIn(object []byte) (path string) {
	for _, m := range membersOf(object) {
		if idMember().MatchString(m.name+" "+string(m.raw)) && !strings.EqualFold(path, ".id") {
			path = "." + m.name
		}
	}
	return path
}

// hasContent reports whether the JSON value raw holds anything. These values do not: null, false, "", [], zero
// (also as a string), and an object whose members hold nothing.
func hasContent(raw string) bool {
	if raw[0] == '{' {
		return slices.ContainsFunc(membersOf([]byte(raw)), func(m member) bool { return hasContent(string(m.raw)) })
	}
	n, err := strconv.ParseFloat(strings.Trim(raw, `"`), 64)
	return !slices.Contains([]string{"null", "false", `""`, "[]"}, strings.Join(strings.Fields(raw), "")) && (err != nil || n != 0)
}

// flattened returns the letters and digits of s in lower case.
func flattened(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
