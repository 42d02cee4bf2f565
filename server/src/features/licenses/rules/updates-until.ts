import { LATEST_DATE_TIME_MS } from '@latchkey/contract';

const DAY_MS = 86_400_000;

/** A payment or a manual change that moves the end of updates of a license. */
export interface UpdatesEntry {
  readonly licenseId: string;
  /** The line of a payment; all empty for a manual change, of which there is one. */
  readonly provider: string;
  readonly transactionId: string;
  readonly lineKey: string;
  /** `sale`: with the license; `renewal`: for a license that exists; `manual`: by an operator or an import. */
  readonly kind: 'sale' | 'renewal' | 'manual';
  /** Added to the end of updates, or to `paidAt` if that is later; null: the updates end at `endsAt`. */
  readonly days: number | null;
  /** Null without days: all updates. */
  readonly endsAt: Date | null;
  readonly paidAt: Date;
  /** When the payment was refunded or disputed, so that it counts for nothing. */
  readonly withdrawnAt: Date | null;
}

/**
 * Computes until when a license gets updates; null: it gets all. Payments extend the end in the order in which they were paid; a
 * manual change replaces it. Renewals of a license that was sold with all updates change nothing.
 */
export function computeUpdatesUntil(entries: readonly UpdatesEntry[]): Date | null {
  if (entries.every(({ kind }) => kind === 'renewal')) return null;
  let end: Date | null | undefined;
  for (const entry of entries.toSorted(compareEntries)) {
    if (entry.kind === 'manual') end = entry.endsAt;
    else if (end !== null) end = extend(end, entry);
  }
  return end ?? null;
}

/** Adds days to an end of updates, or to now if that is later. */
export function addUpdateDays(end: Date, days: number, now: Date): Date {
  const from = Math.max(end.getTime(), now.getTime());
  return new Date(Math.min(from + days * DAY_MS, LATEST_DATE_TIME_MS));
}

function extend(end: Date | undefined, { days, endsAt, paidAt, withdrawnAt }: UpdatesEntry): Date {
  // A license whose only payment was paid back got updates until it was paid.
  if (withdrawnAt !== null) return end ?? paidAt;
  const next = days === null ? (endsAt ?? paidAt) : addUpdateDays(end ?? paidAt, days, paidAt);
  return end === undefined || next > end ? next : end;
}

const RANKS = { sale: 0, manual: 1, renewal: 2 } as const;

/** By time; at the same time the sale is before its renewals. */
function compareEntries(a: UpdatesEntry, b: UpdatesEntry): number {
  return (
    a.paidAt.getTime() - b.paidAt.getTime() ||
    RANKS[a.kind] - RANKS[b.kind] ||
    (nameOf(a) < nameOf(b) ? -1 : 1)
  );
}

function nameOf({ provider, transactionId, lineKey }: UpdatesEntry): string {
  return `${provider} ${transactionId} ${lineKey}`;
}
