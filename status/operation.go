package status

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/pollcli/poll/status/expr"
)

// A stage is how far an operation is, according to a document. If several members tell,
// the last stage in this order counts.
type stage uint8

const (
	stageUnknown stage = iota
	stageDone
	stageOdd  // a state that is final in some APIs, and in others not
	stageOpen // surely not final
	stageFailed
)

// A statement is what a member of a document says about its operation.
type statement struct {
	stage stage
	path  string // ".state"
	raw   string // JSON
	// kind is one of: state; sign (not done yet); wrong (something failed); odd (a result that may
	// be a failure); operation (an enclosing object).
	kind  string
	depth int  // of the object that has the member
	known bool // whether all objects around it are known to be about the operation
}

func (s statement) String() string { return s.path + " is " + excerpt([]byte(s.raw)) }

// A report is all that a document says about its operation.
type report struct{ state, sign, wrong statement }

// Statement returns what the document of a good HTTP answer says about the
// operation, such as `.state is "running"`; "" if nothing.
func (o *Observation) Statement() string {
	if o.Good() && o.Code != nil {
		if s := o.reported().state; s.stage != stageUnknown {
			return s.String()
		}
	}
	return ""
}

// followed judges a good answer from a URL that was followed, if no rule says what is
// final. Many APIs answer there with the operation itself, done or not: what the document
// says decides.
func (r Rules) followed(o *Observation) Verdict {
	env, said := Environment(o), o.reported()
	s := said.state
	isFlag := s.raw == "true" || s.raw == "false"
	switch {
	case s.stage == stageUnknown && said.sign.stage != stageUnknown:
		return Verdict{Status: NotReady, Reason: said.sign.String()}
	case s.stage == stageUnknown:
		return r.unstated(o, env, said.wrong)
	case s.stage == stageFailed:
		return Verdict{Status: Error, Reason: withDetail(s.String(), env)}
	case s.stage == stageDone && said.wrong.stage != stageUnknown:
		return Verdict{Status: Error, Reason: withDetail(s.String(), env, said.wrong)}
	case s.stage == stageDone, s.stage == stageOdd && o.Following.Monitor != MonitorAzure && r.readsNotReady():
		return Verdict{Status: Success, Reason: s.String()}
	case s.stage == stageOpen && isFlag:
		return Verdict{Status: NotReady, Reason: s.String()}
	}
	return Verdict{Status: NotReady, Reason: s.String() + ", which is no known final state: a condition can say what is",
		Advice: Advice{Code: AdviceFinalStates, Path: s.path}}
}

// unstated judges a document that does not say how the operation is. What was created, or
// what a 303 led to, is the result then, unless something speaks against that: the page of a
// server under maintenance has no state either. A status document has to say it.
func (r Rules) unstated(o *Observation, env *expr.Env, wrong statement) Verdict {
	words, earlier := o.answer(), o.Following.Earlier
	text := bytes.TrimSpace(env.Doc.Bytes())
	isJSON, created := json.Valid(text), o.Following.Monitor == MonitorCreated
	isPage := strings.Contains(strings.ToLower(o.Header.Get("Content-Type")), "html") // which was asked for
	isText := !isJSON && len(text) > 0 && !strings.ContainsRune(`{["`, rune(text[0])) && (text[0] != '<' || isPage)
	isWrong := isJSON && wrong.stage != stageUnknown
	switch {
	case o.Following.Monitor == MonitorAzure:
		return r.undecided(words + ", which does not say whether the operation is done: a condition can")
	case isWrong && earlier == "":
		return Verdict{Status: Error, Reason: withDetail(words, env, wrong)}
	case earlier != "" && (isWrong || !isJSON || !r.readsNotReady()):
		return r.undecided(words + " without a state, and before it " + earlier + ": a condition can say what is final")
	case isText, len(text) == 0 && *o.Code == http.StatusNoContent:
		return Verdict{Status: Success, Reason: words}
	case !isJSON, string(text) == "null", string(text) == "false":
		return r.undecided(words + " without a document of the operation: a condition can say that it is the end")
	case created, r.readsNotReady():
		return Verdict{Status: Success, Reason: words,
			Notes: []string{"the document says no state, and is taken for the result: a condition can say when it is done"}}
	}
	v := r.undecided(words + " without a state: a condition can say when it is done")
	v.Advice.Code = AdviceDone
	return v
}

