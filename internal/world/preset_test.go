package world

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/presets"
)

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
