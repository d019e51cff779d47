// Command sseserver pushes the state of a job as server-sent events, by a library that is not poll's own.
//
//	sseserver ADDRESS [LIFE]
//
// GET /events?stream=job streams them, POST /state?is=STATE changes the state. A stream ends after LIFE.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/r3labs/sse/v2"
)

func main() {
	life := 24 * time.Hour
	if len(os.Args) > 2 {
		life, _ = time.ParseDuration(os.Args[2])
	}
	server := sse.New() // which replays all events behind Last-Event-ID
	server.CreateStream("job")
	say := func(state string) {
		server.Publish("job", &sse.Event{Event: []byte("state"), Data: fmt.Appendf(nil, `{"state":%q}`, state)})
	}
	say("running")
	http.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		log.Printf("events, Last-Event-ID %q", r.Header.Get("Last-Event-ID"))
		ctx, cancel := context.WithTimeout(r.Context(), life)
		defer cancel()
		server.ServeHTTP(w, r.WithContext(ctx))
	})
	http.HandleFunc("POST /state", func(_ http.ResponseWriter, r *http.Request) { say(r.URL.Query().Get("is")) })
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}
