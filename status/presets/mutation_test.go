package presets

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pollcli/poll/status"
)

var mutations = flag.Int("mutations", 3000, "the number of mutations of recorded responses that TestMutations makes")

// A place is a member of an object or an element of a list, with the path that names the same member of other
// documents: its indexes are empty.
type place struct {
	parent any
	key    string
	index  int
	path   string
}

func (p place) value() any {
	if object, ok := p.parent.(map[string]any); ok {
		return object[p.key]
	}
	return p.parent.([]any)[p.index]
}

func (p place) set(value any) {
	if object, ok := p.parent.(map[string]any); ok {
		object[p.key] = value
		return
	}
	p.parent.([]any)[p.index] = value
}

// isIdentity matches the path of a member that says which object of Kubernetes, which revision of the object or
// which condition a document is about. Such a member is not mutated: the API server sets it, or it is a name.
var isIdentity = regexp.MustCompile(`\.(kind|apiVersion|generation|observedGeneration)$|^\.metadata(\.(labels|annotations).*)?$|(conditions\[\]\.type|taints\[\]\.key)$`)

// places returns the members and elements of a document, except its identity.
func places(document any, path string) (all []place) {
	switch v := document.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if !isIdentity.MatchString(path + "." + key) {
				all = append(all, place{v, key, 0, path + "." + key})
			}
			all = append(all, places(v[key], path+"."+key)...)
		}
	case []any:
		for i := range v {
			all = append(all, place{v, "", i, path + "[]"})
			all = append(all, places(v[i], path+"[]")...)
		}
	}
	return all
}

// decoded returns the document of a response with exact numbers, nil if it is not JSON.
func decoded(body []byte) (document any) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(&document) != nil {
		return nil
	}
	return document
}

// A corpus has the recorded responses of one preset.
type corpus struct {
	preset     Preset
	unfinished []presetSample // which are not SUCCESS
	finished   []any          // the documents of SUCCESS
	states     []string       // texts in the conditions of other presets, which the preset does not have; nil if any text is possible
}

// mayLack reports whether a finished operation can lack a member: a document of one has the parent, and not the
// member, or the member is optional in each object of Kubernetes: specifications have defaults. An object or a list can be
// lacking if one of its members can.
func (c corpus) mayLack(path string, value any) bool {
	parent := path[:strings.LastIndexAny(path, ".[")]
	lacks := func(document any) bool {
		has := func(path string) bool {
			return path == "" || slices.ContainsFunc(places(document, ""), func(p place) bool { return p.path == path && p.value() != nil })
		}
		return has(parent) && !has(path)
	}
	isOptional := strings.HasPrefix(c.preset.Name, "k8s") && (strings.HasPrefix(path, ".spec") || strings.HasPrefix(path, ".metadata."))
	return isOptional || slices.ContainsFunc(c.finished, lacks) ||
		slices.ContainsFunc(places(value, path), func(p place) bool { return c.mayLack(p.path, nil) })
}

// isFinal reports whether a document of a finished operation has a value at a path.
func (c corpus) isFinal(path string, value any) bool {
	return slices.ContainsFunc(c.finished, func(document any) bool {
		return slices.ContainsFunc(places(document, ""), func(p place) bool { return p.path == path && reflect.DeepEqual(p.value(), value) })
	})
}

// mutate changes one member of a document, and returns a description. It is "" if the new document can be that of
// a finished operation: a finished operation can lack the member, or has the new value there. A state is never
// replaced by a text of the preset itself.
func (c corpus) mutate(random *rand.Rand, document any) string {
	all := places(document, "")
	if len(all) == 0 {
		return ""
	}
	p := all[random.IntN(len(all))]
	was := p.value()
	_, isText := was.(string)
	object, isMember := p.parent.(map[string]any)
	absent := func(how string) string {
		if c.mayLack(p.path, was) {
			return ""
		}
		return how
	}
	others := []any{"x", json.Number("7"), true, []any{"x"}, map[string]any{"x": "x"}}
	switch how := random.IntN(4); {
	case how == 0 && isMember:
		delete(object, p.key)
		return absent("without " + p.path)
	case how == 1:
		p.set(nil)
		return absent(p.path + " is null")
	case how == 2 && isText && len(c.states) > 0:
		state := c.states[random.IntN(len(c.states))]
		p.set(state)
		return fmt.Sprintf("%s is %q", p.path, state)
	default:
		others = append(others, fmt.Sprint(was))
		others = slices.DeleteFunc(others, func(v any) bool { return reflect.TypeOf(v) == reflect.TypeOf(was) || c.isFinal(p.path, v) })
		p.set(others[random.IntN(len(others))])
		return fmt.Sprintf("%s is %v", p.path, p.value())
	}
}

