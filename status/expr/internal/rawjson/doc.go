// Package rawjson works on JSON text as it stands, without decoding it into Go values:
// whether it is valid and not nested too deep, how numbers compare by their exact values,
// whether two texts mean the same, and how text is cut to a line.
//
// Apart from sorting keys, everything takes time in proportion to the text, whatever it
// holds, since it comes from outside.
package rawjson
