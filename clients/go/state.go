package latchkey

import "time"

// Kind is what a program has.
type Kind string

// The kinds of a State.
const (
	Licensed Kind = "licensed" // it may run
	Trial    Kind = "trial"    // it may run
	None     Kind = "none"     // there is no license, or none of this machine
	Ended    Kind = "ended"    // the entitlement ended: Reason is license_expired if the license did, too
	Refused  Kind = "refused"  // the service refused the license: Reason is its code
)

// State is what the program may do now, and why.
type State struct {
	MayRun bool
	Kind   Kind
	// Reason is why the program may not run: a code.
	Reason string
	Tier   string
	// Features is empty unless the program may run.
	Features []string
	// Until is the end of the entitlement; zero if there is none.
	Until time.Time
	// DaysLeft is the number of whole days until then, rounded up.
	DaysLeft int
	// FromService is whether the last question to the service since the start was answered.
	FromService bool
	// LastAnswerAt is zero if the service never answered.
	LastAnswerAt time.Time
	// ClockWentBack: ask the user to correct the clock. Nothing is locked.
	ClockWentBack bool
}

const dayMs = 86_400_000

// deriveState derives the state. The claims are those of the kept entitlement, or nil if it is not genuine.
func deriveState(kept kept, claims *claims, isAnswered bool, deviceMs int64) State {
	nowMs, wentBack := kept.clock.read(deviceMs)
	state := State{Kind: None, FromService: isAnswered, LastAnswerAt: kept.lastAnswer(), ClockWentBack: wentBack}
	if kept.key == "" && kept.entitlement == "" {
		state.Reason = "not_activated"
		return state
	}
	if kept.refused != nil {
		state.Kind, state.Reason = Refused, kept.refused.Reason
		return state
	}
	if claims == nil || claims.timeProblem(nowMs) == "early" {
		state.Reason = "entitlement_invalid"
		return state
	}
	return state.withTerms(claims, nowMs)
}

func (s State) withTerms(claims *claims, nowMs int64) State {
	s.Tier, s.Until = claims.tier, toTime(claims.end*1000)
	if nowMs >= claims.end*1000 {
		s.Kind, s.Reason = Ended, "entitlement_expired"
		if claims.licenseEnd != nil && *claims.licenseEnd*1000 <= nowMs {
			s.Reason = "license_expired"
		}
		return s
	}
	s.DaysLeft = int((claims.end*1000 - nowMs + dayMs - 1) / dayMs)
	s.MayRun, s.Kind, s.Features = true, Licensed, append([]string(nil), claims.features...)
	if claims.isTrial {
		s.Kind = Trial
	}
	return s
}

// differs returns whether a program that shows the state must show it again; who answered last, and when, is no change.
func (s State) differs(other State) bool {
	if len(s.Features) != len(other.Features) {
		return true
	}
	for index, feature := range s.Features {
		if feature != other.Features[index] {
			return true
		}
	}
	return s.Kind != other.Kind || s.Reason != other.Reason || s.Tier != other.Tier || !s.Until.Equal(other.Until) ||
		s.DaysLeft != other.DaysLeft || s.ClockWentBack != other.ClockWentBack
}
