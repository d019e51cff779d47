// Package waiters holds the programs that make presets of the waiters of AWS, and their test.
package waiters
