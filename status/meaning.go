package status

import (
	"github.com/pollcli/poll/status/expr"
)

// A Protocol gives the responses of one kind of probe a meaning. The probe sets the Protocol of its
// observations.
type Protocol interface {
	// Succeeded reports whether a response without a Failure is successful.
	Succeeded(o *Observation) bool
	// Meaning returns the meaning of an observation. [Rules.Classify] calls it late, since a wrapper of the probe
	// may change the Body.
	Meaning(o *Observation) Meaning
}

// A Meaning has the verdict on an observation if no rule matches, and selects the rules that may decide. With
// the zero value no rule can make the observation SUCCESS.
type Meaning struct {
	// Default returns the verdict if no rule matches. The Status of an undecided verdict is None. isNamed is true if
	// the user's rules name the documents of running operations: a rule for NOT_READY reads the document.
	Default func(isNamed bool) Verdict
	// Certain is true if the SUCCESS of the Default holds in spite of a doubtful rule for NOT_READY.
	Certain bool
	// Holds selects the rules that replace the Default.
	Holds Holds
	// Reason describes the response: "HTTP 200 OK". It is the reason of the verdict if a rule should have matched.
	Reason string
	// Where is added to the reasons of rules, such as "after a redirect to /login"; "" adds nothing.
	Where string

	// Allow is the set of conclusions that rules may draw.
	Allow Allow
	// Only restricts the rules to rules that read one of these variables. Nil means no restriction, and an empty
	// list excludes all rules.
	Only []string
	// Named are the variables whose use shows that a rule is about unsuccessful responses.
	Named []string
	// WhyNot is the reason if a rule for SUCCESS matches and AllowSuccess is not set. If WhyNot is "", such a rule is
	// not evaluated.
	WhyNot string
	// WhyNotHere is the reason for NOT_READY if no rule matches and a rule applies only to the given page. "" has
	// no effect.
	WhyNotHere string

	// NextPage names the part of the response that announces a further page of a list; "" without such a part.
	// isWhole is true if the response is the element itself, and not a list. Nil means that there is one page.
	NextPage func(isWhole bool) string

	// Once is true if the attempt cannot be repeated: an ERROR is final.
	Once bool
	// DeadEnd is the reason why no attempt can follow a response without a final verdict; "" if an attempt can
	// follow. Advice is a remedy.
	DeadEnd string
	Advice  Advice
}

// Allow is a set of conclusions that rules may draw from an observation.
type Allow uint8

// The conclusions.
const (
	AllowRead     Allow = 1 << iota // read the document, since the response is successful
	AllowText                       // read the text of an unsuccessful response
	AllowSuccess                    // conclude that the operation is done
	AllowAbsence                    // conclude from a missing page that the requested object is missing, by a rule with Here
	AllowNotReady                   // conclude that the operation is not done, by a preset and an unsuccessful response
)

// Holds selects the rules that replace the default verdict of a [Meaning].
type Holds uint8

// The values.
const (
	HoldsAlways                Holds = iota // no rules
	HoldsRunning                            // no rules, but the rules for SUCCESS give the reason
	HoldsUnlessRulesSaySuccess              // rules for SUCCESS: without a match nothing is decided
)

// meaning returns the meaning of an observation. Two restrictions apply to each protocol: only rules that read
// $gone count for a missing element, and only rules that read $exit count for the end of a stream.
func (o *Observation) meaning() (m Meaning) {
	if o.Protocol != nil {
		m = o.Protocol.Meaning(o)
	}
	if why := o.absence(); why != "" {
		m.Default, m.Holds, m.WhyNotHere = Always(Verdict{Status: NotReady, Reason: why}), HoldsAlways, ""
		m.Only = map[Presence][]string{Gone: {"gone"}, Missing: {}}[o.Presence]
	}
	if m.Default == nil {
		m.Default = Always(Verdict{Reason: "nothing tells the meaning of the response"})
	}
	if o.Ended && o.Exit != nil {
		m.Only = []string{"exit"}
	} else if o.Ended {
		m.Only = []string{}
	}
	return m
}

// Always returns a Default of [Meaning] that always returns v.
func Always(v Verdict) func(isNamed bool) Verdict {
	return func(bool) Verdict { return v }
}

// excludes reports whether a rule must not be evaluated on the response.
func (m *Meaning) excludes(rule *Rule) bool {
	return rule.Status == Success && m.Allow&AllowSuccess == 0 && m.WhyNot == "" || rule.Here && m.Allow&AllowAbsence == 0
}

// reads reports whether a rule satisfies Only: it reads one of the variables, or Only is nil.
func (m *Meaning) reads(rule *Rule) bool {
	return m.Only == nil || len(m.Only) > 0 && rule.Expr.Reads(m.Only...)
}

// counts reports whether a rule may draw conclusions from a response. A rule about the document of a response that is
// not successful counts only if it also names a property of such responses.
func (m *Meaning) counts(rule *Rule, admitted bool) bool {
	x, has := rule.Expr, func(a Allow) bool { return m.Allow&a != 0 }
	isFree := rule.Status == Throttled || rule.Status == NotReady && (rule.Preset == "" || has(AllowNotReady))
	isNamed := x.Reads("error") || m.isNamed(x) || has(AllowText) && x.Reads("stdout", "stderr", "body")
	return has(AllowRead) || rule.Status == Error && admitted || isFree || isNamed || !x.Reads(".", "isjson", "unchanged", "body", "header")
}

func (m *Meaning) isNamed(x *expr.Expr) bool { return len(m.Named) > 0 && x.Reads(m.Named...) }
