package fleet

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/gomodule/redigo/redis"
)

// An address says where a Redis is.
type address struct {
	network, host  string
	user, password string
	database       int
	encryption     *tls.Config // nil for none
	words          string      // without the password
}

// readAddress reads a URL: redis://, rediss:// or unix://, each with USER:PASSWORD@.
// Errors have no part of it, since any of them may be the password.
func readAddress(where string, o Options) (a address, err error) {
	scheme, _, _ := strings.Cut(where, "://")
	u, err := url.Parse(where)
	if err != nil {
		return a, fmt.Errorf("the %s URL cannot be read: in a password, write %%40 for @, %%2F for / and %%23 for #", scheme)
	}
	a.user = u.User.Username()
	a.password, _ = u.User.Password()
	a.words = u.Scheme + "://" + u.Host + u.Path
	database := strings.Trim(u.Path, "/")
	switch u.Scheme {
	case "redis", "rediss":
		a.network = "tcp"
		if u.Hostname() == "" {
			return a, fmt.Errorf("%s names no host", a.words)
		}
		if u.Scheme == "rediss" {
			a.encryption = encrypt(u.Hostname(), o.TLS)
		}
		port := u.Port()
		if port == "" {
			port = "6379"
		}
		a.host = net.JoinHostPort(u.Hostname(), port)
	case "unix":
		a.network, a.host = "unix", u.Path
		if u.Host != "" || u.Path == "" {
			return a, errors.New("a unix URL has three slashes: unix:///run/redis.sock")
		}
		database = u.Query().Get("db")
		u.RawQuery = ""
	}
	if database != "" {
		a.database, err = strconv.Atoi(database)
		if err != nil || a.database < 0 {
			return a, errors.New("the database is a number, as in redis://HOST/1 or unix:///PATH?db=1: in a password, write %2F for /")
		}
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return a, errors.New("nothing may follow the database: in a password, write %3F for ? and %23 for #")
	}
	return a, nil
}

// options returns how to connect. Arrays, the pages of a list, come only where they are
// expected.
func (a address) options(pages bool) []redis.DialOption {
	return []redis.DialOption{
		redis.DialUsername(a.user), redis.DialPassword(a.password), redis.DialDatabase(a.database),
		redis.DialContextFunc(dialer(a.encryption, pages)),
	}
}

// encrypt returns the configuration for a host, which has to be who it says it is.
func encrypt(host string, config *tls.Config) *tls.Config {
	if config = config.Clone(); config == nil {
		config = &tls.Config{}
	}
	if config.ServerName == "" {
		config.ServerName = host
	}
	config.MinVersion = max(config.MinVersion, tls.VersionTLS12)
	return config
}
