package pace

import "time"

// A Clock turns the times of this process into those of a [State], without regard to
// somebody who sets the system's clock. The zero value is ready.
type Clock struct {
	began time.Time
}

// Now returns the time.
func (c *Clock) Now() int64 { return c.At(time.Now()) }

// At returns a time as that of a State.
func (c *Clock) At(t time.Time) int64 {
	if c.began.IsZero() {
		c.began = t
	}
	return c.began.UnixMicro() + t.Sub(c.began).Microseconds()
}

// Time returns a time of a State.
func (c *Clock) Time(at int64) time.Time {
	return c.began.Add(Duration(at - c.began.UnixMicro()))
}

// Duration returns a span as a duration.
func Duration(span int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Microsecond)
	return time.Duration(max(-most, min(span, most))) * time.Microsecond
}

// Span returns a duration as a span.
func Span(d time.Duration) int64 { return d.Microseconds() }

// knownShare is the share of a known rate that is used. A limit without any burst refuses
// far less at 95% than at 99%.
const knownShare = 0.95

// Most returns the highest rate at places that allow perSecond, or about so many.
func Most(perSecond float64, known bool) float64 {
	if known {
		perSecond *= knownShare
	}
	return max(0, perSecond)
}
