module github.com/pollcli/poll/scripts/realservers.d/sseserver

go 1.26.0

require github.com/r3labs/sse/v2 v2.10.0

require (
	golang.org/x/net v0.62.0 // indirect
	gopkg.in/cenkalti/backoff.v1 v1.1.0 // indirect
)
