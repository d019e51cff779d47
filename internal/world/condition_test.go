package world

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
	"github.com/pollcli/poll/status/presets"
)

// A tri is the value of a condition: yes, no or unknown.
type tri int8

const (
	no      tri = -1
	unknown tri = 0
	yes     tri = 1
)

func decide(is bool) tri {
	if is {
		return yes
	}
	return no
}

// A node is a part of a condition: "and", "or" or "not" of others, or one of the atoms. Its value is
// computed here without any code of the product.
type node struct {
	Op   string
	Kids []*node `json:",omitempty"`
}

func (n *node) text() string {
	switch n.Op {
	case "not":
		return "not (" + n.Kids[0].text() + ")"
	case "and", "or":
		return "(" + n.Kids[0].text() + ") " + n.Op + " (" + n.Kids[1].text() + ")"
	}
	return n.Op
}

// value evaluates a condition on a document.
func (n *node) value(doc any) tri {
	switch n.Op {
	case "not":
		return -n.Kids[0].value(doc)
	case "and":
		return min(n.Kids[0].value(doc), n.Kids[1].value(doc))
	case "or":
		return max(n.Kids[0].value(doc), n.Kids[1].value(doc))
	}
	if _, isObject := doc.(map[string]any); !isObject {
		return unknown
	}
	a := atoms[n.Op]
	v := find(doc, a.path)
	if v == nil { // missing or null decides nothing, unless the atom tests for null
		return a.ofNull
	}
	return a.value(v)
}

// find returns the value of a path, nil if it is missing.
func find(doc any, path string) any {
	for _, name := range strings.Split(path, ".") {
		members, _ := doc.(map[string]any)
		doc = members[name]
	}
	return doc
}

// holds reports whether a condition is true of a document, given as text.
func (n *node) holds(text string) bool { return n != nil && n.value(parsed(text)) == yes }

// parsed returns a document, nil if it is none.
func parsed(text string) (doc any) {
	if json.Unmarshal([]byte(text), &doc) != nil {
		return nil
	}
	return doc
}

// An atom is a question about one path.
type atom struct {
	path   string
	value  func(v any) tri
	ofNull tri
}

// ofText tests a text; any other value is unknown.
func ofText(is func(string) bool) func(any) tri {
	return func(v any) tri {
		if text, ok := v.(string); ok {
			return decide(is(text))
		}
		return unknown
	}
}

// ofSteps tests whether some of the steps have a state.
func ofSteps(want tri, is func(state string) bool) func(any) tri {
	return func(v any) tri {
		list, ok := v.([]any)
		if !ok {
			return unknown
		}
		return want * decide(slices.ContainsFunc(list, func(e any) bool { return is(fmt.Sprint(find(e, "state"))) }))
	}
}

// atoms are the questions of which conditions are made. Some hold too soon, and some never.
var atoms = map[string]atom{
	`.state == "done"`:                   {path: "state", value: func(v any) tri { return decide(v == "done") }},
	`.state in ["done","succeeded"]`:     {path: "state", value: func(v any) tri { return decide(v == "done") }},
	`.state != "running"`:                {path: "state", value: func(v any) tri { return decide(v != "running") }},
	`.state != "queued"`:                 {path: "state", value: func(v any) tri { return decide(v != "queued") }},
	`.state startswith "do"`:             {path: "state", value: ofText(func(s string) bool { return strings.HasPrefix(s, "do") })},
	`.state =~ "^done$"`:                 {path: "state", value: ofText(func(s string) bool { return s == "done" })},
	`.conclusion == "success"`:           {path: "conclusion", value: func(v any) tri { return decide(v == "success") }},
	`.conclusion != "failure"`:           {path: "conclusion", value: func(v any) tri { return decide(v != "failure") }},
	`.progress >= 100`:                   {path: "progress", value: ofNumber},
	`.finished_at`:                       {path: "finished_at", value: func(any) tri { return yes }, ofNull: no},
	`.error`:                             {path: "error", value: func(any) tri { return yes }, ofNull: no},
	`.meta.state == "done"`:              {path: "meta.state", value: func(v any) tri { return decide(v == "done") }},
	`.stat != "running"`:                 {path: "stat", value: func(v any) tri { return decide(v != "running") }},
	`.state == "failed"`:                 {path: "state", value: func(v any) tri { return decide(v == "failed") }},
	`all(.steps[]; .state == "done")`:    {path: "steps", value: ofSteps(no, func(s string) bool { return s != "done" })},
	`any(.steps[]; .state != "running")`: {path: "steps", value: ofSteps(yes, func(s string) bool { return s != "running" })},
}

