package poll

import "github.com/pollcli/poll/poll/internal/exchange"

// A Follow says where to look after the first answer. The zero value is "auto";
// [ParseFollow] makes the others.
type Follow struct{ follow exchange.Follow }

// ParseFollow reads where to look, from one of these:
//
//   - "" or "auto": the answer to a request that starts the operation says where
//     to look, by Azure-AsyncOperation, Operation-Location, or, with 201 or 202,
//     Location, the first of them that is there. After PUT and PATCH without any
//     it is the URL itself, if the answer holds .properties.provisioningState.
//   - "none": no request starts anything; each attempt is the same request.
//   - an expression: its value in the first good answer is the URL, relative to
//     the one that gave the answer.
//   - a URL with expressions in braces, "https://host/v1/{.name}", or such a path.
//     The values are escaped as their place in the URL demands.
func ParseFollow(s string) (Follow, error) {
	f, err := exchange.ParseFollow(s)
	return Follow{f}, err
}

// String returns what f was parsed from.
func (f Follow) String() string { return f.follow.String() }

// ErrUntrusted is the cause of a failure where the next request would have taken
// credentials from https to http, or a body to another origin.
// [HTTP.LocationTrusted] allows both.
var ErrUntrusted = exchange.ErrUntrusted

// TargetName names what is probed in words: of a URL its scheme, host and path,
// of anything else its base name, as of a program's path. Userinfo, query and
// fragment of a URL never appear. It returns "" for "".
func TargetName(s string) string { return exchange.TargetName(s) }
