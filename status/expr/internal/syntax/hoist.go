package syntax

// A hoister finds the fixed nodes of an expression.
type hoister struct {
	slots int
	loop  bool // in the condition of any, all or count
}

// hoist returns the node with what is fixed in it marked so.
func (h *hoister) hoist(n Node) Node {
	if _, constant := LiteralOf(n); h.loop && !constant && !usesDot(n) {
		h.loop = false
		once := &Fixed{h.hoist(n), h.slots}
		h.loop = true
		h.slots++
		return once
	}
	switch n := n.(type) {
	case *Group:
		n.X = h.hoist(n.X)
	case *Negation:
		n.X = h.hoist(n.X)
	case *Logic:
		h.hoistAll(n.Xs)
	case *Pipe:
		h.hoistAll(n.Xs)
	case *Comparison:
		n.Left, n.Right = h.hoist(n.Left), h.hoist(n.Right)
	case *Alternative:
		n.Left, n.Right = h.hoist(n.Left), h.hoist(n.Right)
	case *Call:
		if n.Cond != nil {
			outer := h.loop
			h.loop = true
			n.Cond = h.hoist(n.Cond)
			h.loop = outer
		}
	}
	return n
}

func (h *hoister) hoistAll(nodes []Node) {
	for i, n := range nodes {
		nodes[i] = h.hoist(n)
	}
}

// usesDot reports whether the value of a node depends on what "." is.
func usesDot(n Node) bool {
	switch n := n.(type) {
	case *Literal, *Variable:
		return false
	case *Path:
		return n.Root == RootDot
	case *Group:
		return usesDot(n.X)
	case *Negation:
		return usesDot(n.X)
	case *Logic:
		return anyUsesDot(n.Xs)
	case *Pipe:
		return usesDot(n.Xs[0]) // the others see what that is piped into them
	case *Comparison:
		return usesDot(n.Left) || usesDot(n.Right)
	case *Alternative:
		return usesDot(n.Left) || usesDot(n.Right)
	case *Call:
		switch n.Function {
		case FuncAny, FuncAll, FuncCount:
			return n.Each == nil || n.Each.Root == RootDot
		case FuncExists:
			return usesDot(n.Path)
		}
	}
	return true
}

func anyUsesDot(nodes []Node) bool {
	for _, n := range nodes {
		if usesDot(n) {
			return true
		}
	}
	return false
}
