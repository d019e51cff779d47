package history

import "testing"

func TestFitsWindows(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"a:b", "a*", "a?", `a"b`, "<a", "a>", "a|b",
		"con", "NUL", "nul.deploy", "aux ", "CON .x", "Prn", "conin$", "CONOUT$", "com1", "LPT9", "COM0.x", "com²",
	} {
		if fitsWindows(name) {
			t.Errorf("%q: said to be a file", name)
		}
	}
	for _, name := range []string{"deploy", "a.", "a ", "console", "COM", "com10", "com12", "lpt", "lptx", "x.con", "deploy-nul", "übung"} {
		if !fitsWindows(name) {
			t.Errorf("%q: said to be no file", name)
		}
	}
}
