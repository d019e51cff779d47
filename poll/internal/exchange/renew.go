package exchange

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/pollcli/poll/status"
)

// maxRenewed is how many of the values that were renewed are kept out of errors, the last
// ones: a server can repeat only what it was sent lately.
const maxRenewed = 64

// Look makes one attempt. The last look asks for the whole answer.
//
// Header fields that have changed are renewed before it and, if it was refused with a 401,
// once more after it: the next attempt may then be let in.
func (s *Session) Look(ctx context.Context, last bool) status.Observation {
	if s.client.Refresh == nil {
		return s.look(ctx, last)
	}
	_, remark := s.renew(ctx, false)
	start := s.startDue
	o := s.look(ctx, last)
	if remark != "" {
		o.Remarks = append(o.Remarks, remark)
	}
	if o.Code == nil || *o.Code != http.StatusUnauthorized {
		return o
	}
	if o.Renewed, remark = s.renew(ctx, true); remark != "" {
		o.Remarks = append(o.Remarks, remark)
	}
	s.startDue = s.startDue || start && o.Renewed && o.Following.Start // nothing was started
	o.Following.Due = o.Following.Due || s.startDue
	return o
}

// renew takes header fields that have changed, if there are any. The remark says why some
// could not be asked for, "" if all could.
func (s *Session) renew(ctx context.Context, refused bool) (changed bool, remark string) {
	c := s.client
	fields, err := c.Refresh(ctx, refused)
	fields, malformed := checkHeader(fields)
	if err = cmp.Or(err, malformed); err != nil {
		remark = "not all of the header is renewed: " + c.secrets.clean(err.Error())
	}
	for name, values := range fields {
		if slices.Equal(c.Header[name], values) {
			continue
		}
		if !changed {
			before := c.Header // which may be shared, or nil
			changed, c.Header = true, make(http.Header, len(before)+1)
			maps.Copy(c.Header, before)
		}
		c.Header[name] = values
		if !goesAnywhere(name) {
			c.secrets.addRenewed(values...)
			c.given.guarded = c.given.guarded || name != "Host" && len(values) > 0
		}
	}
	s.at.guarded = s.at.guarded || s.at.trusted && c.given.guarded
	return changed, remark
}
