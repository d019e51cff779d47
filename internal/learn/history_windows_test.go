package learn_test

import (
	"testing"

	"github.com/pollcli/poll/internal/learn"
	"github.com/pollcli/poll/internal/system"
)

// A colon would name a stream of a file, and a device name stands for the device.
func TestCheckName(t *testing.T) {
	for name, want := range map[string]bool{
		"a:b": false, "a*": false, "a?": false, `a"b`: false, "<a": false, "a|b": false,
		"console": true, "com10": true, "deploy-nul": true, "übung": true,
	} {
		if err := learn.CheckName(name); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// HOME comes before LocalAppData: Git Bash sets both variables.
func TestDefaultDir_windows(t *testing.T) {
	for want, env := range map[string]map[string]string{
		`C:\Users\me\AppData\Local\poll\slices`: {"LocalAppData": `C:\Users\me\AppData\Local`},
		`C:\home\.local\state\poll\slices`:      {"LocalAppData": `C:\Users\me\AppData\Local`, "HOME": `C:\home`},
		`\\server\share\poll\slices`:            {"XDG_STATE_HOME": `\\server\share`, "HOME": `C:\home`},
	} {
		if have, err := system.StateDir(func(key string) string { return env[key] }, "slices"); have != want || err != nil {
			t.Errorf("%v: have %q, %v, want %q", env, have, err, want)
		}
	}
}
