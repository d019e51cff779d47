package rawjson

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestCompareNumbers(t *testing.T) {
	t.Parallel()
	// The lines are in order; the numbers on one line are equal.
	lines := []string{
		"-1e1000",
		"-9007199254740993 -9007199254740993.0",
		"-9007199254740992",
		"-1.5 -15e-1 -0.15E1",
		"-0.0001 -1e-4",
		"-1e-1000",
		"0 -0 0.0 -0.0 0e5 0E-5 0.000",
		"1e-1000000000000000000 1e-1000000000000000000000 20e-000099999999999999999999", // beyond maxPower
		"1e-999999999999999999 0.1e-999999999999999998",
		"1e-1000",
		"0.0001 1e-4 0.00010",
		"0.1 1e-1 10e-2",
		"1 1.0 1e0 10e-1 0.1e1 100E-2",
		"1.0000000000000000000000000001",
		"9.99",
		"10 1e1 1E+1",
		"99999999999999999",
		"100000000000000000 1e17",
		"9007199254740993000",
		"9007199254740993001",
		"1e999",
		"1e1000 10e999",
		"0.01e999999999999999999 1e999999999999999997 10e+000999999999999999996",
		"1e1000000000000000000 2e9223372036854775807 1e9223372036854775808 0.1e100000000000000000000", // beyond maxPower
	}
	for i, line := range lines {
		for j, other := range lines {
			for _, a := range strings.Fields(line) {
				for _, b := range strings.Fields(other) {
					want := 0
					switch {
					case i < j:
						want = -1
					case i > j:
						want = 1
					}
					if have := CompareNumbers(a, b); have != want {
						t.Errorf("CompareNumbers(%s, %s) = %d, want %d", a, b, have, want)
					}
					if have := ParseNumber(a).Compare(ParseNumber(b)); have != want {
						t.Errorf("taken apart, %s and %s are in the order %d, want %d", a, b, have, want)
					}
					if same := Canonical(a) == Canonical(b); same != (want == 0) {
						t.Errorf("the canonical texts of %s and %s are equal: %v", a, b, same)
					}
				}
			}
		}
	}
}

func TestCompareNumbersRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		s := strconv.Itoa(r.IntN(2000) - 1000)
		if r.IntN(2) == 0 {
			s += "." + strconv.Itoa(r.IntN(1000))
		}
		if r.IntN(2) == 0 {
			s += "e" + strconv.Itoa(r.IntN(8)-4)
		}
		return s
	}
	for range 20_000 {
		a, b := text(), text()
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		if have, want := CompareNumbers(a, b), x.Cmp(y); have != want {
			t.Errorf("CompareNumbers(%s, %s) = %d, want %d", a, b, have, want)
		}
		if z, ok := new(big.Rat).SetString(FormatNumber(a)); !ok || z.Cmp(x) != 0 {
			t.Errorf("FormatNumber(%s) = %s", a, FormatNumber(a))
		}
		if z, _ := new(big.Rat).SetString(ScaleNumber(a, 60, 0)); z.Cmp(x.Mul(x, big.NewRat(60, 1))) != 0 {
			t.Errorf("ScaleNumber(%s, 60, 0) = %s", a, ScaleNumber(a, 60, 0))
		}
	}
}

func TestFormatNumber(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0": "0", "-0": "-0", "-0.0": "0", "1.0": "1", "1e2": "100", "1.50": "1.5", "12345678901234567890": "12345678901234567890",
		"1e17": "1e+17", "0.00001": "1e-05", "0.0001": "0.0001", "1.5e300": "1.5e+300", "-12.5e-1": "-1.25", "1e999999999999999999": "1e+999999999999999999",
	} {
		if have := FormatNumber(in); have != want {
			t.Errorf("FormatNumber(%s) = %s, want %s", in, have, want)
		}
	}
}

func TestNumberIn(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"5": "5", " 5\n": "5", "+5": "5", "-5": "-5", "007": "7", "0": "0", ".5": "0.5", "5.": "5", "1e3": "1e3", "1E+3": "1e+3",
		"": "", " ": "", "-": "", ".": "", "nan": "", "0x10": "", "1_000": "", "1,5": "", "5s": "", "1e": "", "1 2": "", "--5": "", "１": "",
	} {
		have, ok := NumberIn(in)
		if ok != (want != "") || ok && have != want {
			t.Errorf("NumberIn(%q) = %q, %v, want %q", in, have, ok, want)
		}
	}
}
