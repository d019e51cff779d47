//go:build !linux

// Command torture maltreats the built program. It reads /proc, and so needs Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "torture: needs Linux")
	os.Exit(125)
}
