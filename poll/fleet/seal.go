package fleet

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"strconv"
)

// An answerKeyer makes what is shared of identities.
type answerKeyer struct {
	names, contents, seeds keyer
}

func newAnswerKeyer(secret []byte) (k answerKeyer, err error) {
	for purpose, made := range map[string]*keyer{
		"names of answers, 1": &k.names, "contents of answers, 1": &k.contents, "seeds of answers, 1": &k.seeds,
	} {
		if *made, err = newKeyer(secret, purpose); err != nil {
			return k, err
		}
	}
	return k, nil
}

// A seal encrypts the answers to one question. Only who could have asked it, and has the
// secret, can read or make one.
type seal struct {
	name string // of the record
	seed uint64
	aead cipher.AEAD
}

func (k answerKeyer) seal(identity []byte) (seal, error) {
	block, err := aes.NewCipher(k.contents.sum(identity))
	if err != nil {
		return seal{}, fmt.Errorf("encrypt answers: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return seal{}, fmt.Errorf("encrypt answers: %w", err)
	}
	seed := binary.BigEndian.Uint64(k.seeds.sum(identity))
	return seal{name: k.names.name(identity), seed: seed, aead: aead}, nil
}

// close encrypts the answer to the attempt that began at a time.
func (s seal) close(answer []byte, begun int64) []byte {
	return s.aead.Seal(nil, nil, answer, s.context(begun))
}

// open returns the answer to the attempt that began at a time; nil if sealed is none.
func (s seal) open(sealed []byte, begun int64) []byte {
	if len(sealed) < s.aead.Overhead() {
		return nil
	}
	answer, err := s.aead.Open(nil, nil, sealed, s.context(begun))
	if err != nil {
		return nil
	}
	return answer
}

// context is what an answer is bound to: an old one is none to a new attempt.
func (s seal) context(begun int64) []byte {
	return strconv.AppendInt([]byte("poll:1:"+s.name+":"), begun, 10)
}
