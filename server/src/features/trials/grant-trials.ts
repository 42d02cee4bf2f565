import type { Pool } from 'pg';

import { Batcher, type BatchObserver } from '#server/db/batching/batcher.ts';
import { isDatabaseUnresponsive } from '#server/db/database-errors.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertLicenseKeys } from '../licenses/queries/license-keys.ts';
import type { LicenseEvent } from '../outgoing-webhooks/record-events.ts';
import {
  listTrialsByClaims,
  insertTrialActivations,
  insertTrialLicenses,
  listTrials,
  lockTrialClaims,
  moveClaims,
  releaseClaims,
  takeClaims,
  type NewTrial,
  type TrialTerms,
} from './queries.ts';
import { trialStanding, toTrial, type Trial, type TrialBatch, type TrialRequest } from './trial.ts';

/** Makes what is to be stored for a request that has no trial yet. */
export type PrepareTrial = (request: TrialRequest, terms: TrialTerms) => NewTrial;

export interface TrialBatchOptions {
  readonly pool: Pool;
  readonly observer: BatchObserver;
  /** What a trial granted now is like. */
  readonly readTerms: () => TrialTerms;
  readonly prepare: PrepareTrial;
  /** Records what happened for whoever wants to be told; in the transaction of the grant. */
  readonly recordEvents: (
    db: Queryable,
    events: readonly LicenseEvent[],
    now: Date,
  ) => Promise<void>;
}

/** A grant costs a signature and four inserts: batches smaller than a validation's keep the latency low. */
const MAX_BATCH_SIZE = 64;
const MAX_QUEUE_LENGTH = 4_096;

/** Each round finds or grants at least one more trial; a request waits for another's grant once, or twice in a chain. */
const MAX_ROUNDS = 10;

/** Makes the batcher that grants trials. */
export function createTrialBatch(options: TrialBatchOptions): TrialBatch {
  return new Batcher({
    name: 'trials',
    maxBatchSize: MAX_BATCH_SIZE,
    maxQueueLength: MAX_QUEUE_LENGTH,
    observer: options.observer,
    isSilent: (error) => isDatabaseUnresponsive(options.pool, error),
    execute: (requests) => grantTrials(options, requests),
  });
}

/**
 * Gives each request its trial: the one that its machine was granted earlier, or a new one. The unique key over the claims
 * decides who is first, within a batch, between batches and between processes.
 */
async function grantTrials(
  options: TrialBatchOptions,
  requests: readonly TrialRequest[],
): Promise<readonly Trial[]> {
  const granted = new Map<TrialRequest, string>();
  let open: readonly TrialRequest[] = requests;
  for (let round = 0; open.length > 0; round++) {
    if (round >= MAX_ROUNDS) throw new Error('the claims of trials did not settle');
    const claimed = await listTrialsByClaims(options.pool, uniqueClaims(open));
    for (const request of open) {
      const licenseId = oldestGrant(request, claimed);
      if (licenseId !== null) granted.set(request, licenseId);
    }
    await rewriteOlderClaims(options.pool, granted, claimed);
    open = open.filter((request) => !granted.has(request));
    if (open.length > 0) await grantNew(options, withoutOverlaps(open));
  }
  return loadInOrder(
    options.pool,
    requests.map((request) => granted.get(request) ?? ''),
  );
}

/**
 * Stores the claims of machines that were found under a previous master secret under the current one. Only the claims
 * that the machine presents are rewritten: others of the same trial stay, for the machine as it was then, and so do those
 * of another trial.
 */
async function rewriteOlderClaims(
  pool: Pool,
  granted: ReadonlyMap<TrialRequest, string>,
  claimed: ReadonlyMap<string, string>,
): Promise<void> {
  const found = [...granted].filter(([{ olderClaims }]) => olderClaims.some((c) => claimed.has(c)));
  if (found.length === 0) return;
  const wanted = found.flatMap(([{ claims }, licenseId]) =>
    claims.map((claim) => ({ claim, licenseId })),
  );
  const outdated = found.flatMap(([{ olderClaims }, licenseId]) =>
    olderClaims.filter((claim) => claimed.get(claim) === licenseId),
  );
  await inTransaction(pool, async (client) => {
    await lockTrialClaims(client);
    await moveClaims(client, wanted, outdated);
  });
}

