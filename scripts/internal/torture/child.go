//go:build linux

package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strconv"
)

// childWord as the first argument makes this program a child of poll.
const childWord = "child"

func child(what string, args []string) (code int) {
	switch what {
	case "flood":
		return flood(args[0], args[1])
	case "sum":
		return sum()
	}
	return 125
}

func (s *suite) child(args ...string) []string {
	return append([]string{"--", s.self, childWord}, args...)
}

// flood writes so many MiB to a descriptor.
func flood(descriptor, mib string) int {
	fd, _ := strconv.Atoi(descriptor)
	out := os.NewFile(uintptr(fd), "out")
	count, _ := strconv.Atoi(mib)
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte('a' + i%26)
	}
	for range count {
		if _, err := out.Write(block); err != nil {
			return 1
		}
	}
	return 0
}

// sum says what came in by stdin.
func sum() int {
	hash := sha256.New()
	n, err := io.Copy(hash, os.Stdin)
	if err != nil {
		return 1
	}
	fmt.Printf("%d %x\n", n, hash.Sum(nil))
	return 0
}
