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

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/internal/words"
)

// A Stage is the progress of an operation: unknown, done, running or failed. If several members of a document report
// a stage, the greatest stage counts, in the order of the constants.
type Stage uint8

// The stages.
const (
	Unknown Stage = iota
	Done
	Odd  // a word that is unknown, or that means the end only in some APIs
	Open // the operation is still running
	Failed
)

// A Statement is a member of a document that reports the progress of an operation. The zero value means that there is
// no such member.
type Statement struct {
	Stage Stage
	Path  string // path of the member, such as ".state"
	Raw   string // value of the member, as JSON
}

// String returns s as text, such as `.state is "running"`.
func (s Statement) String() string { return s.Path + " is " + words.Excerpt([]byte(s.Raw)) }

// Final returns a condition for the final state, such as `.state=="..."`, for the user to complete. A value that is a
// number, a boolean or a list stays in the condition. For an object, the condition is about a member of that object.
// s must not be the zero Statement.
func (s Statement) Final() string {
	switch {
	case s.Raw[0] == '{':
		return s.Path + `.NAME=="..."`
	case strings.ContainsAny(s.Raw[:1], `"n`):
		return s.Path + `=="..."`
	}
	return s.Path + "==" + s.Raw
}

// A Report holds the statements of a document about an operation:
//
//   - State is the state of the operation.
//   - Sign reports that the operation is not done. It counts only if State is unknown.
//   - Wrong reports a failure.
//   - Other is a state in an object that may describe something else, or in an envelope that is nested too deeply.
//
// An envelope is an object around the operation, such as .data. IsResult is true if the document may be the
// result of an operation: it is an object or a list that is not empty, and no member may report an unfinished
// or failed operation.
type Report struct {
	State, Sign, Wrong, Other Statement
	IsResult                  bool
}

