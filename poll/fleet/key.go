package fleet

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// nameLength is how many hexadecimal digits the name of a record has.
const nameLength = 32

// A keyer makes what is shared of texts in place of them. It tells nothing of the texts to
// who does not have the secret, but that they are equal. Without a secret, a text that can be
// guessed can be recognized.
type keyer []byte

// newKeyer returns the keyer for a purpose.
func newKeyer(secret []byte, purpose string) (keyer, error) {
	key, err := hkdf.Key(sha256.New, secret, []byte("pollcli/poll"), purpose, sha256.Size)
	return key, err
}

// sum returns 32 bytes that cannot be told from random ones.
func (k keyer) sum(text []byte) []byte {
	mac := hmac.New(sha256.New, k)
	mac.Write(text)
	return mac.Sum(nil)
}

// name returns the name under which a record is shared.
func (k keyer) name(text []byte) string { return hex.EncodeToString(k.sum(text)[:nameLength/2]) }

// isName reports whether text may be what [keyer.name] returns.
func isName(text string) bool {
	return len(text) == nameLength && strings.Trim(text, "0123456789abcdef") == ""
}
