package poll

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/internal/httpscript"
	"github.com/pollcli/poll/status"
)

// certificate creates a self-signed certificate for hosts, and writes the certificate and its key into one PEM
// file.
func certificate(t *testing.T, from, to time.Time, hosts ...string) (tls.Certificate, string) {
	t.Helper()
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "test"},
		NotBefore:             from,
		NotAfter:              to,
		DNSNames:              hosts,
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		}
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))
	private := must(x509.MarshalPKCS8PrivateKey(key))
	file := filepath.Join(t.TempDir(), "pair.pem")
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// pipeTo returns a dialer that serves every connection with a function.
func pipeTo(serve func(net.Conn)) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go serve(there)
		return here, nil
	}
}

// A certificateLog is a server that requests a client certificate, and logs the certificate of each request.
type certificateLog struct {
	seen    []string
	handler http.HandlerFunc
}

func (s *certificateLog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	shown := " without"
	if len(r.TLS.PeerCertificates) > 0 {
		shown = " with " + r.TLS.PeerCertificates[0].Subject.CommonName
	}
	s.seen = append(s.seen, r.Method+" "+r.URL.Path+shown)
	s.handler(w, r)
}

func (s *certificateLog) start(t *testing.T, pair tls.Certificate) string {
	server := httptest.NewUnstartedServer(s)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert}
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

func TestAClientCertificateIsShownToItsOriginOnly(t *testing.T) {
	now := time.Now()
	pair, file := certificate(t, now.Add(-time.Hour), now.Add(time.Hour), "127.0.0.1")
	for name, test := range map[string]struct {
		probe        HTTP
		home, abroad []string
		said         bool
	}{
		"redirect": {
			HTTP{}, []string{"GET / with test", "GET /moved with test", "GET /back without", "GET / with test", "GET /moved with test", "GET /back without"},
			[]string{"GET /away without", "GET /away without"}, true,
		},
		"followed": {
			HTTP{Method: "POST"}, []string{"POST / with test"}, []string{"GET /job without", "GET /job without"}, true,
		},
		"trusted": {
			HTTP{Method: "POST", LocationTrusted: true}, []string{"POST / with test"}, []string{"GET /job with test", "GET /job with test"}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			home, abroad := &certificateLog{}, &certificateLog{}
			var homeURL, abroadURL string
			home.handler = func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == "POST":
					w.Header().Set("Location", abroadURL+"/job")
					w.WriteHeader(202)
				case r.URL.Path == "/":
					http.Redirect(w, r, "/moved", http.StatusFound)
				case r.URL.Path == "/moved":
					http.Redirect(w, r, abroadURL+"/away", http.StatusTemporaryRedirect)
				case len(home.seen) < 4:
					w.WriteHeader(202)
				default:
					io.WriteString(w, "rows")
				}
			}
			abroad.handler = func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/away":
					http.Redirect(w, r, homeURL+"/back", http.StatusFound)
				case len(abroad.seen) < 2:
					w.WriteHeader(202)
				default:
					io.WriteString(w, "rows")
				}
			}
			homeURL, abroadURL = home.start(t, pair), abroad.start(t, pair)
			transport := must(connect.Options{Insecure: true, Cert: file}.Transport())
			defer transport.CloseIdleConnections()
			test.probe.URL, test.probe.Transport = homeURL, transport
			var hints []status.Hint
			p := Poller{Probe: test.probe, Immediate: true, Schedule: backoff.Fixed(0), MaxAttempts: 9}
			for e := range p.Events(t.Context()) {
				if e.Kind == EventAttempt {
					hints = append(hints, e.Observation.Hints...)
				}
			}
			if diff := cmp.Diff(test.home, home.seen); diff != "" {
				t.Errorf("at home (-want +have):\n%s", diff)
			}
			if diff := cmp.Diff(test.abroad, abroad.seen); diff != "" {
				t.Errorf("abroad (-want +have):\n%s", diff)
			}
			if said := strings.Contains(fmt.Sprint(hints), "credentials are not sent to"); said != test.said {
				t.Errorf("have said %v", hints)
			}
		})
	}
}

