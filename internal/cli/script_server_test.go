package cli

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pollcli/poll/internal/httpscript"
)

// serve starts a server that returns the responses in turn, and then repeats the
// last response. Package httpscript describes the form of a response:
//
//	serve [-tls|-unix] NAME ANSWER...
//	serve -routes NAME FILE
//
// With -routes the file has lines METHOD PATH ANSWER..., and the responses of each path
// have their own order. $NAME is the URL of the server. The file NAME.pem holds the
// certificate of -tls, and NAME.sock is the socket of -unix.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	how, name, next := serverArgs(ts, neg, args)
	network, address := "tcp", "127.0.0.1:0"
	if how == "-unix" {
		network, address = "unix", ts.MkAbs(name+".sock")
	}
	listener, err := net.Listen(network, address)
	ts.Check(err)
	url := "http://" + listener.Addr().String()
	switch how {
	case "":
	case "-tls":
		url = "https://" + listener.Addr().String()
		owner := httptest.NewTLSServer(nil) // the source of a certificate
		owner.Close()
		listener = tls.NewListener(listener, &tls.Config{Certificates: owner.TLS.Certificates})
		block := pem.Block{Type: "CERTIFICATE", Bytes: owner.Certificate().Raw}
		ts.Check(os.WriteFile(ts.MkAbs(name+".pem"), pem.EncodeToMemory(&block), 0o666))
	case "-unix":
		url = "http://" + name + ".test"
	default:
		ts.Fatalf("there is no serve %s", how)
	}
	server := httpscript.Start(listener, next)
	ts.Defer(server.Close)
	ts.Setenv(name, url)
	servers.Store(serverKey{ts, name}, server)
}

// serverArgs parses the arguments of serve: -tls or -unix, the name, and the responses.
func serverArgs(ts *testscript.TestScript, neg bool, args []string) (how, name string, next func(httpscript.Request) *httpscript.Answer) {
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		how, args = args[0], args[1:]
	}
	if neg || len(args) < 2 {
		ts.Fatalf("usage: serve [-tls|-unix|-routes] NAME answer...")
	}
	name = args[0]
	var err error
	if how == "-routes" {
		how = ""
		next, err = routes(ts.ReadFile(args[1]), ts.MkAbs, func(r httpscript.Request) {
			ts.Logf("%s: nothing is said of %s %s", name, r.Method, r.URI)
		})
	} else {
		next, err = httpscript.InTurn(args[1:], ts.MkAbs)
	}
	ts.Check(err)
	return how, name, next
}

// servers are the servers of all scripts.
var servers sync.Map

type serverKey struct {
	script *testscript.TestScript
	name   string
}

func serverOf(ts *testscript.TestScript, name string) *httpscript.Server {
	s, ok := servers.Load(serverKey{ts, name})
	if !ok {
		ts.Fatalf("no server %s", name)
	}
	return s.(*httpscript.Server)
}

// requests prints the requests that a server received.
func requests(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: requests NAME [N]")
	}
	have := serverOf(ts, args[0]).Requests()
	for _, r := range have {
		io.WriteString(ts.Stdout(), r.String())
	}
	if len(args) < 2 {
		return
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	if len(have) != want {
		ts.Fatalf("have %d requests, want %d", len(have), want)
	}
}

// gap checks the time between a request and the previous request.
func gap(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: gap NAME N D")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	want, err := time.ParseDuration(args[2])
	ts.Check(err)
	list := serverOf(ts, args[0]).Requests()
	if n < 2 || n > len(list) {
		ts.Fatalf("there is no request before number %d: %d were made", n, len(list))
	}
	if have := list[n-1].At.Sub(list[n-2].At); have < want {
		ts.Fatalf("request %d came after %v, want %v", n, have, want)
	}
}

// port sets $PORT to the TCP address of a URL.
func port(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: port URL")
	}
	ts.Setenv("PORT", strings.Replace(args[0], "http://", "tcp://", 1))
}
