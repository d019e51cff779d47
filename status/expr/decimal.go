package expr

import (
	"cmp"
	"hash/maphash"
	"math/big"
	"strconv"
	"strings"
)

// compareNumbers orders two JSON numbers by their exact value: 2^53+1 is more
// than 2^53, and 1.0 is 1e0.
func compareNumbers(a, b value) int {
	if isShortInt(a.raw) && isShortInt(b.raw) {
		x, _ := strconv.ParseInt(a.raw, 10, 64)
		y, _ := strconv.ParseInt(b.raw, 10, 64)
		return cmp.Compare(x, y)
	}
	return a.decimal().compare(b.decimal())
}

// shortInt is how many digits int64 surely holds, also when the length of a text
// is added.
const shortInt = 18

// isShortInt reports whether s is an integer that int64 surely holds.
func isShortInt(s string) bool {
	if len(s) > shortInt {
		return false
	}
	for i := range len(s) {
		if !isDigit(s[i]) && (s[i] != '-' || i > 0) {
			return false
		}
	}
	return true
}

// A decimal is a number taken apart: 0.d1d2d3... times 10^exponent, where the
// first digit is not 0.
type decimal struct {
	sign     int    // -1, 0 or 1
	digits   string // from the first digit that is not 0; may hold the point
	exponent int64
	huge     string // the exponent, if it does not fit
}

// parseDecimal takes a JSON number apart.
func parseDecimal(s string) decimal {
	d := decimal{sign: 1}
	if s[0] == '-' {
		d.sign, s = -1, s[1:]
	}
	mantissa, power := s, ""
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		mantissa, power = s[:e], s[e+1:]
	}
	whole := len(mantissa)
	if point := strings.IndexByte(mantissa, '.'); point >= 0 {
		whole = point
	}
	first := strings.IndexAny(mantissa, "123456789")
	if first < 0 {
		return decimal{}
	}
	d.digits = mantissa[first:]
	d.exponent = int64(whole - first)
	if first > whole {
		d.exponent++ // the point is not a digit
	}
	d.raise(power)
	return d
}

// raise multiplies by ten to the power given as text, "" being 0.
func (d *decimal) raise(power string) {
	if power == "" {
		return
	}
	if n, err := strconv.ParseInt(power, 10, 64); err == nil && len(power) <= shortInt {
		d.exponent += n
		return
	}
	d.huge, d.exponent = addToInteger(power, d.exponent), 0
	if n, err := strconv.ParseInt(d.huge, 10, 64); err == nil {
		d.huge, d.exponent = "", n
	}
}

func (d decimal) compare(e decimal) int {
	if d.sign != e.sign || d.sign == 0 {
		return cmp.Compare(d.sign, e.sign)
	}
	order := d.compareExponents(e)
	if order == 0 {
		order = compareDigits(d.digits, e.digits)
	}
	return order * d.sign
}

func (d decimal) compareExponents(e decimal) int {
	if d.huge == "" && e.huge == "" {
		return cmp.Compare(d.exponent, e.exponent)
	}
	return compareIntegers(d.exponentText(), e.exponentText())
}

// exponentText is the exponent as an integer without leading zeros.
func (d decimal) exponentText() string {
	if d.huge != "" {
		return d.huge
	}
	return strconv.FormatInt(d.exponent, 10)
}

// hash writes to h what is the same for equal numbers.
func (d decimal) hash(h *maphash.Hash) {
	if d.sign == 0 {
		d = decimal{}
	}
	for part := range strings.SplitSeq(trimDigits(d.digits), ".") {
		h.WriteString(part)
	}
	maphash.WriteComparable(h, decimal{sign: d.sign, exponent: d.exponent, huge: d.huge})
}

// trimDigits drops the digits of a fraction, and the point, that say nothing.
func trimDigits(digits string) string { return strings.TrimRight(digits, "0.") }

// compareDigits orders two fractions by their digits; either may hold a point,
// which does not count.
func compareDigits(a, b string) int {
	a, b = trimDigits(a), trimDigits(b)
	for {
		a, b = strings.TrimPrefix(a, "."), strings.TrimPrefix(b, ".")
		if a == "" || b == "" {
			return cmp.Compare(len(a), len(b)) // what is left ends with a digit that is not 0
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
}

// numberText writes a JSON number in the usual form: 1e2 is 100, 1.50 is 1.5.
// Integers keep all their digits.
func numberText(s string) string {
	if !strings.ContainsAny(s, ".eE") {
		return s
	}
	d := parseDecimal(s)
	if d.sign == 0 {
		return "0"
	}
	digits := strings.TrimRight(strings.Replace(d.digits, ".", "", 1), "0")
	var b strings.Builder
	if d.sign < 0 {
		b.WriteByte('-')
	}
	if d.huge != "" || d.exponent <= -4 || d.exponent > int64(len(digits))+15 {
		writeScientific(&b, digits, d)
	} else {
		writePlain(&b, digits, int(d.exponent))
	}
	return b.String()
}

// writePlain writes 0.digits times 10^point without an exponent.
func writePlain(b *strings.Builder, digits string, point int) {
	switch {
	case point <= 0:
		b.WriteString("0." + strings.Repeat("0", -point) + digits)
	case point >= len(digits):
		b.WriteString(digits + strings.Repeat("0", point-len(digits)))
	default:
		b.WriteString(digits[:point] + "." + digits[point:])
	}
}

// writeScientific writes 0.digits times 10^exponent as jq does: 1.5e+300, 1e-05.
func writeScientific(b *strings.Builder, digits string, d decimal) {
	b.WriteString(digits[:1])
	if len(digits) > 1 {
		b.WriteString("." + digits[1:])
	}
	power, negative := strings.CutPrefix(addToInteger(d.exponentText(), -1), "-")
	b.WriteByte('e')
	if negative {
		b.WriteByte('-')
	} else {
		b.WriteByte('+')
	}
	if len(power) == 1 {
		b.WriteByte('0')
	}
	b.WriteString(power)
}

// parseNumber reads a number out of text as tonumber does: white space around
// it, a plus sign, leading zeros and a bare point are let pass. The result is a
// JSON number.
func parseNumber(text string) (string, bool) {
	s := strings.Trim(text, " \t\r\n")
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = strings.TrimSuffix(s[:1], "+"), s[1:]
	}
	mantissa, power := s, ""
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		mantissa, power = s[:e], "e"+s[e+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || !allDigits(whole) || !allDigits(fraction) {
		return "", false
	}
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	s = sign + whole + fraction + power
	return s, isJSON(s)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// shiftNumber multiplies a JSON number by ten to the power n.
func shiftNumber(s string, n int64) string {
	mantissa, power := s, "0"
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		mantissa, power = s[:e], s[e+1:]
	}
	return mantissa + "e" + addToInteger(power, n)
}

// multiplyNumber multiplies a JSON number by n, exactly.
func multiplyNumber(s string, n int64) string {
	mantissa, power := s, ""
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		mantissa, power = s[:e], s[e:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits, _ := new(big.Int).SetString(whole+fraction, 10)
	product := digits.Mul(digits, big.NewInt(n)).String()
	return shiftNumber(product+power, -int64(len(fraction)))
}
