package simulate

import (
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
)

func TestConfig_validate(t *testing.T) {
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
		{"model", ModelQueue, func(c *Config) { c.Model = "lock" }, `model: "lock" is neither queue nor occ`},
		{"queue without waiting", ModelQueue, func(c *Config) { c.Algorithms = none },
			"algorithm: clients of model queue that do not wait would ask for ever; choose from exponential, full, equal, decorrelated"},
		{"no algorithm", ModelQueue, func(c *Config) { c.Algorithms = nil },
			"algorithm: none given; choose from exponential, full, equal, decorrelated"},
		{"no clients", ModelQueue, func(c *Config) { c.Clients = nil }, "clients: no number given"},
		{"0 clients", ModelQueue, func(c *Config) { c.Clients = []int{5, 0} }, "clients: 0 is not from 1 to 1000000"},
		{"too many clients", ModelQueue, func(c *Config) { c.Clients = []int{2_000_000} },
			"clients: 2000000 is not from 1 to 1000000"},
		{"trials", ModelQueue, func(c *Config) { c.Trials = 0 }, "trials: 0 is below 1"},
		{"too many trials", ModelQueue, func(c *Config) { c.Trials = 1e9 }, "trials: 1000000000 of each are more than 10000000 in all"},
		{"service", ModelQueue, func(c *Config) { c.ServiceMin = -time.Second }, "service: -1s is negative"},
		{"service range", ModelQueue, func(c *Config) { c.ServiceMax = time.Millisecond }, "service: 8ms to 1ms ends before it begins"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := Defaults(tt.model)
			tt.change(&c)
			err := c.validate()
			if tt.want == "" {
				if err != nil {
					t.Errorf("error %v, want none", err)
				}
				return
			}
			if err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}
