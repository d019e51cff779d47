package poll

import "net/http"

// validators are what a conditional request asks by.
type validators struct{ etag, lastModified string }

func (v validators) set(req *http.Request) {
	if v.etag != "" {
		req.Header.Set("If-None-Match", v.etag)
	}
	if v.lastModified != "" {
		req.Header.Set("If-Modified-Since", v.lastModified)
	}
}
