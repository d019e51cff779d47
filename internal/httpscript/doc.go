// Package httpscript is the language in which tests script an HTTP server, and
// that server. It serves the scripts of the command line, the conversations of
// package poll and scripts/torture; the program does not import it.
//
// An answer is
//
//	[N*]CODE[,NAME=VALUE...][:BODY]
//
// N times this status code with these headers and this body. A value with a
// comma or a colon stands in <>. Times from now are written {date +10s}, in one
// of the forms date, rfc850, asctime, rfc3339, epoch, epochms and hex. A body of
// @FILE is the content of the file; \n at the end of a body is a newline.
//
// What does not fit into a line has several: the further ones are headers as
// they are sent, and behind an empty one comes the body.
//
// In place of a status code, "hang" never answers, "close" closes the connection
// and "raw" sends the body, or the further lines, as they are and closes it.
//
// These names are no headers:
//
//	delay=D    the answer comes after that time
//	touch=FILE the file is made when the request is there
//	gzip       the body is compressed
//	repeat=N   the body comes so many times
//	headers=N  so many more headers, of 64 bytes each
//	cut=N      the connection is closed after so many bytes of the body
//	drip=D     the body comes by a byte after each such pause
package httpscript
