package expr

import "testing"

func TestNextPage(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
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
		`[{"next":"/b"}]`: "",
		`{"next":"/b"`:    ".next",
		``:                "",
	} {
		if have := NewDoc([]byte(document)).NextPage(); have != want {
			t.Errorf("%s: have %q, want %q", document, have, want)
		}
	}
}