// readsNotReady reports whether a rule of the user says which documents mean that the
// operation is not done.
func (r Rules) readsNotReady() bool {
	return slices.ContainsFunc(r.Own, func(rule Rule) bool { return rule.Status == NotReady && rule.Expr.Reads(".") })
}

// withDetail adds what the document says went wrong, in its words if it has some.
func withDetail(words string, env *expr.Env, wrong ...statement) string {
	if detail := firstText(errorDetail(), env); detail != "" {
		return words + ": " + detail
	}
	for _, s := range wrong {
		words += ", but " + s.String()
	}
	return words
}

// errorDetail say what went wrong.
var errorDetail = sync.OnceValue(func() (values []*expr.Expr) {
	for _, source := range strings.Fields(".error.message .error .error.code " +
		".errors[0].message .errors[0].title .errors[0] .fault.faultstring .exception .message") {
		x, _ := expr.CompileValue(source)
		values = append(values, x)
	}
	return values
})

// reported returns what the document of an answer says about its operation. A text without
// JSON says it by the one word that it is.
func (o *Observation) reported() report {
	text, code := bytes.TrimSpace(Environment(o).Doc.Bytes()), 0
	if o.Code != nil {
		code = *o.Code
	}
	if json.Valid(text) && bytes.ContainsAny(text[:1], "{[") {
		all := known().statements(statement{raw: string(text), known: true}, code)
		slices.SortStableFunc(all, func(a, b statement) int { return a.depth - b.depth })
		return report{stateOf(all), last(all, "sign", true, -1), last(all, "wrong", true, -1)}
	}
	if len(text) == 0 { // without making the vocabulary, as for most commands
		return report{}
	}
	path := "$body"
	if json.Valid(text) {
		path = "."
	}
	if stage := known().stageOf(text); stage != stageOdd {
		return report{state: statement{stage: stage, path: path, raw: strconv.Quote(excerpt(bytes.Trim(text, `"`)))}}
	}
	return report{}
}

// last returns the statement of that kind with the highest stage; a negative depth means any depth.
// The first statement wins a tie.
func last(all []statement, kind string, known bool, depth int) (s statement) {
	for _, t := range all {
		if t.kind == kind && t.known == known && (depth < 0 || t.depth == depth) && t.stage > s.stage {
			s = t
		}
	}
	return s
}

// stateOf returns the state of the operation: of the outermost object whose state is not done, else
// of the innermost.
func stateOf(all []statement) (s statement) {
	for depth := 0; len(all) > 0 && depth <= all[len(all)-1].depth && s.stage <= stageDone; depth++ {
		inner := last(all, "state", true, depth)
		if odd := last(all, "odd", true, depth); inner.stage == stageDone && odd.stage > 0 {
			inner = odd
		}
		// What has come of an operation that is done, such as a server, may live on in a state
		// that is not final. A done of true holds whatever goes on in the response beside it.
		ended := s.raw == "true" && strings.HasSuffix(s.path, ".done") && strings.Contains(inner.path, ".response.")
		livesOn := s.stage == stageDone && !s.isReply() && (inner.stage == stageOdd || ended && inner.stage == stageOpen)
		if inner.stage > 0 && !livesOn {
			s = inner
		}
	}
	// An "ok" beside an operation may be about the answer, and says nothing of the operation.
	if s.isReply() && last(all, "sign", true, -1).stage+last(all, "operation", true, s.depth).stage > 0 {
		s = statement{}
	}
	// An object that is no known envelope may be about anything: its state counts if nothing
	// else says more than that the reply is fine.
	if other := last(all, "state", false, -1); other.stage >= stageOpen && (s.stage == 0 || s.isReply()) {
		s = other
	}
	return s
}

// isReply reports whether a statement may be about the answer rather than the operation.
func (s statement) isReply() bool {
	return s.stage == stageDone && slices.Contains([]string{"ok", "success"}, flattened(s.raw))
}

// maxNesting is how many objects are opened, one in another: as in JSON:API, whose
// operation is in .data.attributes.
const maxNesting = 3

