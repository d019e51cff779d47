package request

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
)

// maxRenewed is how many of the values that were renewed are kept out of errors, the last
// ones: a server can repeat only what it was sent lately.
const maxRenewed = 64

// A renewed renews header fields that have changed before each call and, if that was refused
// with a 401, once more after it: the next attempt may then be let in. It is the layer around
// [conditional].
type renewed struct{ *conditional }

func (r renewed) do(ctx context.Context, next call) *answer {
	if r.client.Refresh == nil {
		return r.conditional.do(ctx, next)
	}
	_, remark := r.renew(ctx, false)
	a := r.conditional.do(ctx, next)
	a.remark(remark)
	if a.code == http.StatusUnauthorized {
		a.Renewed, remark = r.renew(ctx, true)
		a.remark(remark)
	}
	return a
}

func (a *answer) remark(words string) {
	if words != "" {
		a.Remarks = append(slices.Clip(a.Remarks), words)
	}
}

// renew takes header fields that have changed, if there are any. The remark says why some
// could not be asked for, "" if all could.
func (r renewed) renew(ctx context.Context, refused bool) (changed bool, remark string) {
	c := r.client
	fields, err := c.Refresh(ctx, refused)
	fields, malformed := checkHeader(fields)
	if err = cmp.Or(err, malformed); err != nil {
		remark = "not all of the header is renewed: " + redact(err.Error(), slices.Concat(c.secrets, c.renewed))
	}
	for name, values := range fields {
		if slices.Equal(c.Header[name], values) {
			continue
		}
		header := http.Header{name: values}
		maps.Copy(header, c.Header) // which may be shared, or nil
		header[name] = values
		changed, c.Header = true, header
		if !goesAnywhere(name) {
			c.renewed = slices.Concat(values, c.renewed)
			c.renewed = c.renewed[:min(len(c.renewed), maxRenewed)]
		}
	}
	return changed, remark
}
