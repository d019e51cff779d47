package presets

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
)

// awsPrefix begins the names of presets that are waiters of AWS.
const awsPrefix = "aws:"

// waitersFile has the waiters of AWS as presets, compressed; scripts/aws-waiters makes it.
//
//go:embed waiters.txt.gz
var waitersFile []byte

// Waiters returns the waiters of AWS, of botocore, as presets, in the order of their services.
func Waiters() []Preset { return builtin(waiterText()) }

func waiterText() string {
	r, _ := gzip.NewReader(bytes.NewReader(waitersFile)) // which the tests read
	text, _ := io.ReadAll(r)
	return string(text)
}
