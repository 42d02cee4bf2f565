import type { BillingLine, SubscriptionFact } from '../facts.ts';

/** The history of a line of a subscription: its price and quantity change, its license stays the same. */
export interface TrackedLine {
  /** Newest last. */
  readonly history: readonly [BillingLine, ...BillingLine[]];
  /** When the line was removed from the subscription; null if it was not. */
  readonly removedAt: Date | null;
}

/**
 * Tracks the lines of a subscription from the checkout through all snapshots. A line of a snapshot matches an earlier line
 * with the same id, else with the same price, else (an upgrade or downgrade) the first unmatched line; the rest is new. This
 * is an approximation, because not all providers have stable ids of lines.
 * @param bought the recurring lines of the checkout; empty if it is unknown
 * @param snapshots oldest first
 */
export function trackLines(
  bought: readonly BillingLine[],
  snapshots: readonly Pick<SubscriptionFact, 'lines' | 'occurredAt'>[],
): TrackedLine[] {
  let tracked: readonly TrackedLine[] = bought.filter(isSold).map((line) => startTracking(line));
  for (const { lines, occurredAt } of snapshots) {
    // Some events contain a status without lines.
    if (lines.length > 0) tracked = applySnapshot(tracked, lines.filter(isSold), occurredAt);
  }
  return [...tracked];
}

/** A line with the quantity 0 sells nothing, as if it were not there. */
function isSold({ quantity }: BillingLine): boolean {
  return quantity !== 0;
}

/** Returns the newest state of a line. */
export function currentLine({ history }: TrackedLine): BillingLine {
  return history.at(-1) ?? history[0];
}

function startTracking(line: BillingLine): TrackedLine {
  return { history: [line], removedAt: null };
}

function applySnapshot(
  before: readonly TrackedLine[],
  lines: readonly BillingLine[],
  at: Date,
): TrackedLine[] {
  const matches = matchLines(before, lines);
  const matched = new Set(matches.values());
  const kept = before.map((tracked) => {
    const line = matches.get(tracked);
    if (line === undefined) return { ...tracked, removedAt: tracked.removedAt ?? at };
    const [first, ...rest] = tracked.history;
    return { history: [first, ...rest, line] as const, removedAt: null };
  });
  return [...kept, ...lines.filter((line) => !matched.has(line)).map(startTracking)];
}

function matchLines(
  before: readonly TrackedLine[],
  lines: readonly BillingLine[],
): ReadonlyMap<TrackedLine, BillingLine> {
  const matches = new Map<TrackedLine, BillingLine>();
  const matched = new Set<BillingLine>();
  const match = (isMatch: (tracked: TrackedLine, line: BillingLine) => boolean): void => {
    for (const line of lines) {
      const found = matched.has(line)
        ? undefined
        : before.find((tracked) => !matches.has(tracked) && isMatch(tracked, line));
      if (found === undefined) continue;
      matches.set(found, line);
      matched.add(line);
    }
  };
  match((tracked, line) => currentLine(tracked).lineId === line.lineId);
  match((tracked, line) => currentLine(tracked).priceId === line.priceId);
  match((tracked) => tracked.removedAt === null);
  return matches;
}
