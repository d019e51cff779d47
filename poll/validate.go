package poll

import (
	"errors"
	"fmt"
	"slices"
)

// validate returns an error if a limit or a threshold is negative.
func (p *Poller) validate() error {
	switch success, failure := p.SuccessThreshold, p.ErrorThreshold; {
	case p.AttemptTimeout < 0:
		return errors.New("a negative AttemptTimeout has no meaning")
	case p.MaxAttempts < 0:
		return errors.New("a negative MaxAttempts has no meaning")
	case min(success.Times, failure.Times) < 0, min(success.For, failure.For) < 0:
		return errors.New("a threshold is negative")
	}
	return nil
}

// validate returns an error if a number has no meaning.
func (g *Group) validate() error {
	switch {
	case g.AtLeast < 0:
		return errors.New("a negative AtLeast has no meaning")
	case !(g.Percent >= 0 && g.Percent <= 100): // nor NaN
		return fmt.Errorf("a Percent of %v is not between 0 and 100", g.Percent)
	case g.Parallel < 0:
		return errors.New("a negative Parallel has no meaning")
	}
	return nil
}

// validate returns an error if the elements cannot be found.
func (e *Elements) validate() error {
	switch {
	case e == nil:
		return nil
	case e.Each == nil:
		return errors.New("the elements have no Each")
	case slices.Contains(e.Keys, nil):
		return errors.New("one of the Keys of the elements is nil")
	case e.Known != nil && len(e.Known) == 0:
		return errors.New("the elements to wait for are known, and there are none")
	}
	return nil
}
