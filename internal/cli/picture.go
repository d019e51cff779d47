package cli

import (
	"errors"
	"fmt"
	"io"
)

// A picture is a file that a flag names, and what draws it.
type picture struct {
	flag string
	draw func(io.Writer) error
}

// checkPictures refuses files that cannot be written, before there is work that
// would be lost.
func (in *invocation) checkPictures(pictures ...picture) error {
	for _, p := range pictures {
		path := in.values.String(p.flag)
		switch {
		case !in.split.has(p.flag):
			continue
		case path == "" || path == "-":
			return usagef("--%s needs the name of a file", p.flag)
		}
		f, err := createFile(path)
		if err != nil {
			return fmt.Errorf("write --%s %s: %w", p.flag, path, err)
		}
		f.discard()
	}
	return nil
}

// writePictures writes the pictures that are asked for.
func (in *invocation) writePictures(pictures ...picture) error {
	var errs []error
	for _, p := range pictures {
		if !in.split.has(p.flag) {
			continue
		}
		path := in.values.String(p.flag)
		if err := writeFile(path, p.draw); err != nil {
			errs = append(errs, fmt.Errorf("write --%s %s: %w", p.flag, path, err))
		}
	}
	return errors.Join(errs...)
}
