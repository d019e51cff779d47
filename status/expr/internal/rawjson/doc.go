// Package rawjson works on JSON text as it stands, without decoding it into Go
// values: whether it is valid and not nested too deep, how numbers compare, by their
// exact values, when two texts mean the same, and how text is cut for a line.
//
// All of it takes time in proportion to the text (sorting keys aside), whatever
// the text holds, for it comes from elsewhere.
package rawjson
