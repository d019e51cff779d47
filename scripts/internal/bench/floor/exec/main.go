// Command exec runs a program N times with os/exec and keeps its outputs or, with
// "bare" as its first argument, ignores them.
package main

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
)

func main() {
	n, err := strconv.Atoi(os.Args[2])
	if err != nil {
		os.Exit(2)
	}
	for range n {
		cmd := exec.Command(os.Args[3], os.Args[4:]...)
		if os.Args[1] != "bare" {
			cmd.Stdout, cmd.Stderr = new(bytes.Buffer), new(bytes.Buffer)
		}
		cmd.Run()
	}
}
