// Package system has what a program asks of its system beyond the standard library: signals
// that end it, the end of another process, and files that are whole or not there.
package system
