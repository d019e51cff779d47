package learn

import "math"

// reach is the number of standard deviations at which a normal distribution is cut off.
// Beyond it lies 3e-7 of its weight.
const reach = 5

// bellSteps is the number of steps in a standard deviation, which makes the error of a bell
// less than 1e-5.
const bellSteps = 64

// A bell is the standard normal distribution function as a table: a fit needs it 100,000
// times, and the error function takes most of its time otherwise.
type bell [2*reach*bellSteps + 2]float64

func newBell() *bell {
	var b bell
	for i := range b {
		b[i] = 0.5 * math.Erfc((reach-float64(i)/bellSteps)/math.Sqrt2)
	}
	return &b
}

// below returns the chance of a value below z, which may be infinite.
func (b *bell) below(z float64) float64 {
	switch {
	case z <= -reach:
		return 0
	case z >= reach:
		return 1
	}
	at := (z + reach) * bellSteps
	i := int(at)
	return b[i] + (at-float64(i))*(b[i+1]-b[i])
}
