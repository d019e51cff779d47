package presets

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// padding makes an object as large as a real object, about 4 KB.
var padding = strings.Repeat(`{"manager":"kubectl","operation":"Update","fieldsV1":{"f:spec":{"f:replicas":{}}}},`, 42)

// An objectOf returns an object as kubectl prints it.
func objectOf(apiVersion, kind string, n int) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"w%d","generation":2,"managedFields":[%s{}]},"spec":{"replicas":3},`+
		`"status":{"observedGeneration":2,"replicas":3,"updatedReplicas":3,"availableReplicas":3,"phase":"Running","conditions":[`+
		`{"type":"Available","status":"True"},{"type":"Progressing","status":"False","message":"progressing"},{"type":"Ready","status":"True"}]}}`,
		apiVersion, kind, n, padding)
}

// A list of a thousand objects of several kinds, 4 MB, and one object.
func BenchmarkObjects(b *testing.B) {
	kinds := [][2]string{{"apps/v1", "Deployment"}, {"v1", "Pod"}, {"example.com/v1", "Widget"}, {"example.com/v1", "Last"}}
	var list []string
	for i := range 1000 {
		list = append(list, objectOf(kinds[i%4][0], kinds[i%4][1], i))
	}
	group, _ := Lookup("k8s")
	for i := range 40 - len(group.stanzas) {
		kind := fmt.Sprintf("Kind%d", i)
		if i == 0 {
			kind = "Last"
		}
		group.stanzas = append(group.stanzas, Preset{Name: "k8s/" + kind, rules: group.rules,
			Match: fmt.Sprintf(`.kind == %q and .apiVersion startswith "example.com/"`, kind)})
	}
	alone, _ := Lookup("k8s-deployment")
	alone.Object, alone.Match = "", "" // as a preset without objects
	for _, test := range []struct {
		name, body string
		preset     Preset
	}{
		{"list", `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(list, ",") + `]}`, group},
		{"one", list[0], group},
		{"plain", list[0], alone},
	} {
		preset, _, err := test.preset.Compile(status.KindCommand, false)
		if err != nil {
			b.Fatal(err)
		}
		o := poll.Recorded(status.Observation{Exit: new(0), Body: []byte(test.body)})
		b.Run(test.name, func(b *testing.B) {
			for b.Loop() {
				if v := (status.Rules{Preset: preset}).Classify(b.Context(), o); v.Status != status.Success {
					b.Fatal(v.Reason)
				}
			}
		})
	}
}
