package waiters

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pollcli/poll/status"
)

// Presets that are made of the botocore of this machine are never SUCCESS where JMESPath says
// otherwise, and say the same of nearly all documents.
func TestGenerateAgreesWithOracle(t *testing.T) {
	t.Parallel()
	find := exec.Command("python3", "-c", "import botocore, jmespath; print(botocore.__path__[0])")
	found, err := find.Output()
	if err != nil {
		t.Skip("there is no python3 with botocore and jmespath")
	}
	made := func(script string) io.Reader {
		out := filepath.Join(t.TempDir(), "out.gz")
		run := exec.Command("python3", "-B", script, filepath.Join(strings.TrimSpace(string(found)), "data"), out)
		if words, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, words)
		}
		file, err := os.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		text, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	text, err := io.ReadAll(made("generate.py"))
	if err != nil {
		t.Fatal(err)
	}
	presets, err := status.ReadPresets("made", string(text))
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]status.Rules{}
	for _, p := range presets {
		compiled, _, err := p.Compile(status.KindCommand, false)
		if err != nil {
			t.Fatal(err)
		}
		rules[p.Name] = status.Rules{Preset: compiled}
	}
	documents, others := 0, 0
	for lines := json.NewDecoder(made("oracle.py")); lines.More(); documents++ {
		var record struct {
			Waiter   string
			Want     status.Status
			Document json.RawMessage
		}
		if err := lines.Decode(&record); err != nil {
			t.Fatal(err)
		}
		o := status.Observation{Kind: status.KindCommand, Exit: new(0), Body: record.Document, Size: int64(len(record.Document))}
		v := rules["aws:"+record.Waiter].Classify(t.Context(), o)
		if v.Status != record.Want {
			others++
		}
		if v.Status == status.Success && record.Want != status.Success {
			t.Errorf("%s: %s is SUCCESS, want %s", record.Waiter, record.Document, record.Want)
		}
	}
	if documents < 5000 || others*50 > documents {
		t.Errorf("%d of %d documents are judged otherwise", others, documents)
	}
}

// The flags of every example are those of the AWS CLI.
func TestExamplesAreForCLI(t *testing.T) {
	t.Parallel()
	if exec.Command("python3", "-c", "import awscli.clidriver").Run() != nil {
		t.Skip("there is no python3 with the AWS CLI")
	}
	words, err := exec.Command("python3", "-B", "examples.py", "../../status/waiters.txt.gz").CombinedOutput()
	if err != nil || len(words) > 0 {
		t.Errorf("%v\n%s", err, words)
	}
}
