package cli

// refuseEmpty refuses an empty value where that means nothing. It is probably a
// shell variable that is not set, and without its preset a wait would be for
// something else than was asked for.
func (s *split) refuseEmpty() error {
	for _, g := range s.given {
		if g.value == "" && !g.flag.isSwitch() && !g.flag.mayBeEmpty {
			return usagef("%s is given an empty value", g.origin()).hint("leave the flag out, or set the variable that its value is taken from")
		}
	}
	return nil
}
