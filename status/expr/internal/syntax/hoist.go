package syntax

// A hoister finds the nodes of an expression to hoist.
type hoister struct {
	slots int
	loop  bool // in the condition of any, all or count
}

// hoist marks what can be hoisted in a node, or the node itself.
func (h *hoister) hoist(n *Node) {
	if _, constant := LiteralOf(*n); h.loop && !constant && !usesDot(*n) {
		h.loop = false
		h.hoist(n)
		h.loop = true
		*n = &Hoisted{*n, h.slots}
		h.slots++
		return
	}
	eachOperand(*n, h.hoist)
	switch n := (*n).(type) {
	case *Pipe:
		for i := range n.Xs[1:] {
			h.hoist(&n.Xs[i+1])
		}
	case *Call:
		if n.Cond != nil {
			outer := h.loop
			h.loop = true
			h.hoist(&n.Cond)
			h.loop = outer
		}
	}
}

// usesDot reports whether the value of a node depends on ".".
func usesDot(n Node) bool {
	switch n := n.(type) {
	case *Literal, *Variable:
		return false
	case *Path:
		return n.Root == RootDot
	case *Call:
		switch n.Function {
		case FuncAny, FuncAll, FuncCount:
			return n.Each == nil || n.Each.Root == RootDot
		case FuncExists:
			return usesDot(n.Path)
		}
		return true
	}
	uses := false
	eachOperand(n, func(x *Node) { uses = uses || usesDot(*x) })
	return uses
}
