package status

import (
	"github.com/pollcli/poll/status/expr"
)

// A Protocol interprets the responses of one kind of probe, such as HTTP requests or commands. The probe sets the
// Protocol of each observation that it returns. Package poll implements the protocols of its own probes, and a
// custom probe needs no Protocol. Implement one only for responses that have codes of their own, such as those of
// gRPC.
type Protocol interface {
	// Succeeded reports whether o, which has no Failure, is a successful response, such as HTTP 2xx or exit code
	// 0.
	Succeeded(o *Observation) bool
	// Meaning returns the meaning of o. [Rules.Classify] calls Meaning only when it evaluates o, because a wrapper
	// of the probe may still change o.Body after the probe has returned o.
	Meaning(o *Observation) Meaning
}

// A Meaning is the interpretation of one response by its [Protocol]: the verdict that applies if no rule matches,
// and the restrictions on the rules that may decide instead. If the Meaning is the zero value, no rule can make
// the observation SUCCESS.
type Meaning struct {
	// Default returns the verdict that applies if no rule matches. A Status of None means that the response alone
	// decides nothing. isNamed is true if one of the user's rules for NOT_READY reads the document, and so describes
	// the responses of running operations.
	Default func(isNamed bool) Verdict
	// Certain is true if a SUCCESS from Default stands although a rule for NOT_READY is doubtful. If Certain is
	// false, a doubtful rule changes such a SUCCESS to NOT_READY. A rule is doubtful if its result is unknown, or if
	// it seems to misspell the name of a field.
	Certain bool
	// Holds determines whether rules for SUCCESS that did not match change or replace the Default.
	Holds Holds
	// Reason describes the response, such as "HTTP 200 OK". It is the reason of the verdict if the rules for
	// SUCCESS were not evaluated on the response.
	Reason string
	// Where is appended to the reason of a verdict that a rule gave, such as "after a redirect to /login". If it
	// is "", nothing is appended.
	Where string

	// Allow is the set of conclusions that rules may draw from the response.
	Allow Allow
	// Only restricts the rules that count. If it is not nil, a rule counts only if it reads at least one variable
	// in this list, where variables are named without a $. An empty list that is not nil excludes all rules.
	Only []string
	// Named lists variables, without a $. A rule that reads one of them is meant for unsuccessful responses, too.
	// For example, a rule that reads $status takes error codes into account.
	Named []string
	// WhyNot explains why the response cannot mean SUCCESS. It applies only if Allow lacks AllowSuccess. If a rule
	// for SUCCESS then matches, the verdict is NOT_READY, and WhyNot is appended to its reason. If WhyNot is "",
	// rules for SUCCESS are not evaluated on the response.
	WhyNot string
	// WhyNotHere is the reason of the NOT_READY that replaces the Default if no rule matches and one of the user's
	// rules has its field Here set. If WhyNotHere is "", the Default applies in this case, too.
	WhyNotHere string

	// NextPage returns the name of the part of the response that announces a further page of a list, such as a
	// member or a header field, or "" if nothing announces a further page. isWhole is true if the whole response
	// is a single object, and not a list of objects. A nil NextPage means that the response has no further page.
	NextPage func(isWhole bool) string

	// Once is true if the attempt must not be repeated, such as a request that starts an operation. An ERROR is
	// then final.
	Once bool
	// DeadEnd explains why no further attempt can follow this response. A verdict that would not end the wait then
	// becomes an ERROR, with DeadEnd appended to its reason, and with these Hints. If DeadEnd is "",
	// further attempts are possible.
	DeadEnd string
	Hints   []Hint
}

// Allow is a set of conclusions that rules may draw from an observation.
type Allow uint8

// The conclusions that an [Allow] may contain.
const (
	AllowRead     Allow = 1 << iota // conclusions from the document, because the response is successful
	AllowText                       // conclusions from the body or output as text, although the response is unsuccessful
	AllowSuccess                    // the conclusion that the operation is done: SUCCESS
	AllowAbsence                    // the conclusion, by a rule with the field Here, that the requested object does not exist
	AllowNotReady                   // the conclusion, by a preset's rule on an unsuccessful response, that the operation is not done: NOT_READY
)

