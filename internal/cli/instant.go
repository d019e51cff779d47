package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// took is how long the operation ran by the times in its last answer.
func (l *lesson) took(ctx context.Context, o *status.Observation) (time.Duration, error) {
	started, err := instantOf(ctx, "started-at", l.startedAt, o)
	if err != nil {
		return 0, err
	}
	finished, err := instantOf(ctx, "finished-at", l.finishedAt, o)
	if err != nil {
		return 0, err
	}
	if finished.Before(started) {
		return 0, fmt.Errorf("it finished at %s, before it started at %s", finished.Format(time.RFC3339), started.Format(time.RFC3339))
	}
	return finished.Sub(started), nil
}

func instantOf(ctx context.Context, name string, e *expr.Expr, o *status.Observation) (time.Time, error) {
	value := valueIn(ctx, e, o)
	if !value.Exists() {
		return time.Time{}, fmt.Errorf("--%s %s: %s", name, e, value.Reason)
	}
	at, err := instant(value)
	if err != nil {
		return at, fmt.Errorf("--%s %s: %w", name, e, err)
	}
	return at, nil
}

// A number of seconds since 1970 is one of milliseconds from that on, which as
// seconds would be the year 5138 and as milliseconds is 1973; and from the
// other on it is neither.
const (
	fromMilliseconds = 1e11
	fromNonsense     = 1e14
)

// instant reads a text as RFC 3339 writes it, or a number of seconds or
// milliseconds since 1970, which may be a text as well.
func instant(v expr.Value) (time.Time, error) {
	text := v.Text()
	if v.Kind == expr.KindString {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return at, nil
		}
	} else if v.Kind != expr.KindNumber {
		return time.Time{}, fmt.Errorf("%s is not a time", v.Kind)
	}
	// A number as JSON has it: ParseFloat would also take 0x1p30 or 1_000.
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n < fromNonsense) || !json.Valid([]byte(text)) {
		return time.Time{}, fmt.Errorf("%.40q is neither a time such as 2026-01-02T15:04:05Z nor a number of seconds since 1970", text)
	}
	if n >= fromMilliseconds {
		return time.UnixMicro(int64(math.Round(n * 1e3))).UTC(), nil
	}
	return time.UnixMicro(int64(math.Round(n * 1e6))).UTC(), nil
}
