package presets

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
)

// awsPrefix is the prefix of the names of all waiters of AWS.
const awsPrefix = "aws:"

// waitersFile holds the waiters of AWS as presets, compressed by gzip. scripts/aws-waiters writes the file.
//
//go:embed waiters.txt.gz
var waitersFile []byte

// Waiters returns the waiters of AWS, as botocore defines them. The order is the order of their services.
func Waiters() []Preset { return builtin(waiterText()) }

// waiterText returns the text of the presets in waitersFile.
func waiterText() string {
	r, _ := gzip.NewReader(bytes.NewReader(waitersFile)) // tests read the file, so it is not malformed
	text, _ := io.ReadAll(r)
	return string(text)
}
