package fleet

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/gomodule/redigo/redis"
)

// openStore returns the store at a place, and the place without its password. An error means
// that the place can never be right. It has no part of a URL, since any may be the password.
func openStore(where string, config *tls.Config) (store, string, error) {
	scheme, _, isURL := strings.Cut(where, "://")
	_, missing := os.Stat(where)
	switch {
	case where == "":
		return nil, "", errors.New("a directory, redis://HOST or rediss://HOST is needed")
	case isURL && (scheme == "redis" || scheme == "rediss" || scheme == "unix"):
		return openServer(scheme, where, config)
	case isURL:
		return nil, "", errors.New("it is none of a directory, redis://, rediss:// and unix:///")
	case missing != nil && likeAddress.MatchString(where[len(filepath.VolumeName(where)):]):
		return nil, "", errors.New("there is no directory of that name; for a Redis, write redis:// before HOST:PORT, or unix:// before /PATH")
	}
	d, err := openDirectory(where)
	return d, where, err
}

// likeAddress matches a word that has a password perhaps: a URL of which a slash is missing,
// USER:PASSWORD@ and HOST:PORT. No directory is made of it.
var likeAddress = regexp.MustCompile(`^(?i:rediss?|unix):|:.*@|@[^/]*:[0-9]+$|^[^/]+:[0-9]+$`)

// openServer reads the URL of a Redis.
func openServer(scheme, where string, config *tls.Config) (*server, string, error) {
	u, err := url.Parse(where)
	if err != nil {
		return nil, "", fmt.Errorf("the %s URL cannot be read: in a password, write %%40 for @, %%2F for / and %%23 for #", scheme)
	}
	shown := scheme + "://" + u.Host + u.Path
	network, host, database := "tcp", u.Host, strings.Trim(u.Path, "/")
	switch {
	case scheme == "unix" && (u.Host != "" || u.Path == ""):
		return nil, "", errors.New("a unix URL has three slashes: unix:///run/redis.sock")
	case scheme == "unix":
		network, host, database = "unix", u.Path, u.Query().Get("db")
		u.RawQuery = ""
	case u.Hostname() == "":
		return nil, "", errors.New("the URL names no host")
	case u.Port() == "":
		host = net.JoinHostPort(u.Hostname(), "6379")
	}
	number, err := strconv.Atoi(cmp.Or(database, "0"))
	if err != nil || number < 0 || u.RawQuery != "" || u.Fragment != "" {
		return nil, "", errors.New("behind the host there may only be the number of a database: in a password, write %2F for /, %3F for ? and %23 for #")
	}
	password, _ := u.User.Password()
	return newServer(network, host,
		redis.DialUsername(u.User.Username()), redis.DialPassword(password), redis.DialDatabase(number),
		redis.DialUseTLS(scheme == "rediss"), redis.DialTLSConfig(config)), shown, nil
}
