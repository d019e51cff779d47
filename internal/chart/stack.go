package chart

import (
	"bytes"
	"fmt"
	"io"
)

// StackSVG writes plots below one another as one scalable picture. A plot with
// nothing to draw is left out; if that is all of them, the error is
// ErrNothingToDraw.
func StackSVG(w io.Writer, plots ...Plot) error {
	var parts bytes.Buffer
	height := 0
	for _, p := range plots {
		if _, ok := p.layOut(1, 1); !ok {
			continue
		}
		fmt.Fprintf(&parts, "<g transform=\"translate(0,%d)\">\n", height)
		if err := p.SVG(&parts); err != nil {
			return err
		}
		parts.WriteString("\n</g>\n")
		height += imageHeight
	}
	if height == 0 {
		return fmt.Errorf("draw %d plots: %w", len(plots), ErrNothingToDraw)
	}
	_, err := fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %[1]d %[2]d\">\n%[3]s</svg>\n",
		imageWidth, height, parts.Bytes())
	if err != nil {
		return fmt.Errorf("draw %d plots: %w", len(plots), err)
	}
	return nil
}
