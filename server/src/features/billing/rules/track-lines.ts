import type { BillingLine, SubscriptionFact } from '../facts.ts';

/** One position of a subscription through its life: prices and quantities change, the license stays. */
export interface TrackedLine {
  /** What it was and is, the newest last; never empty. */
  readonly history: readonly [BillingLine, ...BillingLine[]];
  /** Since when the subscription has it no more; null: it has it. */
  readonly removedAt: Date | null;
}

/**
 * Follows the positions of a subscription from the checkout through all snapshots. A position of a snapshot is the one of
 * before with the same id, else with the same price, else (an up- or downgrade) the first that is left over; what remains
 * is new. Providers number their positions differently or not at all, so this is the most that can be known.
 * @param bought the recurring lines of the checkout; none while it is not known
 * @param snapshots the oldest first
 */
export function trackLines(
  bought: readonly BillingLine[],
  snapshots: readonly Pick<SubscriptionFact, 'lines' | 'occurredAt'>[],
): TrackedLine[] {
  let tracked: readonly TrackedLine[] = bought.map((line) => begin(line));
  for (const { lines, occurredAt } of snapshots) {
    // Some events tell a status and no positions.
    if (lines.length > 0) tracked = follow(tracked, lines, occurredAt);
  }
  return [...tracked];
}

/** The newest form of a position. */
export function presentLine({ history }: TrackedLine): BillingLine {
  return history.at(-1) ?? history[0];
}

function begin(line: BillingLine): TrackedLine {
  return { history: [line], removedAt: null };
}

function follow(
  before: readonly TrackedLine[],
  lines: readonly BillingLine[],
  at: Date,
): TrackedLine[] {
  const matches = matchLines(before, lines);
  const taken = new Set(matches.values());
  const kept = before.map((tracked) => {
    const line = matches.get(tracked);
    if (line === undefined) return { ...tracked, removedAt: tracked.removedAt ?? at };
    const [first, ...rest] = tracked.history;
    return { history: [first, ...rest, line] as const, removedAt: null };
  });
  return [...kept, ...lines.filter((line) => !taken.has(line)).map(begin)];
}

function matchLines(
  before: readonly TrackedLine[],
  lines: readonly BillingLine[],
): ReadonlyMap<TrackedLine, BillingLine> {
  const matches = new Map<TrackedLine, BillingLine>();
  const taken = new Set<BillingLine>();
  const match = (fits: (tracked: TrackedLine, line: BillingLine) => boolean): void => {
    for (const line of lines) {
      const found = taken.has(line)
        ? undefined
        : before.find((tracked) => !matches.has(tracked) && fits(tracked, line));
      if (found === undefined) continue;
      matches.set(found, line);
      taken.add(line);
    }
  };
  match((tracked, line) => presentLine(tracked).lineId === line.lineId);
  match((tracked, line) => presentLine(tracked).priceId === line.priceId);
  match((tracked) => tracked.removedAt === null);
  return matches;
}