// TestKeepAlive makes 1,000 attempts over one connection, with answers of each
// kind that is read differently. It runs in a bubble, since net/http gives a
// connection up when a busy machine delays it by 50 ms.
func TestKeepAlive(t *testing.T) {
	answers, err := httpscript.InTurn(slices.Repeat([]string{
		"302,Location=/there,repeat=5000:x",
		"204",
		"200\nTransfer-Encoding: chunked\n\n2\r\nok\r\n0\r\n\r\n",
		"500,repeat=100000:x", // more than is kept
	}, 400), nil)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		transport := must(connect.Options{}.Transport())
		defer transport.CloseIdleConnections()
		transport.Proxy = nil
		opened := 0
		transport.DialContext = pipeTo(func(conn net.Conn) {
			opened++
			httpscript.ServeConn(conn, answers)
		})
		check := InTurn(HTTP{URL: "http://api.example.com/", Transport: transport, MaxBody: 1000})
		for n := range 1000 {
			if o := check(t.Context(), Attempt{Number: n + 1}); o.Failure != nil {
				t.Fatal(o.Failure)
			}
		}
		if opened != 1 {
			t.Errorf("%d connections, want 1", opened)
		}
	})
}

// InTurn returns a function that makes one attempt after the other.
func InTurn(p Probe) func(context.Context, Attempt) Report {
	return func(ctx context.Context, a Attempt) Report {
		r := p.Check(ctx, a)
		if r.Next != nil {
			p = r.Next
		}
		return r
	}
}

// The test uses a proxy that does not connect. The reason must not contain text of the proxy.
func TestHTTP_rejectedByTheProxy(t *testing.T) {
	for _, test := range []struct {
		answer string
		want   string
		kind   status.FailureKind
	}{
		{"407 \x1b[31ms3cret", "the proxy: HTTP 407 Proxy Authentication Required", status.FailureHopeless},
		{"403 No", "the proxy: HTTP 403 Forbidden", status.FailureHopeless},
		{"302 To\r\nLocation: http://s3cret/", "the proxy: HTTP 302 Found", status.FailureHopeless},
		{"399 No", "the proxy: HTTP 399", status.FailureHopeless},
		{"400 No", "the proxy: HTTP 400 Bad Request", status.FailureTransient},
		{"503 No", "the proxy: HTTP 503 Service Unavailable", status.FailureTransient},
		{"429 No", "the proxy: HTTP 429 Too Many Requests", status.FailureThrottled},
		{"299 No", "the proxy: HTTP 299", status.FailureTransient},
		{"", "connection closed without a response", status.FailureTransient},
		{"hang", "timed out after 0s without a connection", status.FailureTransient},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			transport := throughProxy(t, func(conn net.Conn) {
				conn.Read(make([]byte, 4096))
				switch test.answer {
				case "hang":
					cancel(ErrAttemptTimeout)
					conn.Read(make([]byte, 1))
				case "":
				default:
					fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", test.answer)
				}
				conn.Close()
			})
			defer transport.CloseIdleConnections()
			probe := HTTP{URL: "https://api.example.com/", Method: http.MethodPost, Transport: transport}
			o := probe.Check(ctx, Attempt{Number: 1})
			cancel(nil)
			if o.Failure == nil || o.Failure.Kind != test.kind {
				t.Errorf("%s: have %+v", test.answer, o.Failure)
			}
			v := status.Rules{}.Classify(t.Context(), o.Observation)
			if !strings.HasPrefix(v.Reason, test.want) {
				t.Errorf("%s: have %q, want %q", test.answer, v.Reason, test.want)
			}
			if !o.Next.Plan().Once {
				t.Errorf("%s: what was never sent is not due", test.answer)
			}
		})
	}
}

// throughProxy returns a transport that connects through a proxy.
func throughProxy(t *testing.T, proxy func(net.Conn)) *http.Transport {
	transport := must(connect.Options{}.Transport())
	transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", User: url.UserPassword("me", "s3cret"), Host: "proxy.example:3128"})
	transport.DialContext = pipeTo(proxy)
	return transport
}
