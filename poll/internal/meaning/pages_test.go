package meaning_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

func TestNextPage(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":[{"next":"/b"}],"next":"/c"}`:             ".next",
		`{"a":1,"next_page_token":"x"}`:                 ".next_page_token",
		`{"nextPageToken":"x"}`:                         ".nextPageToken",
		`{"next-page-token":"x"}`:                       `.next-page-token`,
		`{"NextToken":"x"}`:                             ".NextToken",
		`{"nextCursor":7}`:                              ".nextCursor",
		`{"has_more":true}`:                             ".has_more",
		`{"links":{"self":"/a","next":"/b"}}`:           ".links.next",
		`{"_links":{"next":{"href":"/b"}}}`:             "._links.next",
		`{"@odata.nextLink":"http://h/b"}`:              `.@odata.nextLink`,
		`{"metadata":{"continue":"x"}}`:                 ".metadata.continue",
		`{"next":null,"next_cursor":"","hasMore":true}`: ".hasMore",
		`{"next":null,"next_page_token":"","nextPageToken":0,"has_more":false,"links":{},"metadata":{"continue":""}}`: "",
		`{"links":[],"metadata":"x","_links":{"next":{}},"next_run":"2026-01-01","total_count":500}`:                  "",
		`{"next_page":2}`:                        ".next_page",
		`{"next_page_uri":"/b"}`:                 ".next_page_uri",
		`{"next_page_url":"/b"}`:                 ".next_page_url",
		`{"nextPageLink":"/b"}`:                  ".nextPageLink",
		`{"nextHref":"/b"}`:                      ".nextHref",
		`{"nextUrl":"/b"}`:                       ".nextUrl",
		`{"done":false,"nextRecordsUrl":"/b"}`:   ".nextRecordsUrl",
		`{"IsTruncated":true}`:                   ".IsTruncated",
		`{"IsTruncated":false,"NextMarker":"x"}`: ".NextMarker",
		`{"sha":"7","truncated":true,"tree":[]}`: ".truncated",
		`{"incomplete_results":true,"items":[]}`: ".incomplete_results",
		`{"more":true}`:                          ".more",
		`{"isLast":false}`:                       ".isLast",
		`{"isLast":true,"IsTruncated":false}`:    "",
		`{"LastEvaluatedKey":{"id":{"S":"7"}}}`:  ".LastEvaluatedKey",
		`{"pagination":{"next_url":"/b"}}`:       ".pagination.next_url",
		`{"paging":{"next":"/b"}}`:               ".paging.next",
		`{"data":{"next_page_url":"https://api.example.com/jobs?page=2"}}`:              ".data.next_page_url",
		`{"values":[],"isLastPage":false,"nextPageStart":25}`:                           ".isLastPage",
		`{"Contents":[],"NextContinuationToken":"x"}`:                                   ".NextContinuationToken",
		`{"pageInfo":{"hasNextPage":true}}`:                                             ".pageInfo.hasNextPage",
		`{"page_info":{"has_next_page":false}}`:                                         "",
		`{"response_metadata":{"next_cursor":"x"}}`:                                     ".response_metadata.next_cursor",
		`{"meta":{"pagination":{"links":{"next":"/b"}}}}`:                               ".meta.pagination.links.next",
		`{"metadata":{"next":"x"}}`:                                                     ".metadata.next",
		`{"result_info":{"cursors":{},"next_cursor":"x"}}`:                              ".result_info.next_cursor",
		`{"links":{"pages":{"next":"/b"}}}`:                                             ".links.pages.next",
		`{"item":{"next":"/b"},"list":{"next":"/b"}}`:                                   "",
		`{"next":"/b"}{"next":null}`:                                                    "",
		"{\"next\":\"/b\"}\n{\"next\":\"/c\"}\n":                                        ".next",
		`{"data":{"repository":{"jobs":{"nodes":[],"pageInfo":{"hasNextPage":true}}}}}`: ".data.repository.jobs.pageInfo.hasNextPage",
		`{"DistributionList":{"IsTruncated":true,"Items":[]}}`:                          ".DistributionList.IsTruncated",
		`{"data":{"next_page_token":"x"}}`:                                              ".data.next_page_token",
		`{"data":{"next":"/b","marker":"x"},"nextOffset":0}`:                            "",
		`[{"next":"/b"}]`:                                                            "",
		`{"jobs":[],"page":1,"totalPages":9}`:                                        ".totalPages",
		`{"jobs":[],"page":9,"totalPages":9}`:                                        "",
		`{"jobs":[],"page":0,"page_count":2}`:                                        ".page_count",
		`{"jobs":[],"page":0,"page_count":1}`:                                        "",
		`{"content":[],"number":1,"totalPages":2}`:                                   "",
		`{"content":[],"page":{"number":0,"totalPages":2}}`:                          ".page.totalPages",
		`{"data":[],"meta":{"current_page":1,"last_page":3}}`:                        ".meta.last_page",
		`{"jobs":[],"pages":9}`:                                                      "",
		`{"jobs":[],"cursor":"abc"}`:                                                 ".cursor",
		`{"jobs":[],"cursor":""}`:                                                    "",
		`{"entries":[],"cursor":"abc","has_more":false}`:                             "",
		`{"jobs":[],"book":{"page":1,"pages":30,"cursor":"x"}}`:                      "",
		`{"jobs":[],"cursor":{"line":3}}`:                                            "",
		``:                                                                           "",
		`{"data":[],"meta":{"page":{"after":"x"}}}`:                                  ".meta.page.after",
		`{"result":[],"result_info":{"cursors":{"after":"x"}}}`:                      ".result_info.cursors.after",
		`{"data":[],"paging":{"cursors":{"after":"x"}}}`:                             "", // the last page of Facebook has it, too
		`{"servers":[],"servers_links":[{"rel":"self"},{"rel":"next","href":"/b"}]}`: ".servers_links",
		`{"entry":[],"link":[{"relation": "next","url":"/b"}]}`:                      ".link",
		`{"links":[{"rel":"self","href":"/a"}]}`:                                     "",
		`{"content":[],"last":false}`:                                                ".last",
		`{"content":[],"last":true}`:                                                 "",
		`{"items":[],"metadata":{"remainingItemCount":5}}`:                           ".metadata.remainingItemCount",
		`{"TableNames":[],"LastEvaluatedTableName":"x"}`:                             ".LastEvaluatedTableName",
		`{"hits":[],"page":0,"nbPages":9}`:                                           ".nbPages",
		`{"DBInstances":[],"Marker":"x"}`:                                            ".Marker",
		`{"Users":[],"IsTruncated":false,"Marker":"x"}`:                              "",
		`{"nodes":[],"pageInfo":{"endCursor":"x"}}`:                                  ".pageInfo.endCursor",
		`{"nodes":[],"pageInfo":{"endCursor":"x","hasNextPage":false}}`:              "",
	} {
		if have := meaning.ReadPage(expr.NewDoc([]byte(text)), nil).Next(1); have != want {
			t.Errorf("%s: have %q, want %q", text, have, want)
		}
	}
}