// Holds determines whether rules for SUCCESS that did not match change or replace the Default of a [Meaning].
type Holds uint8

// The values of [Holds].
const (
	HoldsAlways                Holds = iota // the Default applies unchanged
	HoldsRunning                            // the Default applies, but the reason explains why the rules for SUCCESS, if there are any, did not match
	HoldsUnlessRulesSaySuccess              // the Default applies only without a preset and without rules for SUCCESS; otherwise, the verdict is NOT_READY, or ERROR if Rules.Strict is set
)

// meaning returns the meaning of o as defined by its Protocol. Two restrictions apply with every Protocol. If the
// element that o is about is [Gone], only rules that read $gone count; if the element is [Missing], no rules count.
// At the end of a stream, only rules that read $exit count; without an exit code, no rules count.
func (o *Observation) meaning() (m Meaning) {
	if o.Protocol != nil {
		m = o.Protocol.Meaning(o)
	}
	if why := o.absence(); why != "" {
		m.Default, m.Holds, m.WhyNotHere = Always(Verdict{Status: NotReady, Reason: why}), HoldsAlways, ""
		m.Only = map[Presence][]string{Gone: {"gone"}, Missing: {}}[o.Presence]
	}
	if m.Default == nil {
		m.Default = Always(Verdict{Reason: "the meaning of the response is unknown"})
	}
	if o.Ended && o.Exit != nil {
		m.Only = []string{"exit"}
	} else if o.Ended {
		m.Only = []string{}
	}
	return m
}

// Always returns a function that returns v for every argument. Implementations of [Protocol] use the function as the
// field Default of a [Meaning].
func Always(v Verdict) func(isNamed bool) Verdict {
	return func(bool) Verdict { return v }
}

// excludes reports whether rule must not be evaluated on the response. A rule for SUCCESS is excluded if the
// response cannot mean SUCCESS and WhyNot is "". A rule with the field Here is excluded if the response does not
// show whether the requested object exists.
func (m *Meaning) excludes(rule *Rule) bool {
	return rule.Status == Success && m.Allow&AllowSuccess == 0 && m.WhyNot == "" || rule.Here && m.Allow&AllowAbsence == 0
}

// reads reports whether rule satisfies m.Only: m.Only is nil, or rule reads one of the variables that m.Only
// lists.
func (m *Meaning) reads(rule *Rule) bool {
	return m.Only == nil || len(m.Only) > 0 && rule.Expr.Reads(m.Only...)
}

// counts reports whether rule may draw conclusions from the response. On a successful response, which has
// AllowRead, every rule may do so. On an unsuccessful response, a rule may do so if it does not read the document,
// $isjson, $unchanged, $body or $header. Any other rule must meet one of these conditions:
//
//   - It is a rule for THROTTLED.
//   - It is a rule for NOT_READY from the user. A rule from a preset needs AllowNotReady.
//   - It is a rule for ERROR, and admitted is true (see [Rules.Admits]).
//   - It also reads $error, or a variable in m.Named.
//   - It reads $stdout, $stderr or $body, and m has AllowText.
func (m *Meaning) counts(rule *Rule, admitted bool) bool {
	x, has := rule.Expr, func(a Allow) bool { return m.Allow&a != 0 }
	if has(AllowRead) || rule.Status == Error && admitted {
		return true
	}
	isFree := rule.Status == Throttled || rule.Status == NotReady && (rule.Preset == "" || has(AllowNotReady))
	isNamed := x.Reads("error") || m.isNamed(x) || has(AllowText) && x.Reads("stdout", "stderr", "body")
	return isFree || isNamed || !x.Reads(".", "isjson", "unchanged", "body", "header")
}

// isNamed reports whether x reads one of the variables in m.Named.
func (m *Meaning) isNamed(x *expr.Expr) bool { return len(m.Named) > 0 && x.Reads(m.Named...) }