/** Grants trials to those whose claims nobody else has taken; the others find the winner's grant in the next round. */
async function grantNew(
  { pool, readTerms, prepare, recordEvents }: TrialBatchOptions,
  requests: readonly TrialRequest[],
): Promise<void> {
  const terms = readTerms();
  const candidates = requests.map((request) => ({ request, trial: prepare(request, terms) }));
  await inTransaction(pool, async (client) => {
    const olderClaims = requests.flatMap((request) => request.olderClaims);
    if (olderClaims.length > 0) {
      // Processes whose current secrets differ take different claims for one machine, so they take turns.
      await lockTrialClaims(client);
      const taken = await listTrialsByClaims(client, uniqueClaims(requests));
      // The next round finds it.
      if (taken.size > 0) return;
    }
    const wanted = candidates.flatMap(({ request, trial }) =>
      request.claims.map((claim) => ({ claim, licenseId: trial.licenseId })),
    );
    const taken = await takeClaims(client, wanted, terms.grantedAt);
    const isWhole = ({ request }: (typeof candidates)[number]): boolean =>
      request.claims.every((claim) => taken.has(claim));
    const forestalled = candidates.filter((candidate) => !isWhole(candidate));
    const strays = forestalled.flatMap(({ request }) => request.claims.filter((c) => taken.has(c)));
    if (strays.length > 0) await releaseClaims(client, strays);
    const trials = candidates.filter(isWhole).map(({ trial }) => trial);
    if (trials.length === 0) return;
    await insertTrialLicenses(client, trials, terms);
    await insertLicenseKeys(client, trials);
    await insertTrialActivations(client, trials, terms.grantedAt);
    const events = trials.map((trial) => toEvent(trial, terms));
    await recordEvents(client, events, terms.grantedAt);
  });
}

function toEvent({ licenseId, keyHint, activationId }: NewTrial, terms: TrialTerms): LicenseEvent {
  const standing = trialStanding(licenseId, terms);
  return {
    type: 'trial.started',
    license: { ...standing, tier: terms.tier, keyHint, customerEmail: null },
    details: { activation_id: activationId },
  };
}

/** The first of each group that shares a claim: one transaction could not tell which of them took it. */
function withoutOverlaps(requests: readonly TrialRequest[]): TrialRequest[] {
  const taken = new Set<string>();
  return requests.filter(({ claims }) => {
    if (claims.some((claim) => taken.has(claim))) return false;
    for (const claim of claims) taken.add(claim);
    return true;
  });
}

function uniqueClaims(requests: readonly TrialRequest[]): string[] {
  return [...new Set(requests.flatMap(({ claims, olderClaims }) => [...claims, ...olderClaims]))];
}

/** A machine built from parts of two others leads to both their grants: the older counts (UUIDv7 sort by time). */
function oldestGrant(
  { claims, olderClaims }: TrialRequest,
  claimed: ReadonlyMap<string, string>,
): string | null {
  const grants = [...claims, ...olderClaims].flatMap((claim) => claimed.get(claim) ?? []);
  return grants.sort()[0] ?? null;
}

async function loadInOrder(pool: Pool, licenseIds: readonly string[]): Promise<Trial[]> {
  const rows = await listTrials(pool, [...new Set(licenseIds)]);
  const trials = new Map(rows.map((row) => [row.id, toTrial(row)]));
  return licenseIds.map((id) => {
    const trial = trials.get(id);
    if (trial === undefined) throw new Error(`a trial claim points at no license: ${id}`);
    return trial;
  });
}
