package document_test

import (
	"testing"

	"github.com/pollcli/poll/internal/document"
)

func TestNextPage(t *testing.T) {
	t.Parallel()
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
		`[{"next":"/b"}]`:                                       "",
		`{"jobs":[],"page":1,"totalPages":9}`:                   ".totalPages",
		`{"jobs":[],"page":9,"totalPages":9}`:                   "",
		`{"jobs":[],"page":0,"page_count":2}`:                   ".page_count",
		`{"jobs":[],"page":0,"page_count":1}`:                   "",
		`{"content":[],"number":1,"totalPages":2}`:              "",
		`{"content":[],"page":{"number":0,"totalPages":2}}`:     ".page.totalPages",
		`{"data":[],"meta":{"current_page":1,"last_page":3}}`:   ".meta.last_page",
		`{"jobs":[],"pages":9}`:                                 "",
		`{"jobs":[],"cursor":"abc"}`:                            ".cursor",
		`{"jobs":[],"cursor":""}`:                               "",
		`{"entries":[],"cursor":"abc","has_more":false}`:        "",
		`{"jobs":[],"book":{"page":1,"pages":30,"cursor":"x"}}`: "",
		`{"jobs":[],"cursor":{"line":3}}`:                       "",
		``:                                                      "",
	} {
		if have := document.NextPage([]byte(text)); have != want {
			t.Errorf("%s: have %q, want %q", text, have, want)
		}
	}
}

func TestFailure(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"jobs":null,"errors":[{"message":"denied"}]}`: ".errors",
		`{"jobs":[],"success":false}`:                   ".success",
		`{"jobs":[],"status":"error"}`:                  ".status",
		`{"jobs":[],"ok":true,"status":"ok"}`:           "",
		`{"jobs":[],"last":{"status":"failed"}}`:        "",
		`[]`:                                            "",
	} {
		if have := document.Failure([]byte(text)); have != want {
			t.Errorf("%s: have %q, want %q", text, have, want)
		}
	}
}
