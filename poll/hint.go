package poll

import (
	"net/http"
	"strconv"
	"time"

	"github.com/pollcli/poll/status"
)

// retryAfter reads Retry-After in whole seconds.
func retryAfter(header http.Header) *status.Hint {
	n, err := strconv.ParseUint(header.Get("Retry-After"), 10, 31)
	if err != nil {
		return nil
	}
	return &status.Hint{Wait: time.Duration(n) * time.Second, Source: "Retry-After"}
}
