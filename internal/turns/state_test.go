package turns

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// now is some time, on which the tests go on.
const now = 1_000_000 * Second

// A bench is where members claim, at times in seconds since now.
type bench struct {
	State
	strings.Builder
}

func (b *bench) claim(m *Member, at, wait float64) Turn {
	turn, until := b.Claim(m, time(at), span(wait))
	fmt.Fprintf(b, "%-4g %c %s", at, 'a'-1+rune(m.ID), [...]string{"holds", "takes", "asks", "asks alone"}[turn])
	if turn == Hold {
		fmt.Fprintf(b, " until %g", float64(until-now)/float64(Second))
	}
	fmt.Fprintf(b, ", %d so far\n", b.N)
	return turn
}

func (b *bench) end(m *Member, at float64, e Ending, next float64) {
	word := "ends"
	if !b.End(*m, time(at), e, span(next)) {
		word = "is late"
	}
	m.Since, m.Versed, m.N, m.First = m.Claimed, true, b.N, b.First
	fmt.Fprintf(b, "%-4g %c %s\n", at, 'a'-1+rune(m.ID), word)
}

func span(seconds float64) int64 { return int64(seconds * float64(Second)) }
func time(seconds float64) int64 { return now + span(seconds) }

func member(id uint64, since float64) *Member { return &Member{ID: id, Since: time(since)} }

