//go:build !linux

// Command bench compares poll with others. It reads /proc, and so needs Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench: needs Linux")
	os.Exit(1)
}
