// Package docs holds the pages that poll shows as topics of its help.
package docs

import "embed"

// Pages are the pages, in Markdown.
//
//go:embed agents.md ci.md conditions.md containers.md fleet.md many.md resume.md scripts.md streams.md waiting.md
var Pages embed.FS
