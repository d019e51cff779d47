package expr

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestAddToInteger(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 5))
	for range 20_000 {
		text := randomInteger(r)
		n := r.Int64N(2_000_001) - 1_000_000
		sum, ok := new(big.Int).SetString(text, 10)
		if !ok {
			t.Fatal(text)
		}
		have, want := addToInteger(text, n), sum.Add(sum, big.NewInt(n)).String()
		if have != want {
			t.Errorf("%s and %d make %s, want %s", text, n, have, want)
		}
	}
}

func TestCompareIntegers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 7))
	for range 20_000 {
		a, b := addToInteger(randomInteger(r), 0), addToInteger(randomInteger(r), 0)
		x, _ := new(big.Int).SetString(a, 10)
		y, _ := new(big.Int).SetString(b, 10)
		if have, want := compareIntegers(a, b), x.Cmp(y); have != want {
			t.Errorf("%s and %s are in the order %d, want %d", a, b, have, want)
		}
	}
}

// randomInteger is an integer with all that an exponent may have, and more zeros
// and nines than most.
func randomInteger(r *rand.Rand) string {
	digits := ""
	for range 1 + r.IntN(4) {
		digits += strings.Repeat(string("0019935"[r.IntN(7)]), 1+r.IntN(9))
	}
	return []string{"", "-", "+"}[r.IntN(3)] + digits
}