func TestHeaderOfAPage(t *testing.T) {
	for _, test := range []struct {
		header http.Header
		next   string
		total  int
	}{
		{http.Header{"X-Next-Page": {"2"}, "X-Total": {"500"}}, "X-Next-Page", 500},
		{http.Header{"X-Next-Page": {""}, "X-Page": {"9"}, "X-Total-Pages": {"9"}}, "", 0},
		{http.Header{"X-Page": {"1"}, "X-Total-Pages": {"9"}}, "X-Total-Pages", 0},
		{http.Header{"X-Ms-Continuationtoken": {"x"}}, "X-Ms-Continuationtoken", 0},
		{http.Header{"X-Ms-Continuation": {"x"}}, "X-Ms-Continuation", 0},
		{http.Header{"Opc-Next-Page": {"x"}}, "Opc-Next-Page", 0},
		{http.Header{"X-Nomad-Nexttoken": {"x"}}, "X-Nomad-Nexttoken", 0},
		{http.Header{"Next-Range": {"id ]01..; max=200"}, "Content-Range": {"id a..b"}}, "Next-Range", 0},
		{http.Header{"X-Pagination": {`{"TotalCount":500,"HasNext":true}`}}, "X-Pagination.HasNext", 500},
		{http.Header{"X-Has-More": {"false"}, "X-Wp-Total": {"7"}}, "", 7},
		{http.Header{"Content-Range": {"0-0/500"}}, "", 500},
		{http.Header{"Content-Range": {"bytes 0-0/500"}}, "", 0},
		{http.Header{"Content-Range": {"0-0/*"}}, "", 0},
		{http.Header{"X-Ratelimit-Remaining": {"4999"}, "Retry-After": {"7"}, "Content-Length": {"900"}}, "", 0},
		{http.Header{"Link": {`</a>; rel="prev"`, `</b>; rel="next"`}}, "Link", 0},
		{http.Header{"X-Total-Count": {"1", "500"}, "X-Has-More": {"false", "true"}}, "X-Has-More", 500},
	} {
		page := meaning.ReadPage(expr.NewDoc([]byte(`[{"id":1}]`)), test.header)
		if _, total := page.Total(); page.Next(1) != test.next || total != test.total {
			t.Errorf("%v: have %q and %d in all, want %q and %d", test.header, page.Next(1), total, test.next, test.total)
		}
	}
}