// statements returns what the members of a value say. A code is that of the answer.
func (v vocabulary) statements(value statement, code int) (all []statement) {
	if value.depth > maxNesting {
		return nil
	}
	var items []json.RawMessage
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(value.raw), &items) != nil {
		json.Unmarshal([]byte(value.raw), &members)
	}
	for i, item := range items {
		path := fmt.Sprintf("%s[%d]", cmp.Or(value.path, "."), i)
		all = append(all, v.statements(statement{path: path, raw: string(item), depth: value.depth + 1, known: value.known}, code)...)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		member := statement{path: value.path + "." + name, raw: string(members[name]), depth: value.depth, known: value.known}
		all = append(all, v.saidBy(name, member, code)...)
		key, kind := flattened(name), ""
		if around := slices.Concat(v["around"][key], v["around"][strings.TrimSuffix(key, "s")]); around != nil {
			kind = around[0][0]
		}
		if kind != "" || member.raw[0] == '{' && len(members) <= 100 { // more than that are a table of past operations
			all = append(all, statement{stage: stageOpen, kind: kind, depth: value.depth, known: value.known})
			member.depth, member.known = value.depth+1, value.known && kind != ""
			all = append(all, v.statements(member, code)...)
		}
	}
	return all
}

// oddWord matches a word. Other texts, such as a URL, are what came of an operation.
var oddWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^"[\pL_-]+"$`) })

//go:embed operation.txt
var operationText string

// A vocabulary is what operation.txt says of words, of members and of what is around, each by
// its flattened name.
type vocabulary map[string]map[string][][]string

var known = sync.OnceValue(func() vocabulary {
	v := vocabulary{"word": {}, "member": {}, "around": {}}
	for line := range strings.Lines(operationText) {
		head, names, _ := strings.Cut(line, ": ")
		words := strings.Fields(head)
		if len(words) == 0 || v[words[0]] == nil {
			continue // a comment
		}
		for _, name := range strings.Fields(names) {
			v[words[0]][name] = append(v[words[0]][name], words[1:])
		}
	}
	return v
})

// stageNamed returns a stage by its name in operation.txt.
func stageNamed(name string) stage {
	return map[string]stage{"done": stageDone, "open": stageOpen, "failed": stageFailed}[name]
}

// stageOf returns the stage that a text means. A value that is none means nothing known.
func (v vocabulary) stageOf(text []byte) stage {
	if len(text) <= maxLine && !bytes.ContainsAny(text, "{[") {
		if rows := v["word"][flattened(string(text))]; rows != nil {
			return stageNamed(rows[0][0])
		}
	}
	return stageOdd
}

// saidBy returns what a member says.
func (v vocabulary) saidBy(name string, member statement, code int) (said []statement) {
	key := strings.TrimPrefix(flattened(name), "is")
	rows := v["member"][key]
	for _, end := range []string{"status", "state"} {
		if rows == nil && strings.HasSuffix(key, end) {
			rows = v["member"]["*"+end]
		}
	}
	for _, row := range rows {
		s := member
		s.stage = v.stageOf([]byte(s.raw))
		isCode := row[1] == "state" && strings.Trim(s.raw, `"`) == strconv.Itoa(code) // it repeats that of the answer
		if !v.meets(row[0], s) || isCode {
			continue
		}
		if s.kind = row[1]; len(row) > 2 {
			s.stage = stageNamed(row[2])
		}
		said = append(said, s)
	}
	return said
}

// meets reports whether a member is what a row of operation.txt is for.
func (v vocabulary) meets(test string, s statement) bool {
	switch test {
	case "any":
		return true
	case "value":
		return s.raw != "true" && s.raw != "false"
	case "some":
		return hasContent(s.raw) && s.stage != stageDone // an errorCode may be OK
	case "open":
		return s.stage == stageOpen
	case "failed":
		return s.stage == stageFailed
	case "odd":
		isNone := slices.Contains([]string{"neutral", "skipped"}, flattened(s.raw))
		return s.stage == stageOdd && !isNone && oddWord().MatchString(s.raw)
	case "below100":
		n, err := strconv.ParseFloat(strings.Trim(s.raw, `"%`), 64)
		return err == nil && n < 100
	}
	return s.raw == test
}

// hasContent reports whether a JSON value is more than an empty one, a zero, or an object of those.
func hasContent(raw string) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(raw), &members) == nil {
		for _, member := range members {
			if hasContent(string(member)) {
				return true
			}
		}
		return false
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
