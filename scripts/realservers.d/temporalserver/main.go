// Temporalserver runs a Temporal server on a free port of the loopback, in memory, until it
// is ended. It writes its address and its namespace to a file.
package main

import (
	"log"
	"os"

	"go.temporal.io/server/temporaltest"
)

func main() {
	s := temporaltest.NewServer()
	file := os.Args[1]
	if err := os.WriteFile(file+".new", []byte(s.GetFrontendHostPort()+" "+s.GetDefaultNamespace()), 0o600); err != nil {
		log.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		log.Fatal(err)
	}
	select {}
}