// The page has two elements.
func TestMaybe(t *testing.T) {
	for _, test := range []struct {
		body   string
		header http.Header
		want   string
	}{
		{`{"count":500}`, nil, ".count is 500"},
		{`{"count":2}`, nil, ""},
		{`{"meta":{"resultCount":"500"}}`, nil, ".meta.resultCount is 500"},
		{`{"remaining":499}`, nil, ".remaining is 499"},
		{`{"next_set":"s3cret"}`, nil, ".next_set has a value"},
		{`{"next_set":""}`, nil, ""},
		{`{"moreToCome":true}`, nil, ".moreToCome has a value"},
		{``, http.Header{"X-Continuation": {"s3cret"}}, "X-Continuation has a value"},
		{``, http.Header{"X-Found": {"500"}}, "X-Found is 500"},
		// about something else
		{`{"id":4711,"limit":100,"per_page":100,"maxResults":50,"took":12,"accountNumber":7001,"discount":30,"total_cost":70}`, nil, ""},
		{`{"next_run_at":"soon","nextSync":"2026-12-01T00:00:00Z","next_batch":"2026-12-01","next_steps":["x"],"more_info":"/x"}`, nil, ""},
		{`{"page":9,"totalPages":9,"total":500}`, nil, ""}, // names that pages.txt has
		{`{"jobs":{"a":{"count":500}}}`, nil, ""},
		{``, http.Header{"X-Ratelimit-Remaining": {"4999"}, "X-Rate-Limit-Remaining": {"4999"}, "X-Cache-Hits": {"7"}, "X-Nextjs-Cache": {"HIT"},
			"X-Nextcloud-Id": {"7"}, "X-Retry-Count": {"7"}, "X-Next-Reset": {"900"}, "X-Next-Update": {"Sun, 29 Nov 2026 10:00:00 GMT"}}, ""},
	} {
		if have := meaning.ReadPage(expr.NewDoc([]byte(test.body)), test.header).Maybe(2); have != test.want {
			t.Errorf("%s, %v: have %q, want %q", test.body, test.header, have, test.want)
		}
	}
}

func TestFailure(t *testing.T) {
	for text, want := range map[string]string{
		`{"jobs":null,"errors":[{"message":"denied"}]}`: ".errors",
		`{"jobs":[],"success":false}`:                   ".success",
		`{"jobs":[],"status":"error"}`:                  ".status",
		`{"jobs":[],"ok":true,"status":"ok"}`:           "",
		`{"jobs":[],"last":{"status":"failed"}}`:        "",
		`[]`:                                            "",
	} {
		if have := meaning.FailedMember(expr.NewDoc([]byte(text))); have != want {
			t.Errorf("%s: have %q, want %q", text, have, want)
		}
	}
}

func TestNextLink(t *testing.T) {
	for _, test := range []struct {
		fields string // separated by line breaks
		want   string // "-" for none
	}{
		{`<?page=2>; REL=NEXT`, "?page=2"},
		{`<?page=2>; rel="prev next"`, "?page=2"},
		{`<?page=2>; title="next"; rel=next`, "?page=2"},
		{`<?page=2>; rel=next; title="a, <b>; rel=prev"`, "?page=2"},
		{`<?a=1,2;b>; rel=next`, "?a=1,2;b"},
		{`<1>; rel=prev, <2>; rel=next`, "2"},
		{"<1>; title=\"x, <9>; rel=next\"; rel=prev\n , ,<2>;;; rel=next", "2"},
		{`<1>; title="\"; rel=next"; rel=prev, <2>; rel=next`, "2"},
		{`junk, <2>; rel=next`, "2"},

		{`<2>; rel=nextish`, "-"},
		{`<2>; rel=prev; rel=next`, "-"}, // RFC 8288 section 3.3: the first rel counts
		{`<2>; rel=next; anchor="#x"`, "-"},
		{`<2>; anchor=x; rel=next`, "-"},
	} {
		target, found := meaning.NextLink(strings.Split(test.fields, "\n"))
		if want := test.want != "-"; found != want || found && target != test.want {
			t.Errorf("%s: have %q %t, want %q", test.fields, target, found, test.want)
		}
	}
}

// A ruleLine is a rule that is not yet compiled.
type ruleLine struct {
	Status status.Status
	Expr   string
}

