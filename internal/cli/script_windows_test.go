package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// programs returns the programs that scripts use in addition to the programs of the system, such as common
// Unix tools.
func programs() map[string]func() {
	all := map[string]func(){"poll": runPoll, "sh": sh}
	// The other tools have names of commands of testscript.
	for _, name := range []string{"true", "false", "echo", "printf", "cat", "sleep", "sort", "touch"} {
		all[name] = func() { shell(name+` "$@"`, name, os.Args[1:]) }
	}
	return all
}

// alive reports whether a process runs.
func alive(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h)
	event, err := windows.WaitForSingleObject(h, 0)
	return err == nil && event == uint32(windows.WAIT_TIMEOUT)
}
