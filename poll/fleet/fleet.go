// Package fleet is a stand-in.
package fleet

import (
	"crypto/tls"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/internal/share"
)

type Options struct {
	Secret []byte
	Note   func(string)
	TLS    *tls.Config
}
type Fleet struct{}

func Open(where string, o Options) (*Fleet, error) { return &Fleet{}, nil }
func (f *Fleet) Close()                            {}

type Limiter struct {
	Fleet     *Fleet
	PerSecond float64
	Known     bool
	Rand      *rand.Rand
	Key       func(string) string
	poll.Pacer
}
type Answers struct{ Fleet *Fleet }

func (a *Answers) Question(identity []byte, since time.Time, schedule func(int, float64) time.Duration) share.Question {
	return alone{}
}

type alone struct{}

func (alone) Claim(time.Time) share.Turn { return share.Turn{Ask: true, Alone: true} }
func (alone) Answered([]byte) time.Time  { return time.Time{} }
func (alone) Close()                     {}
func Machine(place string) string        { return share.Machine(place) }
