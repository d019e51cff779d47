// Package syntax reads the condition language. [Parse] makes a tree of an expression,
// whose paths are lowered to what is looked up in a document, or an [Error], which says
// what to write instead.
//
// Most of the errors come of habits from other languages: see habit. What is refused
// is read once more as a jq program, and translated where its meaning is known.
package syntax
