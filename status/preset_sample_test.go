package status

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// A presetSample is an answer as the API gives it, and what it means.
type presetSample struct {
	Want   string // the status, "" if no rule is to match
	Note   string // what is special about it
	Why    string // words that the reason must have
	Exit   int
	Stderr string
	Body   json.RawMessage
}

func (s presetSample) observation(kind Kind) Observation {
	o := Observation{Kind: kind, Attempt: 1, Body: s.Body, Size: int64(len(s.Body))}
	if kind == KindHTTP {
		ok := 200
		o.Code = &ok
	} else {
		o.Exit, o.Stderr = &s.Exit, []byte(s.Stderr)
	}
	return o
}

func TestPresetSamples(t *testing.T) {
	t.Parallel()
	for _, p := range Presets() {
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				samples := readLines[presetSample](t, "testdata/presets/"+name+".jsonl")
				checkVariety(t, p, samples)
				for _, s := range samples {
					checkSample(t, p, s, KindCommand)
					if s.Body != nil {
						checkSample(t, p, s, KindHTTP)
					}
				}
			})
		}
	}
}

// checkVariety wants two samples of every status that the preset can give.
func checkVariety(t *testing.T, p Preset, samples []presetSample) {
	t.Helper()
	count := make(map[string]int)
	for _, s := range samples {
		count[s.Want]++
	}
	for _, r := range p.Rules {
		if n := count[string(r.Status)]; n < 2 {
			t.Errorf("%d samples of %v, want 2 or more", n, r.Status)
		}
	}
}

func checkSample(t *testing.T, p Preset, s presetSample, kind Kind) {
	t.Helper()
	v := classifyByPreset(t, p, s.observation(kind))
	have := string(v.Status)
	if v.Rule == "" {
		have = ""
	}
	if have != s.Want || !strings.Contains(v.Reason, s.Why) {
		t.Errorf("%s %s%s\nhave %q by %s (%s)\nwant %q, %q", s.Note, s.Body, s.Stderr, have, v.Rule, v.Reason, s.Want, s.Why)
	}
}

// Every value that the documentation of an API names must mean what the table
// says, and no other value may mean anything.
func TestPresetValues(t *testing.T) {
	t.Parallel()
	type row struct {
		Preset    string
		Answer    json.RawMessage // "?" stands for the value
		Success   []string        `json:"SUCCESS"`
		NotReady  []string        `json:"NOT_READY"`
		Error     []string        `json:"ERROR"`
		Unmatched []string        `json:"UNMATCHED"`
	}
	for _, r := range readLines[row](t, "testdata/preset_values.jsonl") {
		p, ok := LookupPreset(r.Preset)
		if !ok {
			t.Errorf("there is no preset %q", r.Preset)
			continue
		}
		for want, values := range map[Status][]string{Success: r.Success, NotReady: r.NotReady, Error: r.Error, None: r.Unmatched} {
			for _, value := range values {
				answer := strings.ReplaceAll(string(r.Answer), `"?"`, `"`+value+`"`)
				s := presetSample{Want: string(want), Body: json.RawMessage(answer)}
				checkSample(t, p, s, KindCommand)
			}
		}
	}
}

// What is not one of the API's answers at all must mean nothing to any preset.
func TestPresetsSayNothingOfOtherAnswers(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{}`, `[]`, `null`, `"done"`, `0`, `{"status":{}}`, `{"status":null}`, "", "<html>502 Bad Gateway</html>", "{} {}"} {
		for _, p := range Presets() {
			if p.Name == "github-deployment-status" && body == "[]" {
				continue // no status has been reported yet
			}
			s := presetSample{Note: p.Name, Body: json.RawMessage(body)}
			checkSample(t, p, s, KindCommand)
			checkSample(t, p, s, KindHTTP)
		}
	}
}

func TestUnmatchedAnswerOfPreset(t *testing.T) {
	t.Parallel()
	p, _ := LookupPreset("replicate")
	rules, err := p.Compile(KindHTTP, false)
	if err != nil {
		t.Fatal(err)
	}
	o := presetSample{Body: json.RawMessage(`{"status":"dreaming"}`)}.observation(KindHTTP)
	if v := (Rules{Preset: rules}).Classify(t.Context(), o); v.Status != NotReady {
		t.Errorf("an unknown state is %v, want NOT_READY", v.Status)
	}
	if v := (Rules{Preset: rules, Strict: true}).Classify(t.Context(), o); v.Status != Error {
		t.Errorf("an unknown state with --strict is %v, want ERROR", v.Status)
	}
}

// classifyByPreset also checks that --strict changes nothing where a rule matches.
func classifyByPreset(t *testing.T, p Preset, o Observation) Verdict {
	t.Helper()
	rules, err := p.Compile(o.Kind, false)
	if err != nil {
		t.Fatal(err)
	}
	v := Rules{Preset: rules}.Classify(t.Context(), o)
	strict := Rules{Preset: rules, Strict: true}.Classify(t.Context(), o)
	if v.Rule != "" && strict.Status != v.Status {
		t.Errorf("%v becomes %v by --strict", v.Status, strict.Status)
	}
	return v
}

func readLines[T any](t *testing.T, name string) []T {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []T
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, one)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
