package latchkey

const (
	clockToleranceMs   = 5 * 60_000
	clockWentBackMs    = 60 * 60_000
	latestAfterIssueMs = 65 * 60_000
)

// clock is what is known of the service's time, in milliseconds.
type clock struct {
	OffsetMs int64 `json:"offset_ms"`
	LatestMs int64 `json:"latest_ms"`
}

// read returns the present time, and whether the clock of the device went back.
func (c clock) read(deviceMs int64) (nowMs int64, wentBack bool) {
	nowMs = deviceMs + c.OffsetMs
	wentBack = nowMs < c.LatestMs-clockWentBackMs
	if nowMs < c.LatestMs {
		nowMs = c.LatestMs
	}
	return nowMs, wentBack
}

func (c clock) learn(deviceMs, serviceMs int64) clock {
	c.OffsetMs = serviceMs - deviceMs
	if c.OffsetMs > -clockToleranceMs && c.OffsetMs < clockToleranceMs {
		c.OffsetMs = 0
	}
	if c.LatestMs < serviceMs {
		c.LatestMs = serviceMs
	}
	return c
}

// join adds what a run learnt before the clock of the file could be read.
func (c clock) join(run clock) clock {
	if run.LatestMs > 0 {
		c.OffsetMs = run.OffsetMs
	}
	if c.LatestMs < run.LatestMs {
		c.LatestMs = run.LatestMs
	}
	return c
}

// chooseServiceTime returns the time of an answer: its header Date, which no signature protects, if that fits the entitlement.
func chooseServiceTime(dateMs *int64, issuedMs int64) int64 {
	if dateMs != nil && *dateMs >= issuedMs && *dateMs <= issuedMs+latestAfterIssueMs {
		return *dateMs
	}
	return issuedMs
}