func ofNumber(v any) tri {
	if n, ok := v.(float64); ok {
		return decide(n >= 100)
	}
	return unknown
}

var atomNames = sorted(atoms)

// condition draws one of a depth.
func condition(r *rand.Rand, depth int) *node {
	a := &node{Op: pick(r, atomNames...)}
	switch k := r.IntN(10); {
	case depth == 0 || k < 4:
		return a
	case k < 6:
		return &node{"not", []*node{condition(r, depth-1)}}
	case k < 7: // an absent field is false next to a present field
		return &node{"and", []*node{a, {"not", []*node{{Op: ".error"}}}}}
	}
	return &node{pick(r, "and", "or"), []*node{condition(r, depth-1), condition(r, depth-1)}}
}

// until draws a condition that is true for an operation that is done, and for no false document of
// a server.
func until(r *rand.Rand) *node {
	docs := liesAndDone()
	isYes := func(n *node) func(any) bool { return func(doc any) bool { return n.value(doc) == yes } }
	for range 200 {
		n := condition(r, 2)
		if _, err := expr.Compile(n.text()); err == nil && n.value(docs[0]) == yes && !slices.ContainsFunc(docs[1:], isYes(n)) { // poll rejects a part that never holds
			return n
		}
	}
	return &node{Op: `.state == "done"`}
}

// liesAndDone are a document of an operation that is done, and the false documents.
var liesAndDone = sync.OnceValue(func() (docs []any) {
	o := operation{ID: 7}
	for _, text := range append([]string{o.doc("done", 0), o.doc("queued", 0), o.doc("running", 0)}, lies...) {
		docs = append(docs, parsed(text))
	}
	return docs
})

// lies are documents that are not about the operation.
var lies = []string{
	`{"id":7}`, `{"id":7,"status":null,"error":null}`, `{"status":"completed"}`, `{"done":"true"}`, `{"kind":"Job","status":{"conditions":null}}`,
	`{"id":7,"state":null}`, `{"id":7,"stat":"done"}`, `{"message":"hello"}`, `{"login":true}`, `[]`, `null`, `true`, `"done"`, `7`,
	`{}`, `{"state":["done"]}`, `{"state":{"state":"done"}}`, `{"jobs":[]}`, `{"state":"","error":"maintenance","meta":{"state":"done"}}`,
	`{"id":7,"state":"queued"}`, `{"urls":{"get":"/ops/7"},"state":"queued"}`,
	`[{"state":"done","conclusion":"success"}]`, `{"data":{"state":"done","progress":100}}`,
}

// apis are those of which there is a preset: the members by which their documents tell a state.
var apis = map[string]map[string]string{
	"azure-lro": {
		"queued": `"status":"Accepted"`, "running": `"status":"InProgress","percentComplete":50`,
		"done": `"status":"Succeeded"`, "failed": `"status":"Failed","error":{"code":"Conflict","message":"no"}`,
	},
	"github-run": {
		"queued": `"conclusion":null,"status":"queued"`, "running": `"status":"in_progress"`,
		"done": `"status":"completed","conclusion":"success"`, "failed": `"status":"completed","conclusion":"failure"`,
	},
	"gitlab-pipeline": {
		"queued": `"status":"created"`, "running": `"status":"running","yaml_errors":null`,
		"done": `"yaml_errors":null,"status":"success"`, "failed": `"status":"failed","failure_reason":"no runner"`,
	},
	"google-lro": {
		"queued": `"done":false,"name":"operations/7"`, "running": `"name":"operations/7","done":false`,
		"done": `"done":true,"response":{}`, "failed": `"done":true,"error":{"code":9,"message":"no"}`,
	},
	"k8s/Job": {
		"queued": `"kind":"Job","status":{}`, "running": `"kind":"Job","status":{"conditions":[{"type":"SuccessCriteriaMet","status":"True"}]}`,
		"done":   `"kind":"Job","status":{"conditions":[{"type":"Complete","status":"True"}]}`,
		"failed": `"kind":"Job","status":{"conditions":[{"type":"Failed","status":"True","message":"no"}]}`,
	},
	"openai-batch": {
		"queued": `"status":"validating","request_counts":null`, "running": `"status":"in_progress","request_counts":{"failed":0}`,
		"done": `"status":"completed","request_counts":{"failed":0}`, "failed": `"status":"completed","request_counts":{"failed":2}`,
	},
	"replicate": {
		"queued": `"error":null,"status":"starting"`, "running": `"error":null,"status":"processing"`,
		"done": `"error":null,"status":"succeeded"`, "failed": `"error":"out of memory","status":"failed"`,
	},
}

