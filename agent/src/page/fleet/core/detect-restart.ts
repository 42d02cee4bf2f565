/** What a hello reports of the machine's and the agent's start; NaN where unknown. */
export interface StartFacts {
  readonly bootMs: number;
  readonly agentStartedAtMs: number;
  /** How far this page's clock is ahead of the agent's, in milliseconds. */
  readonly aheadMs: number;
}

/** The kernel's boot time varies by a second when the clock is adjusted. */
const BOOT_TOLERANCE_MS = 5000;

/**
 * Compares the hellos of two connections. The agent does not survive a restart of its machine, so without a new agent a new boot time
 * means that the machine's clock was set; with a new agent, boot times are compared on this page's clock for the same reason.
 */
export function detectRestart(
  before: StartFacts,
  after: StartFacts,
): 'rebooted' | 'agent_restarted' | null {
  const isSameAgent = before.agentStartedAtMs === after.agentStartedAtMs;
  if (
    isSameAgent ||
    Number.isNaN(before.agentStartedAtMs) ||
    Number.isNaN(after.agentStartedAtMs)
  ) {
    return null;
  }
  const raw = Math.abs(after.bootMs - before.bootMs);
  const aligned = Math.abs(after.bootMs + after.aheadMs - before.bootMs - before.aheadMs);
  // False for NaN.
  return Math.min(raw, aligned) > BOOT_TOLERANCE_MS ? 'rebooted' : 'agent_restarted';
}
