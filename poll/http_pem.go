package poll

import (
	"crypto/tls"
	"fmt"
	"io"
	"os"
)

func loadPair(cert, key string) (pair tls.Certificate, err error) {
	certPEM, err := readPEM(cert)
	if err != nil {
		return pair, err
	}
	keyPEM, err := readPEM(key)
	if err != nil {
		return pair, err
	}
	return tls.X509KeyPair(certPEM, keyPEM)
}

// readPEM reads a file of certificates or keys, which need not have an end.
func readPEM(name string) ([]byte, error) {
	const most = 16 << 20
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if len(text) > most {
		return nil, fmt.Errorf("%s has more than 16 MiB", name)
	}
	return text, err
}
