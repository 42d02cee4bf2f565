import { LATEST_DATE_TIME_MS } from '@latchkey/contract';

import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { licenseNotFound } from '#server/errors.ts';

import { insertAuditEntry, type AuditEntry } from '../audit/queries.ts';
import { recordLicenseChanges } from '../outgoing-webhooks/record-events.ts';
import { resolveLicenseId } from './find-license.ts';
import type { LicenseChangeDependencies } from './dependencies.ts';
import { refreshLicenseActivity } from './queries/license-activity.ts';
import { manualUpdates, upsertLicenseUpdates } from './queries/license-updates.ts';
import {
  findLicenseVersion,
  lockLicense,
  recordExtension,
  recordLimit,
  updateLicenseFacts,
  type LicenseRecord,
} from './queries/licenses.ts';
import { addExtraMoves } from './queries/moves.ts';
import type { LicenseFacts } from './rules/facts.ts';
import { addUpdateDays } from './rules/updates-until.ts';

const DAY_MS = 86_400_000;

const TRIAL_WITHOUT_END = 'A trial always has an end: pass a date, or issue a license.';

/** A manual change of a license. */
export interface ManualChange {
  /** The license's key or id. */
  readonly keyOrId: string;
  readonly actor: string;
  readonly reason: string;
  /** The version that the operator saw. Default: any. */
  readonly expectedVersion?: number;
}

/** The new end of a license: some days later, or a date; null is perpetual. */
export type Extension = { readonly days: number } | { readonly until: Date | null };

/** Makes a license unusable until it is reinstated. */
export const suspendLicense = defineChange('license.suspend', ({ suspendedAt }, now) => ({
  suspendedAt: suspendedAt ?? now,
}));

/** Lifts a manual suspension or revocation; a dispute about the payment continues. */
export const reinstateLicense = defineChange('license.reinstate', () => ({
  suspendedAt: null,
  revokedAt: null,
}));

/** Revokes a license. This outranks a suspension or refund, and only a reinstatement lifts it. */
export const revokeLicense = defineChange('license.revoke', ({ revokedAt }, now) => ({
  revokedAt: revokedAt ?? now,
}));

/**
 * Changes the expiry of a license. Days are added to its current expiry, or to now when it has expired; a perpetual
 * license stays perpetual, and no expiry is after the year 9999, the last that a date-time can express. A
 * subscription's next payment moves the end further, never back.
 * @throws LicenseChangeError for a trial without an end
 */
export async function extendLicense(
  deps: LicenseChangeDependencies,
  change: ManualChange,
  extension: Extension,
): Promise<LicenseRecord> {
  return changeLicense(deps, change, {
    action: 'license.extend',
    decide(license, now) {
      const expiresAt =
        'until' in extension ? extension.until : addDays(license, extension.days, now);
      if (license.trial && expiresAt === null) throw new LicenseChangeError(TRIAL_WITHOUT_END);
      return { expiresAt };
    },
    record: (db, { id, expiresAt }) => recordExtension(db, id, expiresAt),
  });
}

/**
 * Allows moves of a license beyond its limit, each once.
 * @param count 1 to 1,000
 */
export async function allowMoves(
  deps: LicenseChangeDependencies,
  change: ManualChange,
  count: number,
): Promise<LicenseRecord> {
  return changeLicense(deps, change, {
    action: 'license.allow_move',
    decide: () => ({}),
    record: (db, { id }) => addExtraMoves(db, id, count),
  });
}

/**
 * Changes the limit of machines of a license. Machines beyond a lower limit stay active. A later payment may raise the
 * limit, and does not lower it below this one.
 * @param limit 1 to 1,000,000
 */
export async function changeMachineLimit(
  deps: LicenseChangeDependencies,
  change: ManualChange,
  limit: number,
): Promise<LicenseRecord> {
  return changeLicense(deps, change, {
    action: 'license.change_limit',
    decide: () => ({ maxActivations: limit }),
    async record(db, { id }) {
      await recordLimit(db, id, limit);
      await refreshLicenseActivity(db, [id]);
    },
    describe: (before, after) => ({
      max_activations: after.maxActivations,
      previous_max_activations: before.maxActivations,
    }),
  });
}

