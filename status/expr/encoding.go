package expr

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const byteOrderMark = "\ufeff"

// decodeText returns a text as UTF-8 without its byte order mark. One in UTF-16, as
// programs of Windows write it, is known by that mark.
func decodeText(b []byte) string {
	s := viewString(b) // no copy: an answer may have 64 MiB, and this package never writes to it
	switch {
	case strings.HasPrefix(s, "\xff\xfe"):
		return fromUTF16(b[2:], binary.LittleEndian)
	case strings.HasPrefix(s, "\xfe\xff"):
		return fromUTF16(b[2:], binary.BigEndian)
	}
	return strings.TrimPrefix(s, byteOrderMark)
}

// fromUTF16 puts U+FFFD in the place of what is no character.
func fromUTF16(b []byte, order binary.ByteOrder) string {
	var s strings.Builder
	s.Grow(len(b) / 2)
	for len(b) >= 2 {
		r := rune(order.Uint16(b))
		b = b[2:]
		if utf16.IsSurrogate(r) {
			second := rune(utf8.RuneError)
			if len(b) >= 2 {
				second = rune(order.Uint16(b))
			}
			if r = utf16.DecodeRune(r, second); r != utf8.RuneError {
				b = b[2:]
			}
		}
		s.WriteRune(r)
	}
	if len(b) > 0 {
		s.WriteRune(utf8.RuneError)
	}
	return s.String()
}

// misread says what keeps a text, which is no JSON, from being any, if that is how its
// characters are written.
func misread(text string, at int) string {
	switch r, size := utf8.DecodeRuneInString(text[at:]); {
	case strings.Contains(text[:min(len(text), 4)], "\x00"):
		return "UTF-16 without a byte order mark"
	case r == utf8.RuneError && size == 1:
		return "no UTF-8, but another code page"
	}
	return ""
}
