import { LATEST_DATE_TIME_MS } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { licenseNotFound } from '#server/errors.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { recordLicenseChanges } from '../outgoing-webhooks/record-events.ts';
import { resolveLicenseId } from './find-license.ts';
import {
  lockLicense,
  recordExtension,
  updateLicenseFacts,
  type LicenseRecord,
} from './queries/licenses.ts';
import { addExtraMoves } from './queries/moves.ts';
import type { LicenseFacts } from './rules/facts.ts';

const DAY_MS = 86_400_000;

/** Who changes a license by hand, and why. */
export interface ManualChange {
  /** The license's key or id. */
  readonly keyOrId: string;
  readonly actor: string;
  readonly reason: string;
}

/** How long a license is to run: some days more, or until a moment; null is for ever. */
export type Extension = { readonly days: number } | { readonly until: Date | null };

/** Stops a license from running until it is reinstated. */
export async function suspendLicense(ctx: Context, change: ManualChange): Promise<LicenseRecord> {
  return changeLicense(ctx, change, {
    action: 'license.suspend',
    decide: (license, now) => ({ suspendedAt: license.suspendedAt ?? now }),
  });
}

/** Lets a license that was suspended or revoked by hand run again; a dispute about its payment goes on. */
export async function reinstateLicense(ctx: Context, change: ManualChange): Promise<LicenseRecord> {
  return changeLicense(ctx, change, {
    action: 'license.reinstate',
    decide: () => ({ suspendedAt: null, revokedAt: null }),
  });
}

/** Ends a license. This outranks a suspension or refund, and only a reinstatement lifts it. */
export async function revokeLicense(ctx: Context, change: ManualChange): Promise<LicenseRecord> {
  return changeLicense(ctx, change, {
    action: 'license.revoke',
    decide: (license, now) => ({ revokedAt: license.revokedAt ?? now }),
  });
}

/**
 * Moves the end of a license. Days are added to its present end, or to now when it is over; a perpetual license stays so,
 * and no end lies beyond the year 9999, which no date-time could tell. A subscription's next payment moves the end
 * further, never back.
 * @throws LicenseRefusal for a trial that is to have no end
 */
export async function extendLicense(
  ctx: Context,
  change: ManualChange,
  extension: Extension,
): Promise<LicenseRecord> {
  return changeLicense(ctx, change, {
    action: 'license.extend',
    decide(license, now) {
      const expiresAt =
        'until' in extension ? extension.until : addDays(license, extension.days, now);
      if (license.trial && expiresAt === null) throw trialMustEnd();
      return { expiresAt };
    },
    record: (db, { id, expiresAt }) => recordExtension(db, id, expiresAt),
  });
}

/**
 * Allows a license to be activated on more machines than its limit of moves does, each once.
 * @param count 1 to 1,000
 */
export async function allowMoves(
  ctx: Context,
  change: ManualChange,
  count: number,
): Promise<LicenseRecord> {
  return changeLicense(ctx, change, {
    action: 'license.allow_move',
    decide: () => ({}),
    record: (db, { id }) => addExtraMoves(db, id, count),
  });
}

function addDays({ expiresAt }: LicenseFacts, days: number, now: Date): Date | null {
  if (expiresAt === null) return null;
  const from = Math.max(expiresAt.getTime(), now.getTime());
  return new Date(Math.min(from + days * DAY_MS, LATEST_DATE_TIME_MS));
}

/** A kind of change by hand. */
interface KindOfChange {
  /** As the audit log calls it. */
  readonly action: string;
  readonly decide: (license: LicenseRecord, now: Date) => Partial<LicenseFacts>;
  /** Writes what else is to be kept of the changed license. */
  readonly record?: (db: Queryable, changed: LicenseRecord) => Promise<void>;
}

async function changeLicense(
  ctx: Context,
  change: ManualChange,
  { action, decide, record }: KindOfChange,
): Promise<LicenseRecord> {
  const id = await resolveLicenseId(ctx, change.keyOrId);
  if (id === null) throw licenseNotFound();
  return inTransaction(ctx.pool, async (client) => {
    const license = await lockLicense(client, id);
    if (license === null) throw licenseNotFound();
    const now = ctx.clock.now();
    const changed = { ...license, ...decide(license, now) };
    await updateLicenseFacts(client, changed);
    await record?.(client, changed);
    await insertAuditEntry(client, {
      occurredAt: now,
      actor: change.actor,
      action,
      subjectId: id,
      reason: change.reason,
      details: { expires_at: changed.expiresAt?.toISOString() ?? null },
    });
    await recordLicenseChanges(ctx, client, [{ before: license, after: changed }], now);
    return changed;
  });
}

/** Why a license cannot be changed by hand as it was asked: a sentence for the operator. */
export class LicenseRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LicenseRefusal';
  }
}

function trialMustEnd(): LicenseRefusal {
  return new LicenseRefusal('A trial always has an end: give it a date, or issue a license.');
}
