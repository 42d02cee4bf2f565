import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { Batcher, type BatchObserver } from '#server/db/batching/batcher.ts';
import { isDatabaseUnresponsive } from '#server/db/database-errors.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransactionOnce } from '#server/db/transaction.ts';

import type { EntitlementDependencies } from '../entitlements/issue-entitlement.ts';
import type { LicenseKeyDependencies } from '../licenses/dependencies.ts';
import { insertActivations } from '../licenses/queries/activations.ts';
import { insertLicenseKeys } from '../licenses/queries/license-keys.ts';
import { insertLicenses } from '../licenses/queries/licenses.ts';
import { recordEvents, type LicenseEvent } from '../outgoing-webhooks/record-events.ts';
import type { EventSubscriptions } from '../outgoing-webhooks/event-subscriptions.ts';
import {
  deleteClaims,
  insertFreeClaims,
  listTrials,
  listTrialsByClaims,
  lockTrialClaims,
  replaceClaims,
  type Trial,
} from './queries.ts';
import { buildTrial, type NewTrial, type TrialBatch, type TrialRequest } from './trial.ts';

export interface TrialBatchDependencies extends LicenseKeyDependencies, EntitlementDependencies {
  readonly clock: Clock;
  readonly pool: Pool;
  readonly eventSubscriptions: EventSubscriptions;
}

/** A grant costs a signature and four inserts: batches smaller than a validation's keep the latency low. */
const MAX_BATCH_SIZE = 64;
const MAX_QUEUE_LENGTH = 4_096;

/**
 * Each round finds or grants at least one more trial; a request waits for another's grant once, or twice in a chain.
 */
const MAX_ROUNDS = 10;

/** Creates the batcher that grants trials. */
export function createTrialBatch(
  deps: TrialBatchDependencies,
  observer: BatchObserver,
): TrialBatch {
  return new Batcher({
    name: 'trials',
    maxBatchSize: MAX_BATCH_SIZE,
    maxQueueLength: MAX_QUEUE_LENGTH,
    observer,
    isUnresponsive: (error) => isDatabaseUnresponsive(deps.pool, error),
    execute: (requests) => grantTrials(deps, requests),
  });
}

/**
 * Returns the trial of each request: the existing one of its machine, or a new one. The unique key over the claims
 * determines which request is first, within a batch, between batches and between processes.
 */
async function grantTrials(
  deps: TrialBatchDependencies,
  requests: readonly TrialRequest[],
): Promise<readonly Trial[]> {
  const granted = new Map<TrialRequest, string>();
  let open: readonly TrialRequest[] = requests;
  for (let round = 0; open.length > 0; round++) {
    if (round >= MAX_ROUNDS) throw new Error('the trial claims still conflict after 10 rounds');
    const claimed = await listTrialsByClaims(deps.pool, uniqueClaims(open));
    for (const request of open) {
      const licenseId = oldestGrant(request, claimed);
      if (licenseId !== null) granted.set(request, licenseId);
    }
    await rewriteOlderClaims(deps.pool, granted, claimed);
    open = open.filter((request) => !granted.has(request));
    if (open.length > 0) await grantNew(deps, withoutOverlaps(open));
  }
  return readInOrder(
    deps.pool,
    requests.map((request) => granted.get(request) ?? ''),
  );
}

/**
 * Stores the claims of machines that were found under a previous master secret under the current one. Rewrites only the
 * claims of the request: other claims of the same trial remain, for the earlier hardware of the machine, and so do
 * those of another trial.
 */
async function rewriteOlderClaims(
  pool: Pool,
  granted: ReadonlyMap<TrialRequest, string>,
  claimed: ReadonlyMap<string, string>,
): Promise<void> {
  const found = [...granted].filter(([{ olderClaims }]) => olderClaims.some((c) => claimed.has(c)));
  if (found.length === 0) return;
  const current = found.flatMap(([{ claims }, licenseId]) =>
    claims.map((claim) => ({ claim, licenseId })),
  );
  const outdated = found.flatMap(([{ olderClaims }, licenseId]) =>
    olderClaims.filter((claim) => claimed.get(claim) === licenseId),
  );
  await inTransactionOnce(pool, async (client) => {
    await lockTrialClaims(client);
    await replaceClaims(client, current, outdated);
  });
}

