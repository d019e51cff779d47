package simulate

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
)

func TestConfig_Validate(t *testing.T) {
	t.Parallel()
	none := []Algorithm{{Name: "none", Schedule: backoff.Fixed(0)}}
	tests := []struct {
		name   string
		model  Model
		change func(*Config)
		want   string
	}{
		{"queue", ModelQueue, func(*Config) {}, ""},
		{"occ", ModelOCC, func(*Config) {}, ""},
		{"occ without waiting", ModelOCC, func(c *Config) { c.Algorithms = none }, ""},
		{"model", ModelQueue, func(c *Config) { c.Model = "lock" }, `model: "lock" is none of queue, occ, limit, answers`},
		{"queue without waiting", ModelQueue, func(c *Config) { c.Algorithms = none },
			"algorithm: clients of model queue that do not wait would ask for ever; there are exponential, full, equal, decorrelated"},
		{"no algorithm", ModelQueue, func(c *Config) { c.Algorithms = nil },
			"algorithm: none given, there are exponential, full, equal, decorrelated"},
		{"no clients", ModelQueue, func(c *Config) { c.Clients = nil }, "clients: no number given"},
		{"0 clients", ModelQueue, func(c *Config) { c.Clients = []int{5, 0} }, "clients: 0 is not from 1 to 1000000"},
		{"too many clients", ModelQueue, func(c *Config) { c.Clients = []int{2_000_000} },
			"clients: 2000000 is not from 1 to 1000000"},
		{"trials", ModelQueue, func(c *Config) { c.Trials = 0 }, "trials: 0 is below 1"},
		{"too many trials", ModelQueue, func(c *Config) { c.Trials = 1e9 }, "trials: 1000000000 of each are more than 10000000 in all"},
		{"service", ModelQueue, func(c *Config) { c.ServiceMin = -time.Second }, "service: -1s is negative"},
		{"service range", ModelQueue, func(c *Config) { c.ServiceMax = time.Millisecond }, "service: 8ms to 1ms ends before it begins"},
		{"limit", ModelLimit, func(*Config) {}, ""},
		{"answers", ModelAnswers, func(c *Config) { c.Limit = Limit{} }, ""},
		{"together in a queue", ModelQueue, func(c *Config) { c.Algorithms = ModelLimit.Algorithms(0, 0) },
			`algorithm: clients of model queue cannot go together as "gate"`},
		{"together for answers", ModelLimit, func(c *Config) { c.Algorithms = ModelAnswers.Algorithms(0, 0) },
			`algorithm: clients of model limit cannot go together as "newer"`},
		{"until", ModelLimit, func(c *Config) { c.Until = 721 * time.Hour }, "until time: 721h0m0s is not from 1s to 720h"},
		{"no time", ModelAnswers, func(c *Config) { c.Until = 0 }, "until time: 0s is not from 1s to 720h"},
		{"arrival", ModelAnswers, func(c *Config) { c.Arrival = c.Until + 1 },
			"arrival: 10m0.000000001s is not from 0s to 10m0s, when it is over"},
		{"rate", ModelLimit, func(c *Config) { c.Limit.PerSecond = 0 }, "rate: 0 a second is not above 0, or more than 1000000000"},
		{"burst", ModelLimit, func(c *Config) { c.Limit.Burst = 0 }, "burst: 0 is below 1"},
		{"retry after", ModelLimit, func(c *Config) { c.Limit.RetryAfter = -1 }, "retry after: -1ns is not from 0s to 720h"},
		{"extend", ModelLimit, func(c *Config) { c.Limit.RetryAfter, c.Limit.Extends = 0, true },
			"extend: there is nothing to extend without a wait that a refusal asks for"},
		{"guess", ModelLimit, func(c *Config) { c.Limit.Guess = -1 }, "guess: -1 a second is negative, or more than 1000000000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := Defaults(tt.model)
			tt.change(&c)
			err := c.Validate()
			if tt.want == "" {
				if err != nil {
					t.Errorf("error %v, want none", err)
				}
				return
			}
			if _, ok := errors.AsType[*backoff.ParameterError](err); !ok || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestImports(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no Go here")
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatalf("list imports: %v", err)
	}
	const want = "github.com/pollcli/poll/backoff github.com/pollcli/poll/internal/pace github.com/pollcli/poll/internal/turns github.com/pollcli/poll/backoff/simulate"
	if got := strings.Join(strings.Fields(string(out)), " "); got != want {
		t.Errorf("depends on %q outside of the standard library, want %q", got, want)
	}
}