// corpora returns the recorded responses of all presets.
func corpora(t *testing.T) (all []corpus) {
	samples, texts := presetSamples(t), regexp.MustCompile(`"([A-Za-z][A-Za-z_ -]*)"`)
	words := map[string]bool{}
	for _, p := range All() {
		for _, r := range p.rules {
			for _, word := range texts.FindAllStringSubmatch(r.Expr, -1) {
				words[word[1]] = true
			}
		}
	}
	for _, p := range All() {
		c := corpus{preset: p}
		for _, word := range slices.Sorted(maps.Keys(words)) {
			if p.Name != "k8s" && !strings.Contains(strings.ToLower(p.Text), strings.ToLower(word)) {
				c.states = append(c.states, word)
			}
		}
		for _, name := range sampled(p) {
			for _, s := range samples[name] {
				switch document := decoded(s.Body); {
				case s.Want == string(status.Success):
					c.finished = append(c.finished, document)
				case document != nil:
					c.unfinished = append(c.unfinished, s)
				}
			}
		}
		if len(c.unfinished) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// No member that is removed, null, of another type or a state of another API makes a recorded response a SUCCESS.
func TestMutations(t *testing.T) {
	all, random := corpora(t), rand.New(rand.NewPCG(1, 2))
	type compiled struct {
		name string
		kind status.Kind
	}
	known, found := map[compiled]*status.Preset{}, map[string]bool{}
	for range *mutations {
		c := all[random.IntN(len(all))]
		s := c.unfinished[random.IntN(len(c.unfinished))]
		kinds, document := s.kinds(), decoded(s.Body)
		kind := kinds[random.IntN(len(kinds))]
		how := c.mutate(random, document)
		key := compiled{c.preset.Name, kind}
		if known[key] == nil {
			known[key], _, _ = c.preset.Compile(kind, false)
		}
		original := s.Body
		s.Body, _ = json.Marshal(document)
		if how == "" || known[key] == nil || len(known[key].Stanzas) == 0 {
			continue
		}
		v := status.Rules{Preset: known[key]}.Classify(t.Context(), s.observation(kind))
		if fault := c.preset.Name + ": " + how; v.Status == status.Success && !found[fault] {
			found[fault] = true
			t.Errorf("%s: SUCCESS by %s\nof %s", fault, v.Rule, original)
		}
	}
}

// A rule for SUCCESS that requires a text is not met by a value of another type, or by an empty text.
func TestTextsOfOtherTypes(t *testing.T) {
	samples := presetSamples(t)
	for _, test := range []struct{ preset, path string }{
		{"oauth-device", ".access_token"},
		{"oauth-device", ".token_type"},
		{"snowflake-statement", ".statementHandle"},
		{"docker-container", "[].Config.Image"},
		{"docker-service", "[].Spec.Name"},
		{"gcp-operation", ".operationType"},
		{"azure-lro", ".type"},
		{"k8s/CertificateSigningRequest", ".status.certificate"},
		{"k8s/OpenTelemetryCollector", ".status.version"},
		{"k8s/Analysis", ".status.value"},
		{"k8s/Service", ".status.loadBalancer.ingress[].ip"},
		{"k8s/Ingress", ".status.loadBalancer.ingress[].ip"},
		{"k8s/ConfigMap", ".metadata.uid"},
	} {
		p, _ := Lookup(test.preset)
		replaced := 0
		for _, s := range samples[test.preset] {
			replaced += checkText(t, p, s, test.path)
		}
		if replaced == 0 {
			t.Errorf("%s: no rule for SUCCESS reads %s", test.preset, test.path)
		}
	}
}

// checkText replaces the text at a path of a finished response if the deciding rule reads the member. It returns the
// number of texts that it replaced.
func checkText(t *testing.T, p Preset, s presetSample, path string) (replaced int) {
	t.Helper()
	kind := s.kinds()[0]
	rules := rulesOf(p, kind, false)
	classify := func() status.Verdict {
		return status.Rules{Preset: rules}.Classify(t.Context(), s.observation(kind))
	}
	document, v := decoded(s.Body), classify()
	if v.Status != status.Success || !strings.Contains(v.Rule, path[strings.LastIndex(path, "."):]) {
		return 0
	}
	for _, place := range places(document, "") {
		if place.path != path {
			continue
		}
		replaced++
		text := place.value()
		for _, other := range []any{map[string]any{}, true, ""} {
			place.set(other)
			s.Body = must(json.Marshal(document))
			if v := classify(); v.Status == status.Success {
				t.Errorf("%s: %s is %v: SUCCESS by %s", p.Name, path, other, v.Rule)
			}
		}
		place.set(text)
	}
	return replaced
}