// builtin are the built-in presets, which are read once.
var builtin = sync.OnceValue(func() map[string]presets.Preset {
	named := make(map[string]presets.Preset)
	for _, p := range presets.All() {
		named[p.Name] = p
	}
	return named
})

// mine is the name of a preset of the user.
const mine = "mine"

// drawPreset draws from where the conditions come, and the documents with them.
func (p *plan) drawPreset(r *rand.Rand) {
	p.Mine = r.IntN(12) == 0
	isBuiltin := r.IntN(5) == 0
	api := pick(r, sorted(apis)...)
	if p.Mine = p.Mine && !p.isGone() && p.Probe != byTCP; p.Mine {
		p.Object = r.IntN(3) == 0
	}
	if p.Mine || p.isGone() || !isBuiltin || p.Probe == byTCP {
		return
	}
	p.Until, p.ErrorIf = nil, nil
	for i := range p.Ops {
		p.Ops[i].API = api
	}
}

// isGone reports whether something is waited for to be gone.
func (p *plan) isGone() bool { return p.Gone || p.List != nil && p.List.Gone }

// presetName returns the name of the preset that a wait has, "" for none.
func (p *plan) presetName() string {
	if p.Mine {
		return mine
	}
	return p.Ops[0].API
}

// presetText returns the file of the user's preset.
func (p *plan) presetText() string {
	text := "name: " + mine + "\nuntil: " + p.untilText() + "\n"
	if p.ErrorIf != nil {
		text += "error-if: " + p.ErrorIf.text() + " -- it has failed\n"
	}
	if p.Interval > 0 {
		text += fmt.Sprintln("interval:", max(p.Interval, 100*time.Millisecond))
	}
	switch {
	case p.Object && p.List != nil:
		text += "object: " + p.path(".jobs") + "[]\n"
	case p.Object:
		text += "object: " + p.inObject("") + "\n"
	case p.List != nil:
		text += "each: " + p.path(".jobs") + "\n"
	}
	return text
}

// inObject returns a path inside the object of a document, if the document has an object.
func (p *plan) inObject(path string) string {
	if p.Object && p.List == nil {
		return []string{".job", ".jobs[]"}[p.Seed%2] + path
	}
	return path
}

// enclosed returns a document within its object, if it is in one.
func (p *plan) enclosed(doc string) string {
	switch p.inObject("") {
	case ".job":
		return `{"state":"done","job":` + doc + `}`
	case ".jobs[]":
		return `{"jobs":[` + doc + `],"state":"done"}`
	}
	return doc
}

// presetRules returns the rules of the preset, none without one.
func (p *plan) presetRules() *status.Preset {
	preset, isBuiltin := builtin()[p.presetName()]
	switch {
	case p.Mine:
		preset = must(presets.Read("mine.txt", p.presetText()))[0]
	case !isBuiltin:
		return nil
	}
	kind := status.KindHTTP
	if p.Probe == byCommand {
		kind = status.KindCommand
	}
	rules, _, err := preset.Compile(kind, p.List != nil)
	return must(rules, err)
}

// succeeds and fails report what a document says.
func (p *plan) succeeds(doc string) bool {
	api := apis[p.Ops[0].API]
	switch {
	case p.Probe == byTCP:
		return doc != ""
	case api != nil:
		return strings.Contains(doc, api["done"])
	case p.Ops[0].Style&terse != 0:
		return strings.Contains(doc, `"done":true`)
	}
	return p.Until.holds(doc) && !p.ErrorIf.holds(doc)
}

func (p *plan) fails(doc string) bool {
	if api := apis[p.Ops[0].API]; api != nil {
		return strings.Contains(doc, api["failed"])
	}
	return p.ErrorIf.holds(doc) || p.Ops[0].Style&terse != 0 && strings.Contains(doc, terseStates["failed"])
}
