package expr

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// The exponent of a number in an answer may have a million digits. It is only
// ever compared, or has a small number added, which takes linear time as text.

// compareIntegers orders two integers without leading zeros.
func compareIntegers(a, b string) int {
	x, below := strings.CutPrefix(a, "-")
	y, belowToo := strings.CutPrefix(b, "-")
	switch {
	case below && belowToo:
		return -compareIntegers(x, y)
	case below:
		return -1
	case belowToo:
		return 1
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y))
}

// addToInteger adds n, of at most shortInt digits, to an integer that may have a
// sign and leading zeros. The result has no leading zeros, and no plus sign.
func addToInteger(integer string, n int64) string {
	digits, negative := strings.CutPrefix(integer, "-")
	digits = strings.TrimLeft(strings.TrimPrefix(digits, "+"), "0")
	sign := ""
	if negative {
		sign, n = "-", -n
	}
	if len(digits) <= shortInt {
		x, _ := strconv.ParseInt("0"+digits, 10, 64)
		if x += n; negative {
			x = -x
		}
		return strconv.FormatInt(x, 10)
	}
	const whole = 1e18 // ten to the power shortInt
	head, tail := digits[:len(digits)-shortInt], digits[len(digits)-shortInt:]
	x, _ := strconv.ParseInt(tail, 10, 64)
	switch x += n; {
	case x >= whole:
		x, head = x-whole, carry(head, '9', '0', 1)
	case x < 0:
		x, head = x+whole, carry(head, '0', '9', -1)
	}
	return sign + strings.TrimLeft(fmt.Sprintf("%s%0*d", head, shortInt, x), "0")
}

// carry adds one to digits, or takes it away: the digits at the end that are full
// turn into empty ones, and the one before them changes by delta.
func carry(digits string, full, empty byte, delta int) string {
	b := []byte("0" + digits)
	i := len(b) - 1
	for ; b[i] == full; i-- {
		b[i] = empty
	}
	b[i] = byte(int(b[i]) + delta)
	return string(b)
}
