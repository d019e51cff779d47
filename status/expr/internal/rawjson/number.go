package rawjson

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A Number is a parsed JSON number: the fraction 0.digits times ten to the power
// exponent. The zero value is 0.
type Number struct {
	sign     int // -1, 0 or 1
	exponent int64
	digits   string // neither the first nor the last is 0
}

// maxPower bounds the power of ten in a number. Numbers beyond it are all equal, as
// numbers beyond float64 are for other programs.
const maxPower = 1e18

// ParseNumber parses a valid JSON number.
func ParseNumber(s string) Number {
	n := Number{sign: 1}
	if s[0] == '-' {
		n.sign, s = -1, s[1:]
	}
	mantissa, power := cutPower(s)
	whole, fraction, _ := strings.Cut(mantissa, ".")
	n.digits = strings.TrimLeft(whole+fraction, "0")
	switch {
	case n.digits == "":
		return Number{}
	case power == maxPower:
		return Number{sign: n.sign, exponent: math.MaxInt64}
	case power == -maxPower:
		return Number{sign: n.sign, exponent: math.MinInt64}
	}
	n.exponent = power + int64(len(n.digits)-len(fraction))
	n.digits = strings.TrimRight(n.digits, "0")
	return n
}

// cutPower cuts a number into its mantissa and its power of ten, from -maxPower to
// maxPower.
func cutPower(s string) (mantissa string, power int64) {
	e := strings.IndexAny(s, "eE")
	if e < 0 {
		return s, 0
	}
	power, _ = strconv.ParseInt(s[e+1:], 10, 64) // out of range, the nearest
	return s[:e], min(max(power, -maxPower), maxPower)
}

// Compare orders two numbers by their exact values: 2^53+1 is more than 2^53, and
// 1.0 is 1e0.
func (n Number) Compare(m Number) int {
	if n.sign != m.sign {
		return cmp.Compare(n.sign, m.sign)
	}
	return n.sign * cmp.Or(cmp.Compare(n.exponent, m.exponent), strings.Compare(n.digits, m.digits))
}

// IsShort reports whether the text of a number has no exponent and so few digits that
// float64 tells it from every other such number.
func IsShort(s string) bool {
	return len(s) <= 15 && strings.IndexByte(s, 'e') < 0 && strings.IndexByte(s, 'E') < 0
}

// CompareNumbers orders two valid JSON numbers as [Number.Compare] does.
func CompareNumbers(a, b string) int {
	if IsShort(a) && IsShort(b) {
		x, _ := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		return cmp.Compare(x, y)
	}
	return ParseNumber(a).Compare(ParseNumber(b))
}

// appendTo appends a text that is the same for equal numbers only.
func (n Number) appendTo(b []byte) []byte {
	b = append(strconv.AppendInt(b, int64(n.sign), 10), n.digits...)
	return strconv.AppendInt(append(b, 'e'), n.exponent, 10)
}

// FormatNumber writes a valid JSON number in the usual form: 1e2 is 100, 1.50 is
// 1.5. Integers keep all their digits.
func FormatNumber(s string) string {
	if !strings.ContainsAny(s, ".eE") {
		return s
	}
	n := ParseNumber(s)
	sign, digits, size := "", n.digits, int64(len(n.digits))
	if n.sign < 0 {
		sign = "-"
	}
	switch {
	case n.sign == 0:
		return "0"
	case size == 0:
		return s // beyond maxPower
	case n.exponent <= -4 || n.exponent > size+15: // as jq does: 1.5e+300, 1e-05
		if size > 1 {
			digits = digits[:1] + "." + digits[1:]
		}
		return fmt.Sprintf("%s%se%+03d", sign, digits, n.exponent-1)
	case n.exponent <= 0:
		return sign + "0." + strings.Repeat("0", int(-n.exponent)) + digits
	case n.exponent >= size:
		return sign + digits + strings.Repeat("0", int(n.exponent-size))
	}
	return sign + digits[:n.exponent] + "." + digits[n.exponent:]
}

// NumberIn returns the number in a text as JSON. White space around it, a plus sign,
// leading zeros and a bare point are allowed.
func NumberIn(text string) (string, bool) {
	s := strings.ToLower(strings.Trim(text, " \t\r\n"))
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = strings.TrimSuffix(s[:1], "+"), s[1:]
	}
	mantissa, power := s, ""
	if e := strings.IndexByte(s, 'e'); e >= 0 {
		mantissa, power = s[:e], s[e:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || !IsDigits(whole) {
		return "", false
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	s = sign + cmp.Or(strings.TrimLeft(whole, "0"), "0") + fraction + power
	end, flaw := ScanNumber(s, 0)
	return s, flaw == NoFlaw && end == len(s)
}

// IsDigits reports whether s holds nothing but digits.
func IsDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// ScaleNumber multiplies a valid JSON number by factor, and by ten to the power given,
// exactly.
func ScaleNumber(s string, factor, power int64) string {
	mantissa, own := cutPower(s)
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits, _ := new(big.Int).SetString(whole+fraction, 10)
	return fmt.Sprintf("%de%d", digits.Mul(digits, big.NewInt(factor)), own+power-int64(len(fraction)))
}
