package rawjson

// FromEnd is the text of the n-th element from the end of a valid list, "" if it
// has fewer. It reads backwards, so the last element of a long list costs little.
func FromEnd(raw string, n int) string {
	depth := 0
	end := len(raw) - 1 // the closing bracket
	for i := end - 1; i >= 0; i-- {
		switch raw[i] {
		case '"':
			i = openingQuote(raw, i)
		case ']', '}':
			depth++
		case '[', '{', ',':
			if depth > 0 {
				if raw[i] != ',' {
					depth--
				}
				continue
			}
			// A comma before the element, or the bracket that opens the list.
			if n--; n == 0 {
				return raw[SkipSpace(raw, i+1):end]
			}
			end = i
		}
	}
	return ""
}

// openingQuote is the offset of the quote that opens the string closed at i. Inside a
// string every quote follows an odd number of backslashes.
func openingQuote(raw string, i int) int {
	for i--; ; i-- {
		if raw[i] != '"' {
			continue
		}
		slashes := 0
		for raw[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

// Flatten replaces the lists in a list by their members; if deep, also the lists in
// those. gjson's own takes time by the square of the depth.
func Flatten(raw string, deep bool) string {
	out := []byte{'['}
	limit := 2
	if deep {
		limit = MaxDepth + 1
	}
	lists := 0
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '[' && lists < limit:
			lists++
			i++
		case c == ']':
			lists--
			i++
		case c <= ' ' || c == ',':
			i++
		default:
			end, _ := Scan(raw, i, MaxDepth)
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, raw[i:end]...)
			i = end
		}
	}
	return string(append(out, ']'))
}