func TestTurns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		play func(*bench)
		want string
	}{
		{"one asks, the others take that once", func(b *bench) {
			x, y, z := member(1, -1), member(2, -1), member(3, 0.1)
			b.claim(x, 0, 0)
			b.claim(y, 0.1, 0)
			b.claim(z, 0.1, 0)
			b.end(x, 0.2, Answered, 1)
			b.claim(y, 0.2, 0)
			b.claim(z, 0.2, 0) // its wait began after x has asked
			b.claim(x, 1.2, 1)
			b.claim(y, 1.2, 1)
			b.end(x, 1.3, Answered, 2)
			b.claim(y, 1.3, 1)
			b.claim(z, 1.3, 0)
			b.claim(y, 3.3, 2)
		}, `
0    a asks, 0 so far
0.1  b holds until 1.1, 0 so far
0.1  c holds until 1.1, 0 so far
0.2  a ends
0.2  b takes, 1 so far
0.2  c holds until 0.7, 1 so far
1.2  a asks, 1 so far
1.2  b holds until 6.2, 1 so far
1.3  a ends
1.3  b takes, 2 so far
1.3  c takes, 2 so far
3.3  b asks, 2 so far
`},
		{"an answer to what was asked at the same time as a wait began does not count", func(b *bench) {
			x, y := member(1, 0), member(2, 0)
			b.claim(x, 0, 0)
			b.end(x, 0.1, Answered, 0)
			b.claim(y, 0.1, 0)
		}, `
0    a asks, 0 so far
0.1  a ends
0.1  b asks, 0 so far
`},
		{"who does not renew loses its turn after a lease, and is late", func(b *bench) {
			x, y := member(1, -1), member(2, -1)
			b.claim(x, 0, 0)
			b.claim(y, 4.9, 0)
			b.Renew(*x, time(4.9))
			b.claim(y, 9.8, 0)
			b.claim(y, 9.9, 0)
			if b.Renew(*x, time(10)) || b.Release(*x) {
				fmt.Fprintln(b, "it has it still")
			}
			b.end(x, 10, Answered, 1)
			b.end(y, 11, Answered, 1)
		}, `
0    a asks, 0 so far
4.9  b holds until 5, 0 so far
9.8  b holds until 9.9, 0 so far
9.9  b asks, 0 so far
10   a is late
11   b ends
`},
		{"who asks again in its own lease is late with what it asked before", func(b *bench) {
			x := member(1, -1)
			b.claim(x, 0, 0)
			before := *x
			b.claim(x, 1, 0)
			b.end(&before, 2, Answered, 1)
		}, `
0    a asks, 0 so far
1    a asks, 0 so far
2    a is late
`},
		{"a newcomer holds for half of the wait, and no longer than until the others are due", func(b *bench) {
			x, y, z := member(1, -1), member(2, 1), member(3, 9)
			b.claim(x, 0, 0)
			b.end(x, 0.5, Answered, 10)
			b.claim(y, 1, 0)
			b.claim(z, 9, 0)
			b.claim(y, 2, 0) // not due: it holds as before
			b.claim(y, 6, 0)
			b.end(y, 6.5, Answered, 10)
			b.claim(z, 6.5, 0)
		}, `
0    a asks, 0 so far
0.5  a ends
1    b holds until 6, 1 so far
9    c holds until 10.5, 1 so far
2    b holds until 6, 1 so far
6    b asks, 1 so far
6.5  b ends
6.5  c holds until 10.5, 2 so far
`},
		{"a newcomer does not hold if the others are late, or have all ended", func(b *bench) {
			x, y, z := member(1, -1), member(2, 1), member(3, 1)
			b.claim(x, 0, 0)
			b.end(x, 0, Answered, 10)
			b.claim(y, 11, 0)
			b.end(y, 11.5, Answered, 0)
			b.claim(z, 11.6, 0) // it takes that answer
			late := member(4, 12)
			b.claim(late, 12, 0)
		}, `
0    a asks, 0 so far
0    a ends
11   b asks, 1 so far
11.5 b ends
11.6 c takes, 2 so far
12   d asks, 0 so far
`},
		{"a wait after others that have ended is the first of a series; who was with them goes on", func(b *bench) {
			x, y := member(1, -1), member(2, -1)
			b.claim(x, 0, 0)
			b.end(x, 0, Answered, 10)
			b.claim(y, 0, 0)
			b.claim(y, 10, 10)
			b.end(y, 10, Answered, 10)
			newcomer := member(3, 35)
			copied := *b
			copied.Builder = strings.Builder{}
			copied.claim(newcomer, 35.1, 0)
			b.claim(x, 35.1, 10)
			b.claim(y, 35.1, 10)
			b.WriteString(copied.String())
		}, `
0    a asks, 0 so far
0    a ends
0    b takes, 1 so far
10   b asks, 1 so far
10   b ends
35.1 a takes, 2 so far
35.1 b asks, 2 so far
35.1 c asks, 0 so far
`},
		{"after a failure, the others hold for a while, unless who failed goes on no longer", func(b *bench) {
			x, y := member(1, -1), member(2, -1)
			b.claim(x, 0, 0)
			b.end(x, 0.1, Failed, 1)
			b.claim(y, 0.2, 0)
			b.claim(x, 1.1, 1)
			b.end(x, 1.2, Failed, 0)
			b.claim(y, 6, 0)
			b.claim(y, 6.1, 0)
		}, `
0    a asks, 0 so far
0.1  a ends
0.2  b holds until 1.1, 1 so far
1.1  a asks, 1 so far
1.2  a ends
6    b asks, 0 so far
6.1  b asks, 0 so far
`},
		{"all ask if the answer is too long", func(b *bench) {
			x, y, z := member(1, -1), member(2, -1), member(3, -1)
			b.claim(x, 0, 0)
			b.end(x, 0.1, TooLong, 2)
			b.claim(y, 0.1, 0)
			b.claim(z, 0.1, 0)
			b.claim(x, 2.1, 2)
			b.claim(x, 9.2, 2) // it may be shorter now
			b.claim(y, 9.2, 2)
		}, `
0    a asks, 0 so far
0.1  a ends
0.1  b asks alone, 1 so far
0.1  c asks alone, 1 so far
2.1  a asks alone, 1 so far
9.2  a asks, 1 so far
9.2  b holds until 10.2, 1 so far
`},
		{"all ask that, too, if who has found out asks no more", func(b *bench) {
			x, y := member(1, -1), member(2, -1)
			b.claim(x, 0, 0)
			b.end(x, 0, Answered, 4)
			b.claim(x, 4, 4)
			b.end(x, 4, TooLong, 0)
			b.claim(y, 17, 0)
			b.claim(y, 17.1, 0)
		}, `
0    a asks, 0 so far
0    a ends
4    a asks, 1 so far
4    a ends
17   b asks alone, 2 so far
17.1 b asks, 0 so far
`},
		{"whose schedule is shorter asks first", func(b *bench) {
			x, y := member(1, -1), member(2, -1)
			b.claim(x, 0, 0)
			b.end(x, 0, Answered, 10)
			b.claim(y, 0, 0)
			b.claim(y, 3, 3)
		}, `
0    a asks, 0 so far
0    a ends
0    b takes, 1 so far
3    b asks, 1 so far
`},
		{"who gives its turn back keeps nobody", func(b *bench) {
			x, y := member(1, -1), member(2, -1)
			b.claim(x, 0, 0)
			b.Release(*x)
			b.claim(y, 0, 0)
		}, `
0    a asks, 0 so far
0    b asks, 0 so far
`},
		{"a clock that is set back makes nothing of before count", func(b *bench) {
			x, y, z := member(1, -1), member(2, -1), member(3, -4)
			b.claim(x, 0, 0)
			b.claim(y, 1, 0)
			b.claim(y, -4, 0) // no lease ends so late
			b.end(x, -3.9, Answered, 1)
			b.end(y, -3, Answered, 1)
			b.claim(z, -3, 0)
			b.claim(x, -2, 1)
		}, `
0    a asks, 0 so far
1    b holds until 2, 0 so far
-4   b asks, 0 so far
-3.9 a is late
-3   b ends
-3   c holds until -2.5, 1 so far
-2   a asks, 1 so far
`},
		{"an answer of a time to come is none", func(b *bench) {
			b.State = State{Begun: time(5), Ended: time(6), N: 1, Next: Second}
			b.claim(member(1, -1), 0, 0)
		}, `
0    a holds until 0.5, 1 so far
`},
		{"nobody holds for longer than half an hour, whatever is written", func(b *bench) {
			b.State = State{Ended: math.MaxInt64, N: math.MaxInt64, First: math.MaxInt64, Next: math.MaxInt64, Wait: math.MaxInt64}
			b.claim(member(1, -1), 0, 0)
			b.State = State{Owner: 7, Claimed: time(0), Lease: time(5.1)}
			b.claim(member(1, -1), 0, 0)
			b.State = State{Owner: 7, Claimed: time(-3600), Lease: time(5)}
			b.claim(member(1, -1), 0, 0)
			b.State = State{Owner: 7, Claimed: time(1), Lease: time(5)}
			b.claim(member(1, -1), 0, 0)
		}, `
0    a holds until 1800, 1073741824 so far
0    a asks, 0 so far
0    a asks, 0 so far
0    a asks, 0 so far
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := new(bench)
			test.play(b)
			if diff := cmp.Diff(strings.TrimLeft(test.want, "\n"), b.String()); diff != "" {
				t.Errorf("want(-) have(+):\n%s", diff)
			}
		})
	}
}

// The wait that is shared is that of those who go by the series, and not of a newcomer.
func TestState_wait(t *testing.T) {
	t.Parallel()
	b := new(bench)
	x, y := member(1, -1), member(2, 5)
	b.claim(x, 0, 3)
	b.end(x, 0, Answered, 4)
	if b.Wait != 3*Second {
		t.Errorf("at first %d", b.Wait)
	}
	b.claim(x, 4, 4)
	b.end(x, 4, Answered, 8)
	b.claim(y, 9, 0)
	b.claim(y, 12, 0)
	b.end(y, 12, Answered, 8)
	if b.Wait != 4*Second || b.Next != 8*Second || b.N != 3 || b.Ended != time(12) || b.First != time(0) {
		t.Errorf("%+v", b.State)
	}
	b.Claim(y, time(20), math.MaxInt64)
	if b.End(*y, time(20), Answered, -5); b.Wait != 3600*Second || b.Next != 0 {
		t.Errorf("%+v", b.State)
	}
}

// No two attempts begin at the same time: each answer can be told from the one before.
func TestState_begun(t *testing.T) {
	t.Parallel()
	b := new(bench)
	x := member(1, -1)
	var last int64
	for range 3 {
		if b.claim(x, 0, 0) != Ask || b.Claimed == last {
			t.Errorf("%+v", b.State)
		}
		last = b.Claimed
		b.end(x, 0.000001, Answered, 0)
	}
}

func TestState_keep(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		state State
		want  float64
	}{
		{State{}, 60},
		{State{Ended: now, Wait: 100 * Second}, 260},
		{State{Ended: now - 10*Second, Wait: Second, Next: 100 * Second}, 250},
		{State{Lease: now + 90*Second}, 90},
	} {
		if have := test.state.Keep(now); have != span(test.want) {
			t.Errorf("%+v is kept for %d, want %g s", test.state, have, test.want)
		}
	}
}
