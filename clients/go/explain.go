package latchkey

import (
	"fmt"
	"runtime"
	"strings"
)

// explain describes a client. The text contains no key except its last group, no token and no machine id.
func (s *session) explain() string {
	kept, state := s.kept(), s.state()
	lines := [][2]string{
		{"state", join(string(state.Kind), state.Reason)},
		{"tier", state.Tier},
		{"features", join(state.Features...)},
		{"key", lastGroup(kept.key)},
		{"machine", hashText(kept.machine.machineID())[:8] + " (SHA-256)"},
		{"last question", s.lastQuestion},
		{"waiting", kept.listWaiting()},
		{"time", formatTime(s.presentMs())},
		{"device clock", formatTime(s.options.Now())},
		{"service", s.network.service},
		{"program", s.options.AppVersion},
		{"client", fmt.Sprintf("latchkey for Go %s, %s, %s %s", Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)},
	}
	if !state.Until.IsZero() {
		lines = append(lines, [2]string{"until", formatTime(state.Until.UnixMilli())})
	}
	if kept.lastAnswerAt != "" {
		lines = append(lines, [2]string{"last answer", kept.lastAnswerAt})
	}
	if kept.refused != nil {
		lines = append(lines, [2]string{"refused", kept.refused.Reason + " at " + kept.refused.At})
	}
	if state.ClockWentBack {
		lines = append(lines, [2]string{"warning", "the clock of the device was set back"})
	}
	return formatLines(append(lines, s.listProblems()...))
}

func (s *session) listProblems() [][2]string {
	s.problemsMutex.Lock()
	defer s.problemsMutex.Unlock()
	lines := [][2]string{}
	for _, problem := range s.problems {
		lines = append(lines, [2]string{"problem", problem})
	}
	return lines
}

func formatLines(lines [][2]string) string {
	text := strings.Builder{}
	for _, line := range lines {
		if line[1] != "" {
			text.WriteString(line[0] + ": " + line[1] + "\n")
		}
	}
	return text.String()
}

// join leaves out empty texts.
func join(texts ...string) string {
	filled := []string{}
	for _, text := range texts {
		if text != "" {
			filled = append(filled, text)
		}
	}
	return strings.Join(filled, ", ")
}

func lastGroup(key string) string {
	if len(key) <= 5 {
		return ""
	}
	return "…" + key[len(key)-5:]
}

func (k kept) listWaiting() string {
	waiting := []string{}
	if k.release != nil {
		waiting = append(waiting, "to be freed")
	}
	if k.trialWanted {
		waiting = append(waiting, "trial to be started")
	}
	if k.request != nil {
		waiting = append(waiting, "request without a connection")
	}
	return join(waiting...)
}