// readReport returns the report in text, the document of a response or the output of a command. The parameter code is
// the status code of the response, or nil. States count at the top level and in one envelope. A state that is nested
// more deeply, or that is in any other object, never means success. If text is only a word, with or without quotes, the
// word is the state, as long as its meaning is known. For any other text, the report is the zero Report.
func readReport(text []byte, code *int) Report {
	text = bytes.TrimSpace(text)
	isJSON := json.Valid(text)
	if isJSON && bytes.ContainsAny(text[:1], "{[") {
		r := reading{code: "0"}
		if code != nil {
			r.code = strconv.Itoa(*code)
		}
		r.readValue(string(text), "", 0, top)
		isEmpty := len(bytes.Join(bytes.Fields(text), nil)) == 2
		return Report{r.state(), r.outermost(sign), r.outermost(wrong), cmp.Or(r.statements[deeper][state], r.statements[other][state]),
			!isEmpty && r.statements[top][doubt].Path == ""}
	}
	if len(text) == 0 { // most commands print nothing, and then need no vocabulary
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

// A kind is the type of a statement. The file operation.txt uses the same names.
type kind string

const (
	state     kind = "state"     // the operation is in this state
	sign      kind = "sign"      // the operation is not done yet
	wrong     kind = "wrong"     // something failed
	odd       kind = "odd"       // the outcome of a finished operation may be a failure
	operation kind = "operation" // the document has an envelope around the operation
	doubt     kind = "doubt"     // the document may not be the result of the operation
)

// A level is the place of a statement in the document.
type level uint8

const (
	top    level = iota // in the document itself
	inner               // in an envelope, such as .data or .job
	deeper              // in an envelope inside another envelope
	other               // in an object that is not a known envelope, and so may describe anything
	levels
)

// within returns the level of the members of an envelope whose own level is at.
func (at level) within() level {
	if at == other {
		return other
	}
	return min(at+1, deeper)
}

// A reading collects the statements of a document. For each kind and level, it keeps the statement with the greatest
// stage. If several statements have that stage, it keeps the first.
type reading struct {
	code       string // the status code in decimal, or "0"
	part       bool   // the reading is only about the object in a member such as .status
	statements [levels]map[kind]Statement
}

// add keeps s for the kind k and the level at, if the stage of s is greater than the stage of the statement
// kept so far. It therefore never keeps the zero Statement.
func (r *reading) add(at level, k kind, s Statement) {
	if r.statements[at] == nil {
		r.statements[at] = make(map[kind]Statement)
	}
	if s.Stage > r.statements[at][k].Stage {
		r.statements[at][k] = s
	}
}

// maxNesting is the greatest depth of objects and lists that are read. The document itself has the depth 0.
const maxNesting = 3

// maxList is the length in bytes of the longest list that is read as the value of a member. A longer list is
// skipped, because reading it takes long.
const maxList = 16 << 10

// readValue collects the statements of raw, an object or a list. It does nothing for any other value. path is the path of
// raw, or "" for the document itself. depth is the nesting depth of raw, and at is its level.
func (r *reading) readValue(raw string, path string, depth int, at level) {
	if depth > maxNesting {
		return
	}
	if list := gjson.Parse(raw); list.IsArray() {
		for i, item := range list.Array() {
			r.readValue(item.Raw, fmt.Sprintf("%s[%d]", cmp.Or(path, "."), i), depth+1, at)
		}
		return
	}
	members := membersOf(raw)
	for _, m := range members {
		m.path = path + "." + m.name
		r.readMember(at, m)
		if depth < 2 && !strings.HasPrefix(path, ".[") && m.isDoubtful() {
			r.add(top, doubt, Statement{Open, m.path, m.raw})
		}
		key := normalized(m.name)
		envelope := cmp.Or(vocabulary().around[key], vocabulary().around[strings.TrimSuffix(key, "s")])
		if envelope == "operation" {
			r.add(at, operation, Statement{Stage: Open})
		}
		switch {
		case envelope != "":
			r.readValue(m.raw, m.path, depth+1, at.within())
		case m.raw[0] == '{' && len(members) <= 100: // a larger object is probably a table of earlier operations
			r.readValue(m.raw, m.path, depth+1, other)
		case m.raw[0] == '[' && len(m.raw) <= maxList:
			list := reading{code: r.code}
			list.readValue(m.raw, m.path, depth+1, top)
			if s := list.state(); s.Stage >= Open { // a failed element need not mean that the operation has failed
				r.add(at, sign, Statement{Open, s.Path, s.Raw})
			}
		}
	}
}

// readMember collects the statements of m, a member whose level is at. If the state is an object, as in
// .status.phase, the state comes from the members of that object. A state that is "ok", or equal to the code of
// the response, is ignored, because it describes the response instead of the operation.
func (r *reading) readMember(at level, m member) {
	stage := stageOf(m.raw)
	for _, row := range vocabulary().rows(m.name) {
		isOfResponse := row.kind == state && slices.Contains([]string{r.code, "ok"}, normalized(m.raw))
		if isOfResponse || !row.appliesTo(m.raw, stage) {
			continue
		}
		own := reading{code: r.code, part: true}
		if row.kind == state && !r.part {
			own.readValue(m.raw, m.path, maxNesting, top)
		}
		r.add(at, wrong, own.outermost(wrong))
		r.add(at, row.kind, cmp.Or(own.state(), Statement{cmp.Or(row.stage, stage), m.path, m.raw}))
	}
}

// outermost returns the outermost statement of kind k, at the top level or in an envelope. It returns the zero
// Statement if there is no such statement.
func (r *reading) outermost(k kind) Statement {
	return cmp.Or(r.statements[top][k], r.statements[inner][k], r.statements[deeper][k])
}

// state returns the state of the operation. If nested objects each have a state, it is the outermost state that is
// not done, or the innermost state if all of them are done. A done state does not count if it is only in an envelope
// inside an envelope.
func (r *reading) state() (s Statement) {
	in := top
	for at := top; at <= deeper && s.Stage <= Done; at++ {
		next := r.statements[at][state]
		if next.Stage == Done {
			next = cmp.Or(r.statements[at][odd], next)
		}
		isTooDeep := at == deeper && next.Stage == Done && s.Stage == Unknown
		if next.Stage != Unknown && !isTooDeep && !s.outlives(next) {
			s, in = next, at
		}
	}
	// A "success" next to an operation may describe the response, and not the operation.
	if s.isReply() && (r.outermost(sign).Stage > 0 || r.statements[in][operation].Stage > 0) {
		s = Statement{}
	}
	// A state in any other object counts if the rest of the document only reports that the response succeeded.
	if other := r.statements[other][state]; other.Stage >= Open && (s.Stage == Unknown || s.isReply()) {
		s = other
	}
	return s
}

// outlives reports whether s remains the state of the operation although the document has another state, the parameter
// "in". This is the case if s is a member .done that is true, and "in" is an unfinished state in .response: a resource
// may have a state of its own.
func (s Statement) outlives(in Statement) bool {
	isDone := s.Raw == "true" && strings.HasSuffix(s.Path, ".done")
	return isDone && strings.Contains(in.Path, ".response.") && in.Stage > Done && in.Stage < Failed
}

// isReply reports whether s may describe the response rather than the operation, because it is the word "success".
func (s Statement) isReply() bool {
	return s.Stage == Done && normalized(s.Raw) == "success"
}

//go:embed operation.txt
var operationText string

// A glossary is the content of operation.txt: the stages of words, the rows for members, and the kinds of envelopes.
// The keys of the maps are spelled as normalized returns them.
type glossary struct {
	word    map[string]Stage
	members map[string][]row
	around  map[string]string
}

// A row is a line of operation.txt. It applies to a member with one of certain names if the value of the member passes
// test. The statement of the member then has the stage of the row. If the stage of the row is Unknown, the statement
// has the stage that the value denotes.
type row struct {
	test  string
	kind  kind
	stage Stage
}

// vocabulary returns the content of operation.txt. The file is parsed on the first call.
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

// rows returns the rows for members called name. It ignores case, punctuation, and "is" at the start of name.
func (v *glossary) rows(name string) []row {
	return v.members[strings.TrimPrefix(normalized(name), "is")]
}

// maxWord is the length of the longest text that may be a word of the vocabulary, in bytes.
const maxWord = 240

// stageOf returns the stage that text denotes. It returns Odd if the vocabulary does not contain text.
func stageOf(text string) Stage {
	if len(text) <= maxWord && !strings.ContainsAny(text, "{[") {
		return cmp.Or(vocabulary().word[normalized(text)], Odd)
	}
	return Odd
}

// oddWord matches a JSON string that is a single word. Any other string, such as a URL, is a result of the operation.
var oddWord = words.Pattern(`^"[\pL_-]+"$`)

// appliesTo reports whether raw, the JSON of a value, passes the test of r. stage is the stage that raw denotes. A
// test that is not the name of a case below is the expected value, such as "true". The value passes such a test if raw
// is equal to the test. Unless r.stage is Done, the value also passes if the normalized form of raw is equal to the
// test.
func (r row) appliesTo(raw string, stage Stage) bool {
	switch r.test {
	case "any":
		return true
	case "value":
		return raw != "true" && raw != "false"
	case "unfinished":
		return stage != Done
	case "some":
		isNone := slices.Contains([]string{"none", "noerror", "noerrors"}, normalized(raw))
		return hasContent(raw) && !isNone && stage != Done // for example, errorCode may be "OK"
	case "open":
		return stage == Open
	case "failed":
		return stage == Failed
	case "odd":
		isNone := slices.Contains([]string{"neutral", "skipped"}, normalized(raw))
		return stage == Odd && !isNone && oddWord().MatchString(raw)
	case "count", "below100", "partly":
		n, err := strconv.ParseFloat(strings.Trim(raw, `"%`), 64)
		isBelow := n < 100 && (n > 1 || r.test == "below100") // 1 may mean 100%
		isCount := r.test == "count" && n < 1e9               // a greater number is the time of the end, in seconds or milliseconds
		return err == nil && (isBelow && r.test != "count" || isCount)
	}
	return raw == r.test || r.stage != Done && normalized(raw) == r.test // the string "False" may stand for false, but the string "true" does not prove that the operation is done
}

// isDoubtful reports whether m casts doubt on a document that seems to be the result of an operation. If the name of
// m means a status code, a number other than 0 and 200 to 299 is doubtful. For any other name, a string is doubtful
// if it contains a word for an open or failed state. A string with a slash is not doubtful, because it may be a URL.
func (m member) isDoubtful() bool {
	text := m.raw
	if slices.Contains([]string{"code", "statuscode", "httpcode", "httpstatus", "httpstatuscode"}, normalized(m.name)) {
		n, err := strconv.Atoi(strings.Trim(text, `"`))
		return err == nil && n != 0 && n/100 != 2
	}
	return text[0] == '"' && !strings.Contains(text, "/") && hasDoubtfulWord(text)
}

// hasDoubtfulWord reports whether a short text is, or contains, a word for an open or failed state. The word "not"
// counts as such a word, as in "not done".
func hasDoubtfulWord(text string) bool {
	parts := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	return len(text) <= maxWord && slices.ContainsFunc(append(parts, text), func(word string) bool {
		stage := stageOf(word)
		return stage == Open || stage == Failed || strings.EqualFold(word, "not")
	})
}

// A member is a name and value in a JSON object, or a header field.
type member struct {
	name, path string
	raw        string // the value as JSON
	key        string // like path, but each name as normalized returns it, and without "X-", such as ".meta.nextpage"
	isNear     bool   // the member is at the top level of a page, in the header, or in an object such as .meta
}

// membersOf returns the members of a JSON object, ordered by name. Members with equal names keep their order. It
// returns nil if value is not an object. value must be valid JSON.
func membersOf(value string) (all []member) {
	if object := gjson.Parse(value); object.IsObject() {
		object.ForEach(func(name, value gjson.Result) bool {
			all = append(all, member{name: name.Str, raw: value.Raw})
			return true
		})
	}
	slices.SortStableFunc(all, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return all
}

// urlMember matches the name of a member, a space and the member's raw value, if the name means a URL and the value
// is a URL or an absolute path.
var urlMember = words.Pattern(`^(?:[A-Za-z_]\w*)?(?i:url|uri|href|link|location|self|monitor|status) "(?:https?://|/)`)

// otherURL matches the path of a member whose URL is not the URL of an operation. Examples are a web page for people,
// an image, and the callback for a notification.
var otherURL = words.Pattern(`(?i)(?:audio|avatar|callback|console|dashboard|docs?|html|image|media|video|web(?:hook)?)[._]?(?:url|uri|href|link)$`)

// urlsIn returns the paths of the members whose value is a URL, except paths that otherURL matches. It searches
// the JSON object in text. Each path is in single quotes, and starts with the parameter path. Nested objects
// are read, too, up to three levels deep.
func urlsIn(text, path string) (paths []string) {
	for _, m := range membersOf(text) {
		at := path + "." + m.name
		if isURL := urlMember().MatchString(m.name + " " + m.raw); isURL && !otherURL().MatchString(at) {
			paths = append(paths, "'"+at+"'")
		} else if !isURL && strings.Count(path, ".") < 3 {
			paths = append(paths, urlsIn(m.raw, at)...)
		}
	}
	return paths
}

// idMember matches the name of a member, a space and the member's raw value, if the member holds the identifier of an
// operation.
var idMember = words.Pattern(`^(?i:(?:(?:build|job|operation|request|run|task)_?)?(?:id|uuid)) ["\d]`)

// idIn returns the path of the member that holds the identifier of an operation, such as ".job_id". If there are
// several such members, idIn prefers ".id", and otherwise the last in alphabetical order. It returns "" if there is
// no such member.
func idIn(object string) (path string) {
	for _, m := range membersOf(object) {
		if idMember().MatchString(m.name+" "+m.raw) && !strings.EqualFold(path, ".id") {
			path = "." + m.name
		}
	}
	return path
}

// hasContent reports whether the JSON value raw is more than a placeholder. It returns false for null, false, "", [],
// for zero (also as a string), and for an object whose members all have no content.
func hasContent(raw string) bool {
	if raw[0] == '{' {
		return slices.ContainsFunc(membersOf(raw), func(m member) bool { return hasContent(m.raw) })
	}
	n, err := strconv.ParseFloat(strings.Trim(raw, `"`), 64)
	return !slices.Contains([]string{"null", "false", `""`, "[]"}, strings.Join(strings.Fields(raw), "")) && (err != nil || n != 0)
}

// normalized returns the letters and digits of s in lower case, so that TIMED_OUT and timedOut are equal.
func normalized(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
