package status

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
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

// A statement is what a document says about its operation, and where.
type statement struct {
	stage stage
	path  string // ".state"
	raw   string // JSON
}

func (s statement) String() string { return s.path + " is " + excerpt([]byte(s.raw)) }

// A report is all that a document, or an object in it, says about its operation.
type report struct{ state, sign, wrong statement }

// add adds what another object says, the last stage of each kind.
func (r *report) add(other report) {
	last := func(s *statement, t statement) {
		if t.stage > s.stage {
			*s = t
		}
	}
	last(&r.state, other.state)
	last(&r.sign, other.sign)
	last(&r.wrong, other.wrong)
}

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
	words, earlier := codeText(*o.Code), o.Following.Earlier
	text := bytes.TrimSpace(env.Doc.Bytes())
	isJSON, created := json.Valid(text), o.Following.Monitor == MonitorCreated
	isPage := strings.Contains(strings.ToLower(o.Header.Get("Content-Type")), "html") // which was asked for
	isText := !isJSON && len(text) > 0 && !strings.ContainsRune(`{["`, rune(text[0])) && (text[0] != '<' || isPage)
	onlyError := isJSON && wrong.stage != stageUnknown && isOnlyError(text)
	switch {
	case o.Following.Monitor == MonitorAzure:
		return r.good(words + ", which does not say whether the operation is done: a condition can")
	case onlyError && earlier == "":
		return Verdict{Status: Error, Reason: withDetail(words+" with nothing but an error", env)}
	case earlier != "" && (onlyError || !isJSON || !r.readsNotReady()):
		return r.good(words + " without a state, and before it " + earlier + ": a condition can say what is final")
	case isText, len(text) == 0 && *o.Code == http.StatusNoContent:
		return Verdict{Status: Success, Reason: words}
	case !isJSON, string(text) == "null", string(text) == "false":
		return r.good(words + " without a document of the operation: a condition can say that it is the end")
	case wrong.stage != stageUnknown && created:
		return Verdict{Status: Error, Reason: withDetail(words, env, wrong)}
	case wrong.stage == stageUnknown && (created || r.readsNotReady()):
		return Verdict{Status: Success, Reason: words,
			Notes: []string{"the document says no state, and is taken for the result: a condition can say when it is done"}}
	}
	v := r.good(words + " without a state: a condition can say when it is done")
	v.Advice.Code = AdviceDone
	return v
}

// readsNotReady reports whether a rule of the user says which documents mean that the
// operation is not done.
func (r Rules) readsNotReady() bool {
	return slices.ContainsFunc(r.Own, func(rule Rule) bool { return rule.Status == NotReady && rule.Expr.Uses().JSON })
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
var errorDetail = sync.OnceValue(func() []*expr.Expr {
	values, err := compileValues(strings.Fields(".error.message .error .error.code " +
		".errors[0].message .errors[0].title .errors[0] .fault.faultstring .exception .message"))
	if err != nil {
		panic(err)
	}
	return values
})

// reported returns what the document of an answer says about its operation. A text without
// JSON says it by the one word that it is.
func (o *Observation) reported() report {
	text := bytes.TrimSpace(Environment(o).Doc.Bytes())
	if json.Valid(text) && bytes.ContainsAny(text[:1], "{[") {
		return reportOf("", text, *o.Code, 0)
	}
	path := "$body"
	if json.Valid(text) {
		path = "."
	}
	if stage := known().stageOf(text); stage != stageOdd {
		return report{state: statement{stage, path, strconv.Quote(excerpt(bytes.Trim(text, `"`)))}}
	}
	return report{}
}

// maxNesting is how many envelopes are opened, one in another: as in JSON:API, whose
// operation is in .data.attributes.
const maxNesting = 3

// reportOf returns what the value at a path says. An object that is no known envelope may be
// about anything: only a state in it that goes on or has failed counts, where nothing else says
// more than that the reply is fine.
func reportOf(path string, raw json.RawMessage, code, nesting int) (all report) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) == nil {
		for i, item := range items {
			all.add(reportOf(fmt.Sprintf("%s[%d]", cmp.Or(path, "."), i), item, code, nesting+1))
		}
		return all
	}
	var members map[string]json.RawMessage
	json.Unmarshal(raw, &members)
	var inner, other, odd report
	around := "" // what the object is around
	for _, name := range slices.Sorted(maps.Keys(members)) {
		key, at := flattened(name), path+"."+name
		all.add(known().saidBy(key, at, members[name], code))
		if slices.Contains([]string{"result", "conclusion", "outcome"}, key) && isOddWord(members[name]) {
			odd.state = statement{stageOdd, at, string(members[name])}
		}
		switch kind := known().around[strings.TrimSuffix(key, "s")]; {
		case nesting >= maxNesting:
		case kind != "":
			inner.add(reportOf(at, members[name], code, nesting+1))
			around = max(around, kind)
		case members[name][0] == '{' && len(members) <= 100: // a list or a table may hold what was
			other.add(reportOf(at, members[name], code, nesting+1))
		}
	}
	if all.state.stage == stageDone {
		all.add(odd)
	}
	all.open(inner, around == "operation")
	if other.state.stage >= stageOpen && (all.state.stage == stageUnknown || all.state.isReply()) {
		all.state = other.state
	}
	return all
}

