// Package syntax reads the condition language: it makes a tree of an expression, or
// an error that says what to write instead.
package syntax
