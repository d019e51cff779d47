package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/pollcli/poll/internal/argv"
)

// What curl's flags mean beyond setting one field of a request.

// dataParts reads -d and its kin as curl does: of -d, @FILE is read without its line
// breaks, and @- is stdin; --data-binary reads a file as it is, --data-raw none. It
// returns nil if there are none.
func dataParts(l *argv.Line, world World) (parts [][]byte, err error) {
	for _, g := range l.Given {
		part, isFile := []byte(g.Value), false
		switch name := g.Flag.Name; name {
		case "data", "data-binary":
			if part, isFile, err = world.readValue(l, name, g.Value, maxInput); err != nil {
				return nil, err
			}
			if isFile && name == "data" {
				part = withoutBreaks(part)
			}
		case "data-raw":
		default:
			continue
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// isJSONDocument reports whether a body is an object or an array in JSON.
func isJSONDocument(body []byte) bool {
	body = bytes.TrimSpace(body)
	return len(body) > 0 && (body[0] == '{' || body[0] == '[') && json.Valid(body)
}

// addCredentials adds what --oauth2-bearer and -b say to a header. Errors do not repeat
// it.
func addCredentials(header http.Header, l *argv.Line) error {
	if _, said := header["Authorization"]; l.Has("oauth2-bearer") && !said {
		header.Set("Authorization", "Bearer "+l.String("oauth2-bearer"))
	}
	var pairs []string
	for _, cookie := range l.Strings("cookie") {
		if !strings.Contains(cookie, "=") {
			return argv.Usagef("%s needs NAME=VALUE: a file of cookies is not read", l.Origin("cookie")).
				Hint("what an answer sets is sent back anyway; -H @FILE reads headers, such as Cookie: NAME=VALUE")
		}
		pairs = append(pairs, strings.Trim(cookie, "; "))
	}
	if _, said := header["Cookie"]; len(pairs) > 0 && !said {
		header.Set("Cookie", strings.Join(pairs, "; "))
	}
	return nil
}

// curlProxyPort is the port of a proxy that is given without one.
const curlProxyPort = "1080"

// proxyOf reads -x as curl does: a host without a scheme is that of an HTTP proxy, and ""
// means none. A malformed one is kept as the error of the line, without its password.
func proxyOf(l *argv.Line) string {
	text := l.String("proxy")
	switch {
	case !l.Has("proxy"):
		return ""
	case text == "":
		return "direct"
	case !hasScheme(text):
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		l.Fail("proxy", errors.New("not the URL of a proxy, such as http://HOST:PORT"))
		return ""
	}
	switch u.Scheme {
	case "socks5", "socks5h", "http":
		if u.Port() == "" {
			u.Host = net.JoinHostPort(u.Hostname(), curlProxyPort)
		}
	case "https":
	default:
		l.Fail("proxy", argv.Usagef("a proxy is http, https, socks5 or socks5h, not %s", u.Scheme))
	}
	return u.String()
}

// routesOf reads --resolve and --connect-to into the routes of a [poll.Connect]. A
// malformed one is kept as the error of the line.
func routesOf(l *argv.Line) map[string][]string {
	routes := map[string][]string{}
	for _, of := range []struct {
		flag, form string
		read       func(value string) (from string, to []string)
	}{
		{"resolve", "HOST:PORT:ADDRESS", resolved},
		{"connect-to", "HOST:PORT:HOST:PORT", connectedTo},
	} {
		for _, value := range l.Strings(of.flag) {
			from, to := of.read(value)
			if to == nil || strings.ContainsAny(value, " \t\r\n=") {
				l.Fail(of.flag, argv.Usagef("%q is not %s", value, of.form))
			}
			from = strings.ToLower(from)
			routes[from] = append(routes[from], to...)
		}
	}
	return routes
}

// resolved reads HOST:PORT:ADDRESS[,ADDRESS...]; * is any host.
func resolved(value string) (from string, to []string) {
	value = strings.TrimPrefix(value, "+") // to curl it means that the entry may expire
	host, rest, _ := cutHost(value)
	port, addresses, ok := strings.Cut(rest, ":")
	if !ok || !isPort(port) {
		return "", nil
	}
	for address := range strings.SplitSeq(addresses, ",") {
		address = strings.Trim(address, "[]")
		if net.ParseIP(address) == nil {
			return "", nil
		}
		to = append(to, net.JoinHostPort(address, port))
	}
	return strings.TrimPrefix(host, "*") + ":" + port, to
}

// connectedTo reads HOST:PORT:HOST:PORT, any of which may be empty.
func connectedTo(value string) (from string, to []string) {
	host, rest, _ := cutHost(value)
	port, rest, _ := strings.Cut(rest, ":")
	toHost, toPort, ok := cutHost(rest)
	if !ok || !isPort(port) || !isPort(toPort) {
		return "", nil
	}
	return host + ":" + port, []string{toHost + ":" + toPort}
}

// cutHost cuts at the colon after a host, which may be an IPv6 address in brackets.
func cutHost(text string) (host, rest string, ok bool) {
	from := 0
	if strings.HasPrefix(text, "[") {
		from = strings.IndexByte(text, ']') + 1
	}
	host, rest, ok = strings.Cut(text[from:], ":")
	return text[:from] + host, rest, ok
}

// isPort reports whether text is the number of a port, or empty.
func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil
}

// foreignFlags maps flags of curl, and of others, that have no counterpart to what to
// write instead.
func foreignFlags() map[string]string {
	const (
		form     = "poll sends what -d says: make the form by another program and send it by --data-binary @FILE -H 'Content-Type: ...'"
		jar      = "cookies are kept for one run, and are sent back within it"
		output   = "the answer goes to stdout: poll ... >FILE"
		toStderr = "-v shows every attempt with its answer"
		proxy    = "the name and password of a proxy stand in its URL: -x http://USER:PASS@HOST:PORT"
		sign     = "let the program sign that knows how: poll -- aws ..., or poll -- curl --aws-sigv4 ..."
	)
	return map[string]string{
		"F": form, "form": form, "form-string": form, "T": "-X PUT --data-binary @FILE", "upload-file": "-X PUT --data-binary @FILE",
		"data-urlencode": "write it encoded: -d 'q=a%20b', or let jq do it: -d \"q=$(jq -rn --arg v 'a b' '$v|@uri')\"",
		"G":              "write the query into the URL: https://HOST/PATH?NAME=VALUE", "get": "write the query into the URL: https://HOST/PATH?NAME=VALUE",
		"c": jar, "cookie-jar": jar, "j": jar, "I": "-X HEAD", "head": "-X HEAD",
		"o": output, "output": output, "O": output, "remote-name": output, "i": toStderr, "include": toStderr, "D": toStderr, "dump-header": toStderr,
		"w": "--print '$status' prints the status code, --json everything", "write-out": "--print '$status' prints the status code, --json everything",
		"U": proxy, "proxy-user": proxy, "noproxy": "-x '' uses no proxy, and NO_PROXY names hosts without one",
		"aws-sigv4": sign, "digest": sign, "ntlm": sign, "negotiate": sign,
		"share-secret": "the secret of those who share is in POLL_SHARE_SECRET: others can see the arguments of a process",
		"e":            "-H 'Referer: URL'", "referer": "-H 'Referer: URL'",
	}
}