// elementRules compiles a user's rules for elements.
func elementRules(t testing.TB, lines ...ruleLine) (rules status.Rules) {
	t.Helper()
	for _, line := range lines {
		rule := must(status.NewRule(line.Status, line.Expr))
		rules.Own = append(rules.Own, rule)
	}
	return rules
}

// observedElement returns an element of a 200 response.
func observedElement(element string, presence status.Presence) status.Observation {
	page := expr.NewDoc([]byte(`{"limit":3,"jobs":[` + element + `]}`))
	return status.Observation{Kind: status.KindHTTP, Code: new(200), Body: []byte(element), Within: page, Presence: presence, Protocol: meaning.HTTP{}, Target: "job-1"}
}

func TestClassifyElement(t *testing.T) {
	until := func(condition string) ruleLine { return ruleLine{Status: status.Success, Expr: condition} }
	failed := ruleLine{Status: status.Error, Expr: `.state == "failed"`}
	done := until(`.state == "done"`)
	for _, test := range []struct {
		rules    []ruleLine
		element  string
		presence status.Presence
		want     status.Status
		reason   string
	}{
		{[]ruleLine{done, failed}, `{"state":"done"}`, status.Present, status.Success, `.state is "done"`},
		{[]ruleLine{done, failed}, `{"state":"failed"}`, status.Present, status.Error, `.state is "failed"`},
		{[]ruleLine{until(`.n >= $json.limit`)}, `{"n":3}`, status.Present, status.Success, `.n is 3`},
		{[]ruleLine{until(`$body == "{\"limit\":3,\"jobs\":[1]}"`)}, `1`, status.Present, status.Success, `$body is "{\"limit\":3,\"jobs\":[1]}"`},
		{[]ruleLine{until(`$name == "job-1"`)}, `1`, status.Present, status.Success, `$name is "job-1"`},
		{[]ruleLine{until(`$gone`), failed}, `{"state":"new"}`, status.Present, status.NotReady, `$gone is false, want true`},

		{[]ruleLine{done, failed}, ``, status.Missing, status.NotReady, `the element is not in the response`},
		{[]ruleLine{until(`.state != "running"`), until(`$attempt >= 0`)}, ``, status.Missing, status.NotReady, `the element is not in the response`},
		{[]ruleLine{until(`$status == 200`), until(`!$gone`)}, ``, status.Missing, status.NotReady, `the element is not in the response`},

		{[]ruleLine{done, {Status: status.Error, Expr: `.state != "new"`}}, ``, status.UnknownPresence, status.NotReady, `.state is unknown: the response holds no list`},
		{[]ruleLine{done, {Status: status.Throttled, Expr: `$body contains "limit"`}}, ``, status.UnknownPresence, status.Throttled, `$body is "{\"limit\":3,\"jobs\":[]}"`},

		{[]ruleLine{done, until(`$attempt >= 0`)}, ``, status.Gone, status.NotReady, `the element is no longer in the response`},
		{[]ruleLine{until(`$status == 200`)}, ``, status.Gone, status.NotReady, `the element is no longer in the response`},
		{[]ruleLine{until(`$gone or .state == "done"`)}, ``, status.Gone, status.Success, `$gone is true`},
		{[]ruleLine{until(`$gone and .state == "done"`)}, ``, status.Gone, status.NotReady, `the element is no longer in the response`},
		{[]ruleLine{until(`$gone`), {Status: status.Error, Expr: `$gone`}}, ``, status.Gone, status.Error, `$gone is true`},
	} {
		o := observedElement(test.element, test.presence)
		v := elementRules(t, test.rules...).Classify(t.Context(), o)
		if v.Status != test.want || v.Reason != test.reason {
			t.Errorf("%s, %d by %v\nhave %v, %s\nwant %v, %s", test.element, test.presence, test.rules, v.Status, v.Reason, test.want, test.reason)
		}
	}
}

// The state in an element's own document decides, without a rule.
func TestElementStates(t *testing.T) {
	for element, want := range map[string]status.Status{
		`{"status":"succeeded"}`: status.Success, `{"status":"failed"}`: status.Error, `{"status":"running"}`: status.NotReady,
		`{"status":"done","error":{"code":1}}`: status.Error,
	} {
		o := observedElement(element, status.Present)
		o.Protocol = meaning.HTTP{Monitor: meaning.MonitorLocation}
		if v := (status.Rules{}).Classify(t.Context(), o); v.Status != want {
			t.Errorf("%s is %v (%s), want %v", element, v.Status, v.Reason, want)
		}
	}
}
