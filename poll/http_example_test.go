package poll_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
)

// A POST starts an export, its Location is polled until the rows are there.
func ExampleHTTP() {
	polled := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			w.Header().Set("Location", "/exports/7")
			w.WriteHeader(http.StatusAccepted)
		case polled < 2:
			polled++
			w.WriteHeader(http.StatusAccepted)
		default:
			fmt.Fprint(w, "id,name\n1,x\n")
		}
	}))
	defer server.Close()

	p := poll.Poller{
		Probe:    poll.HTTP{URL: server.URL + "/exports", Body: []byte("table=users")},
		Schedule: backoff.Fixed(time.Millisecond),
		Timeout:  10 * time.Second,
	}
	outcome, err := p.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d attempts\n%s", outcome.State.Attempts, outcome.Observation.Body)
	// Output:
	// 4 attempts
	// id,name
	// 1,x
}

// All pages of a list are one attempt.
func ExampleHTTP_pages() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("after") == "" {
			fmt.Fprint(w, `{"jobs":[{"id":1},{"id":2}],"cursor":"2=="}`)
		} else {
			fmt.Fprint(w, `{"jobs":[{"id":3}],"cursor":null}`)
		}
	}))
	defer server.Close()

	probe := poll.HTTP{URL: server.URL + "/jobs?state=all", Next: "?after={.cursor}"}
	o := probe.Check(context.Background(), poll.Attempt{Number: 1})
	fmt.Printf("%s\n%s\n", o.Body, o.Pages[0])
	// Output:
	// {"jobs":[{"id":1},{"id":2}],"cursor":"2=="}
	// {"jobs":[{"id":3}],"cursor":null}
}
