package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const root = "../../.."

// A program says the version of its archive, whatever git knows.
func TestProgramSaysItsVersion(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "poll.exe")
	build := exec.Command("go", "build", "-ldflags="+linkFlags("v1.2.3-rc1"), "-o", program, ".")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program, "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), "poll v1.2.3-rc1 ") {
		t.Errorf("have %q and %v", out, err)
	}
}

func TestVersionForm(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1.2.3", "v0.10.0", "v1.2.3-rc1", "v1.2.3-beta12"} {
		if !versionForm.MatchString(version) {
			t.Errorf("%q is refused", version)
		}
	}
	for _, version := range []string{
		"", "main", "1.2.3", "v1.2", "v01.2.3", "v1.2.3-rc.1", "v1.2.3-4-gabcdef0", "v1.2.3-dirty", "v1.2.3+linux", "v1.2.3/../x", "v1.2.3 -X",
	} {
		if versionForm.MatchString(version) {
			t.Errorf("%q is taken", version)
		}
	}
}

func TestBill(t *testing.T) {
	t.Parallel()
	r := release{version: "v1.2.3", at: time.Unix(1700000000, 0)}
	have, err := json.Marshal(r.bill([]*debug.Module{{Path: "example.com/Some/thing/v2", Version: "v2.0.1", Sum: "h1:AAEC"}}, "go1.26.8"))
	if err != nil {
		t.Fatal(err)
	}
	const (
		poll = `"bom-ref":"pkg:golang/github.com/pollcli/poll@v1.2.3","name":"github.com/pollcli/poll","version":"v1.2.3",` +
			`"purl":"pkg:golang/github.com/pollcli/poll@v1.2.3"`
		stdlib = `"bom-ref":"pkg:golang/stdlib@1.26.8","name":"stdlib","version":"1.26.8","purl":"pkg:golang/stdlib@1.26.8"`
		thing  = `"bom-ref":"pkg:golang/example.com/some/thing/v2@v2.0.1","name":"example.com/Some/thing/v2","version":"v2.0.1",` +
			`"hashes":[{"alg":"SHA-256","content":"000102"}],"purl":"pkg:golang/example.com/some/thing/v2@v2.0.1"`
		want = `{"bomFormat":"CycloneDX","specVersion":"1.6","version":1,` +
			`"metadata":{"timestamp":"2023-11-14T22:13:20Z","component":{"type":"application",` + poll + `}},` +
			`"components":[{"type":"library",` + stdlib + `},{"type":"library",` + thing + `}],` +
			`"dependencies":[{"ref":"pkg:golang/github.com/pollcli/poll@v1.2.3",` +
			`"dependsOn":["pkg:golang/stdlib@1.26.8","pkg:golang/example.com/some/thing/v2@v2.0.1"]}]}`
	)
	if diff := cmp.Diff(want, string(have)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The formula fetches what install.sh fetches.
func TestFormula(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile(filepath.Join(root, "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	base, err := baseURL(script)
	if err != nil {
		t.Fatal(err)
	}
	r := release{version: "v1.2.3"}
	text, err := r.formula(base, func(name string) (string, error) { return "sum of " + name, nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range []string{"darwin_arm64", "darwin_amd64", "linux_arm64", "linux_amd64"} {
		name := "poll_v1.2.3_" + system + ".tar.gz"
		want := `url "` + base + "/download/v1.2.3/" + name + "\"\n      sha256 \"sum of " + name + "\"\n"
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}
