package expr

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"
)

// compareNumbers orders two JSON numbers by their exact value: 2^53+1 is more
// than 2^53, and 1.0 is 1e0.
func compareNumbers(a, b string) int {
	if isShortInt(a) && isShortInt(b) {
		x, _ := strconv.ParseInt(a, 10, 64)
		y, _ := strconv.ParseInt(b, 10, 64)
		return cmp.Compare(x, y)
	}
	return parseDecimal(a).compare(parseDecimal(b))
}

// isShortInt reports whether s is an integer that int64 surely holds.
func isShortInt(s string) bool {
	if len(s) > 18 {
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
	huge     *big.Int // the exponent, if it does not fit
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
	const safe = 18 // digits that leave room for adding the length of a text
	if n, err := strconv.ParseInt(power, 10, 64); err == nil && len(power) <= safe {
		d.exponent += n
		return
	}
	d.huge, _ = new(big.Int).SetString(power, 10)
	d.huge.Add(d.huge, big.NewInt(d.exponent))
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
	if d.huge == nil && e.huge == nil {
		return cmp.Compare(d.exponent, e.exponent)
	}
	return d.bigExponent().Cmp(e.bigExponent())
}

func (d decimal) bigExponent() *big.Int {
	if d.huge != nil {
		return d.huge
	}
	return big.NewInt(d.exponent)
}

// compareDigits orders two fractions by their digits; either may hold a point,
// which does not count.
func compareDigits(a, b string) int {
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		x, y := byte('0'), byte('0')
		if i < len(a) {
			x, i = a[i], i+1
		}
		if x == '.' {
			continue
		}
		for j < len(b) && b[j] == '.' {
			j++
		}
		if j < len(b) {
			y, j = b[j], j+1
		}
		if x != y {
			return cmp.Compare(x, y)
		}
	}
	return 0
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
	if d.huge != nil || d.exponent <= -4 || d.exponent > int64(len(digits))+15 {
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
	power := new(big.Int).Sub(d.bigExponent(), big.NewInt(1))
	b.WriteByte('e')
	if power.Sign() < 0 {
		b.WriteByte('-')
	} else {
		b.WriteByte('+')
	}
	text := power.Abs(power).String()
	if len(text) == 1 {
		b.WriteByte('0')
	}
	b.WriteString(text)
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
	exponent, _ := new(big.Int).SetString(power, 10)
	exponent.Add(exponent, big.NewInt(n))
	return mantissa + "e" + exponent.String()
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
