package fleet

import "errors"

// limitFiles is for other systems.
func limitFiles() error { return errors.ErrUnsupported }
