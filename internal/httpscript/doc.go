// Package httpscript is a scripted HTTP server for tests, and the language of its
// scripts. The scripts of the command line, the conversations of package poll and
// scripts/torture use it; the program does not import it. [Streams] returns standard
// streams for tests of the command line.
//
// An answer is
//
//	[N*]CODE[,NAME=VALUE...][:BODY]
//
// It stands for N answers with this status code, these headers and this body. A
// value with a comma or a colon stands in <>. {date} in a header is the time of the
// answer. A body of @FILE is the content of the file; \n at the end of a body is a
// newline.
//
// An answer that does not fit on one line continues: after the first line come
// headers, as they are sent, then an empty line and the body.
//
// In place of a status code, "hang" never answers, "close" closes the connection
// and "raw" sends the body, or the further lines, as they are and closes it.
//
// These names are not headers:
//
//	delay=D    the answer comes after that time
//	touch=FILE the file is made when the request has come
//	until=FILE the response comes once that file exists
//	gzip       the body is compressed
//	repeat=N   the body comes N times
//	headers=N  N more headers, of about 64 bytes each
//	cut=N      the connection is closed after N bytes of the body
//	next=URL   the header Link names the next page
//	drip=D     the body comes byte by byte, each after that pause
package httpscript
