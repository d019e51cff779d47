// Package syntax parses the condition language. [Parse] turns an expression into a tree,
// with its paths lowered to lookups in a document, or returns an [Error] that says what
// to write instead.
//
// Most errors come from habits of other languages: see habit.
package syntax