/** Grants trials for free claims; requests whose claims are taken find the winner's grant in the next round. */
async function grantNew(
  deps: TrialBatchDependencies,
  requests: readonly TrialRequest[],
): Promise<void> {
  const grantedAt = deps.clock.now();
  const candidates = requests.map((request) => ({
    request,
    trial: buildTrial(deps, request, grantedAt),
  }));
  await inTransactionOnce(deps.pool, async (client) => {
    const olderClaims = requests.flatMap((request) => request.olderClaims);
    if (olderClaims.length > 0) {
      // Processes with different current secrets take different claims for one machine, so a lock serializes them.
      await lockTrialClaims(client);
      const claimed = await listTrialsByClaims(client, uniqueClaims(requests));
      // The next round finds it.
      if (claimed.size > 0) return;
    }
    const claims = candidates.flatMap(({ request, trial }) =>
      request.claims.map((claim) => ({ claim, licenseId: trial.license.id })),
    );
    const inserted = await insertFreeClaims(client, claims, grantedAt);
    const isWinner = ({ request }: (typeof candidates)[number]): boolean =>
      request.claims.every((claim) => inserted.has(claim));
    const losers = candidates.filter((candidate) => !isWinner(candidate));
    const unused = losers.flatMap(({ request }) => request.claims.filter((c) => inserted.has(c)));
    if (unused.length > 0) await deleteClaims(client, unused);
    const trials = candidates.filter(isWinner).map(({ trial }) => trial);
    if (trials.length === 0) return;
    await storeTrials(deps, client, trials, grantedAt);
  });
}

async function storeTrials(
  deps: TrialBatchDependencies,
  db: Queryable,
  trials: readonly NewTrial[],
  grantedAt: Date,
): Promise<void> {
  const licenses = trials.map(({ license }) => license);
  const keys = trials.map(({ keyHash, license }) => ({ keyHash, licenseId: license.id }));
  const activations = trials.map(({ activation }) => activation);
  const events = trials.map(({ license, activation }): LicenseEvent => ({
    type: 'trial.started',
    license,
    details: { activation_id: activation.id },
  }));
  await insertLicenses(db, licenses);
  await insertLicenseKeys(db, keys);
  await insertActivations(db, activations, grantedAt);
  await recordEvents(deps, db, events, grantedAt);
}

/** Returns the first of each group that shares a claim: one transaction cannot see which of them inserted it. */
function withoutOverlaps(requests: readonly TrialRequest[]): TrialRequest[] {
  const seen = new Set<string>();
  return requests.filter(({ claims }) => {
    if (claims.some((claim) => seen.has(claim))) return false;
    for (const claim of claims) seen.add(claim);
    return true;
  });
}

function uniqueClaims(requests: readonly TrialRequest[]): string[] {
  return [...new Set(requests.flatMap(({ claims, olderClaims }) => [...claims, ...olderClaims]))];
}

/** A machine built from parts of two others matches both their grants: the older one applies (UUIDv7 sort by time). */
function oldestGrant(
  { claims, olderClaims }: TrialRequest,
  claimed: ReadonlyMap<string, string>,
): string | null {
  const grants = [...claims, ...olderClaims].flatMap((claim) => claimed.get(claim) ?? []);
  return grants.sort()[0] ?? null;
}

async function readInOrder(pool: Pool, licenseIds: readonly string[]): Promise<Trial[]> {
  const rows = await listTrials(pool, [...new Set(licenseIds)]);
  const trials = new Map(rows.map((row) => [row.id, row]));
  return licenseIds.map((id) => {
    const trial = trials.get(id);
    if (trial === undefined) throw new Error(`trial claim without a license: ${id}`);
    return trial;
  });
}
