package waiters

import (
	"os/exec"
	"testing"
)

// The flags of every example are those of the AWS CLI.
func TestExamplesAreForCLI(t *testing.T) {
	t.Parallel()
	if exec.Command("python3", "-c", "import awscli.clidriver").Run() != nil {
		t.Skip("there is no python3 with the AWS CLI")
	}
	words, err := exec.Command("python3", "-B", "examples.py", "../../status/presets/waiters.txt.gz").CombinedOutput()
	if err != nil || len(words) > 0 {
		t.Errorf("%v\n%s", err, words)
	}
}
