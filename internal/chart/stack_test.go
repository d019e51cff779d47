package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStackSVG(t *testing.T) {
	t.Parallel()
	first, second := growth(), growth()
	first.Title, second.Title = "first", "second"
	var b bytes.Buffer
	if err := StackSVG(&b, first, Plot{Title: "empty"}, second); err != nil {
		t.Fatal(err)
	}
	type picture struct {
		Height int `xml:"height,attr"`
		Parts  []struct {
			Moved   string `xml:"transform,attr"`
			Picture struct {
				Height int      `xml:"height,attr"`
				Texts  []string `xml:"text"`
			} `xml:"svg"`
		} `xml:"g"`
	}
	var have picture
	if err := xml.Unmarshal(b.Bytes(), &have); err != nil {
		t.Fatal(err)
	}
	if have.Height != 2*imageHeight || len(have.Parts) != 2 {
		t.Fatalf("%d parts in %d pixels, want 2 in %d", len(have.Parts), have.Height, 2*imageHeight)
	}
	for i, want := range []struct{ moved, title string }{{"translate(0,0)", "first"}, {"translate(0,560)", "second"}} {
		part := have.Parts[i]
		if diff := cmp.Diff(want.moved, part.Moved); diff != "" {
			t.Errorf("place of part %d (-want +got):\n%s", i, diff)
		}
		if part.Picture.Height != imageHeight {
			t.Errorf("part %d is %d pixels high, want %d", i, part.Picture.Height, imageHeight)
		}
		if !slices.Contains(part.Picture.Texts, want.title) {
			t.Errorf("no %q among the texts %q", want.title, part.Picture.Texts)
		}
	}
}

func TestStackSVG_fails(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := StackSVG(&b, Plot{}, Plot{}); !errors.Is(err, ErrNothingToDraw) || b.Len() > 0 {
		t.Errorf("error %v and %d bytes, want %v and none", err, b.Len(), ErrNothingToDraw)
	}
	full := errors.New("disk full")
	if err := StackSVG(failing{full}, growth()); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
}