/**
 * Changes until when a license gets new versions; null: always. Days are added to the present end, or to now when that has
 * passed; a license that gets all updates continues to. Later renewals extend from the new end.
 */
export async function changeUpdates(
  deps: LicenseChangeDependencies,
  change: ManualChange,
  extension: Extension,
): Promise<LicenseRecord> {
  const decide = ({ updatesUntil: end }: LicenseRecord, now: Date): Date | null => {
    if ('until' in extension) return extension.until;
    return end === null ? null : addUpdateDays(end, extension.days, now);
  };
  return changeLicense(deps, change, {
    action: 'license.change_updates',
    decide: (license, now) => ({ updatesUntil: decide(license, now) }),
    record: (db, { id, updatesUntil }, now) =>
      upsertLicenseUpdates(db, [manualUpdates(id, updatesUntil, now)]),
    describe: (before, after) => ({
      updates_until: after.updatesUntil?.toISOString() ?? null,
      previous_updates_until: before.updatesUntil?.toISOString() ?? null,
    }),
  });
}

function addDays({ expiresAt }: LicenseFacts, days: number, now: Date): Date | null {
  if (expiresAt === null) return null;
  const from = Math.max(expiresAt.getTime(), now.getTime());
  return new Date(Math.min(from + days * DAY_MS, LATEST_DATE_TIME_MS));
}

function defineChange(action: string, decide: ChangeSteps['decide']) {
  return (deps: LicenseChangeDependencies, change: ManualChange): Promise<LicenseRecord> =>
    changeLicense(deps, change, { action, decide });
}

/** The steps of a manual change. */
interface ChangeSteps {
  /** The action in the audit log. */
  readonly action: string;
  readonly decide: (license: LicenseRecord, now: Date) => Partial<LicenseFacts>;
  /** Stores the part of the change that is not in the license's facts. */
  readonly record?: (db: Queryable, changed: LicenseRecord, now: Date) => Promise<void>;
  /** The details for the audit log. Default: the expiry. */
  readonly describe?: (before: LicenseRecord, after: LicenseRecord) => AuditEntry['details'];
}

async function changeLicense(
  deps: LicenseChangeDependencies,
  change: ManualChange,
  { action, decide, record, describe = describeExpiry }: ChangeSteps,
): Promise<LicenseRecord> {
  const id = await resolveLicenseId(deps, change.keyOrId);
  if (id === null) throw licenseNotFound();
  return inTransaction(deps.pool, async (client) => {
    const license = await lockVersion(client, id, change.expectedVersion);
    const now = deps.clock.now();
    const changed = { ...license, ...decide(license, now) };
    await updateLicenseFacts(client, changed);
    await record?.(client, changed, now);
    await recordLicenseChanges(deps, client, [{ before: license, after: changed }], now);
    await insertAuditEntry(client, {
      occurredAt: now,
      actor: change.actor,
      action,
      subjectId: id,
      reason: change.reason,
      details: describe(license, changed),
    });
    return changed;
  });
}

function describeExpiry(_before: LicenseRecord, { expiresAt }: LicenseRecord) {
  return { expires_at: expiresAt?.toISOString() ?? null };
}

/**
 * Locks a license for a change.
 * @param expectedVersion the version that the operator saw; undefined: any
 * @throws licenseNotFound, LicenseVersionError
 */
export async function lockVersion(
  client: Queryable,
  id: string,
  expectedVersion: number | undefined,
): Promise<LicenseRecord> {
  const license = await lockLicense(client, id);
  if (license === null) throw licenseNotFound();
  if (expectedVersion === undefined) return license;
  if ((await findLicenseVersion(client, id)) !== expectedVersion) throw new LicenseVersionError();
  return license;
}

/** The license changed after the operator saw it. */
export class LicenseVersionError extends Error {
  constructor() {
    super('the license has another version');
    this.name = 'LicenseVersionError';
  }
}

/** A manual change that is not possible; the message is a sentence for the operator. */
export class LicenseChangeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LicenseChangeError';
  }
}