// isOddWord reports whether a value is a word, and none that says how an operation ended. Other
// texts, such as a URL, are what came of it.
func isOddWord(value []byte) bool {
	word, isText := strings.CutPrefix(strings.TrimSuffix(string(value), `"`), `"`)
	isMark := func(r rune) bool { return !unicode.IsLetter(r) && r != '_' && r != '-' }
	return isText && !slices.Contains([]string{"", "neutral", "skipped"}, flattened(word)) &&
		known().stageOf(value) == stageOdd && strings.IndexFunc(word, isMark) < 0
}

// isReply reports whether a statement may be about the answer rather than the operation.
func (s statement) isReply() bool {
	return s.stage == stageDone && slices.Contains([]string{"ok", "success"}, flattened(s.raw))
}

// open adds what stands in an envelope. What stands around it may be about the answer: an
// "ok" beside an operation says nothing of that. A done of true holds whatever goes on in the
// response beside it, which may be a resource that lives on.
func (r *report) open(inner report, ofOperation bool) {
	state := r.state
	isOK := state.isReply()
	r.state = statement{}
	r.add(inner)
	ended := state.raw == "true" && strings.HasSuffix(state.path, ".done") && strings.Contains(r.state.path, ".response.")
	switch {
	case state.stage > stageDone, (r.state.stage == stageOdd || ended && r.state.stage == stageOpen) && state.stage == stageDone && !isOK,
		r.state.stage == stageUnknown && !(isOK && (ofOperation || r.sign.stage != stageUnknown)):
		r.state = state
	}
}

//go:embed operation.txt
var operationText string

// A vocabulary is what operation.txt says, by flattened names and words.
type vocabulary struct {
	stages  map[string]stage
	members map[string][][2]string // what the value has to be, and what it then says
	around  map[string]string
}

var known = sync.OnceValue(func() vocabulary {
	v := vocabulary{map[string]stage{}, map[string][][2]string{}, map[string]string{}}
	stages := map[string]stage{"done": stageDone, "open": stageOpen, "failed": stageFailed}
	for line := range strings.Lines(operationText) {
		head, names, _ := strings.Cut(strings.TrimSpace(line), ": ")
		words := strings.Fields(head)
		switch {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "member":
			for _, name := range strings.Fields(names) {
				v.members[name] = append(v.members[name], [2]string(words[1:]))
			}
		case words[0] == "around":
			for _, name := range strings.Fields(names) {
				v.around[strings.TrimSuffix(name, "s")] = words[1]
			}
		default:
			for _, word := range words[1:] {
				v.stages[word] = stages[words[0]]
			}
		}
	}
	return v
})

// stageOf returns the stage that a text means. A value that is none means nothing known.
func (v vocabulary) stageOf(text []byte) stage {
	if len(text) <= maxLine && !bytes.ContainsAny(text, "{[") {
		if stage, found := v.stages[flattened(string(text))]; found {
			return stage
		}
	}
	return stageOdd
}

// saidBy returns what a member says. Its key is flattened.
func (v vocabulary) saidBy(key, path string, value json.RawMessage, code int) (r report) {
	rows, raw := v.members[strings.TrimPrefix(key, "is")], string(value)
	for _, end := range []string{"status", "state"} {
		if rows == nil && strings.HasSuffix(key, end) {
			rows = v.members["*"+end]
		}
	}
	for _, row := range rows {
		stage := v.stageOf(value)
		if !meets(row[0], raw, stage) || row[1] == "state" && strings.Trim(raw, `"`) == strconv.Itoa(code) { // it repeats the answer's code
			continue
		}
		r.add(map[string]report{
			"state": {state: statement{stage, path, raw}},
			"done":  {state: statement{stageDone, path, raw}},
			"open":  {state: statement{stageOpen, path, raw}},
			"sign":  {sign: statement{stageOpen, path, raw}},
			"wrong": {wrong: statement{stageFailed, path, raw}},
		}[row[1]])
	}
	return r
}

// meets reports whether a value, which as a word means a stage, is what a row of
// operation.txt is for.
func meets(test, raw string, stage stage) bool {
	switch test {
	case "any":
		return true
	case "value":
		return raw != "true" && raw != "false"
	case "some":
		return hasContent(raw) && stage != stageDone // an errorCode may be OK
	case "open":
		return stage == stageOpen
	case "failed":
		return stage == stageFailed
	case "below100":
		n, err := strconv.ParseFloat(strings.Trim(raw, `"%`), 64)
		return err == nil && n < 100
	}
	return raw == test
}

// hasContent reports whether a JSON value is more than an empty one.
func hasContent(raw string) bool {
	return !slices.Contains([]string{"", "null", "false", "0", `""`, `"0"`, "[]", "{}"}, strings.Join(strings.Fields(raw), ""))
}

// isOnlyError reports whether a document holds an error and nothing but what usually
// accompanies one.
func isOnlyError(body []byte) bool {
	var members map[string]json.RawMessage
	json.Unmarshal(body, &members)
	found := false
	for name, value := range members {
		key := flattened(name)
		isWrong := known().saidBy(key, "", value, 0).wrong.stage != stageUnknown
		found = found || isWrong
		if !isWrong && hasContent(string(value)) && !slices.Contains(known().members[key], [2]string{"any", "beside"}) {
			return false
		}
	}
	return found
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
