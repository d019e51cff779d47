package fleet

// A crowd counts who uses a record.
type crowd struct {
	Window int64   `json:"window"`
	Here   float64 `json:"here"`   // processes of this window
	Before float64 `json:"before"` // of the one before
}

const (
	window    = 30_000_000 // microseconds
	signers   = 50         // about as many processes sign in
	mostCrowd = 10_000
)

// settle makes a crowd one of the window of a time.
func (c *crowd) settle(now int64) {
	if w := now / window; w != c.Window {
		if c.Before = c.Here; w != c.Window+1 {
			c.Before = 0
		}
		c.Window, c.Here = w, 0
	}
	c.Here, c.Before = min(max(c.Here, 0), mostCrowd), min(max(c.Before, 0), mostCrowd)
}

// signIn counts a process, once in each window. Of many only some sign, each for several, or
// they would do nothing else: u is between 0 and 1.
func (c *crowd) signIn(last int64, u float64) (window int64) {
	if each := max(1, c.size()/signers); last != c.Window && u*each < 1 {
		c.Here += each
	}
	return c.Window
}

func (c *crowd) size() float64 { return max(1, c.Here, c.Before) }
