package request

import (
	"net"
	"testing"
)

// A strictConn replaces the failure codes of a name server by SERVFAIL, and keeps the code of a missing name.
func TestStrictConn(t *testing.T) {
	t.Parallel()
	server, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client, err := net.DialUDP("udp", nil, server.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for code, want := range []byte{0, 2, 2, 3, 2, 2} {
		header := make([]byte, 12)
		header[3] = 0x80 | byte(code)
		if _, err := server.WriteTo(header, client.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		have := make([]byte, 512)
		if n, err := (strictConn{client}).Read(have); n != 12 || err != nil || have[3] != 0x80|want {
			t.Errorf("code %d: have %x and %v, want code %d", code, have[:n], err, want)
		}
	}
}
