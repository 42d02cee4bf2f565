/** Keys of another system that licenses take one by one. */
import { v7 as makeUuid } from 'uuid';

import type { Product } from '#server/config/catalog.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { readLicenseKey } from '#server/lib/license-key.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import type { LicenseChangeDependencies, LicenseKeyDependencies } from './dependencies.ts';
import { findWeakKeys } from './rules/find-weak-keys.ts';
import { hashWithAllSecrets, sealKey } from './license-key.ts';
import {
  deleteFreePoolKeys,
  insertPoolKeys,
  isKnownKey,
  lockOutdatedPoolKeys,
  takePoolKeys,
  updateSealedPoolKeys,
  type NewPoolKey,
  type PoolRequest,
  type SealedPoolKey,
} from './queries/license-pool.ts';

/** The most keys of one command. */
export const MAX_POOL_KEYS = 100_000;

const MAX_KEY_CHARACTERS = 1_000;

/** Keys in one statement. */
const BATCH_KEYS = 500;

/** A change of a pool. */
export interface PoolChange {
  readonly actor: string;
  readonly reason: string;
}

/** The outcome of adding keys. */
export interface AddedKeys {
  readonly added: number;
  /** Keys that a pool or a license has already. */
  readonly present: number;
  /** The lines of keys that were refused, with the reason. */
  readonly problems: readonly { readonly line: number; readonly problem: string }[];
}

/** The label that binds a sealed key to its row in a pool. */
function poolKeyLabel(id: string): string {
  return `pool:${id}`;
}

/**
 * Adds keys to the pool of a product, with an audit entry. Keys that are present are skipped, so that a file can be added again.
 * @param lines a key each; empty ones are skipped
 * @param options.allowWeakKeys default: keys that can be guessed are refused
 */
export async function addPoolKeys(
  deps: LicenseChangeDependencies,
  product: Product,
  lines: readonly string[],
  { actor, reason, allowWeakKeys = false }: PoolChange & { readonly allowWeakKeys?: boolean },
): Promise<AddedKeys> {
  const { accepted, problems } = readKeys(deps, lines, allowWeakKeys);
  return inTransaction(deps.pool, async (client) => {
    let added = 0;
    for (let start = 0; start < accepted.length; start += BATCH_KEYS) {
      const batch = accepted.slice(start, start + BATCH_KEYS);
      added += await addBatch(deps, client, product.id, batch);
    }
    if (added > 0) {
      await insertAuditEntry(client, {
        occurredAt: deps.clock.now(),
        actor,
        reason,
        action: 'pool.add',
        subjectId: product.id,
        details: { added },
      });
    }
    return { added, present: accepted.length - added, problems };
  });
}

function readKeys(
  deps: LicenseKeyDependencies,
  lines: readonly string[],
  allowWeakKeys: boolean,
): { readonly accepted: readonly string[]; readonly problems: AddedKeys['problems'] } {
  const prefix = deps.catalog().keyPrefix;
  const keys = lines
    .map((text, index) => ({ key: text.trim(), line: index + 1 }))
    .filter(({ key }) => key !== '');
  const isWeak = findWeakKeys(
    keys.map(({ key }) => key),
    prefix,
  );
  const checked = keys.map(({ key, line }, index) => ({
    key,
    line,
    problem: findProblem(key, prefix, isWeak[index] === true && !allowWeakKeys),
  }));
  return {
    accepted: [...new Set(checked.flatMap((each) => (each.problem === null ? [each.key] : [])))],
    problems: checked.flatMap(({ line, problem }) => (problem === null ? [] : [{ line, problem }])),
  };
}

function findProblem(key: string, prefix: string, isRefused: boolean): string | null {
  if (key.length > MAX_KEY_CHARACTERS || /\p{Cc}/u.test(key) || !key.isWellFormed()) {
    return `The key must be one line of at most ${MAX_KEY_CHARACTERS} characters.`;
  }
  if (readLicenseKey(key, prefix).kind === 'mistyped') {
    return 'The key has the prefix of the catalogue and a wrong checksum.';
  }
  return isRefused ? 'The key can be guessed. Allow weak keys to add it.' : null;
}

async function addBatch(
  deps: Pick<LicenseChangeDependencies, 'catalog' | 'clock' | 'vault'>,
  db: Queryable,
  productId: string,
  keys: readonly string[],
): Promise<number> {
  const fresh: NewPoolKey[] = [];
  for (const key of keys) {
    const isKnown =
      deps.vault.previous.length > 0 && (await isKnownKey(db, hashWithAllSecrets(deps, key)));
    const id = makeUuid();
    if (!isKnown) fresh.push({ id, productId, ...sealKey(deps, poolKeyLabel(id), key) });
  }
  return (await insertPoolKeys(db, fresh, deps.clock.now())).length;
}

/**
 * Removes free keys from the pool of a product, with an audit entry; keys of licenses stay.
 * @param ids null: all free keys
 * @returns how many were removed
 */
export async function removePoolKeys(
  deps: LicenseChangeDependencies,
  productId: string,
  ids: readonly string[] | null,
  { actor, reason }: PoolChange,
): Promise<number> {
  return inTransaction(deps.pool, async (client) => {
    const removed = await deleteFreePoolKeys(client, productId, ids);
    if (removed === 0) return 0;
    await insertAuditEntry(client, {
      occurredAt: deps.clock.now(),
      actor,
      reason,
      action: 'pool.remove',
      subjectId: productId,
      details: { removed },
    });
    return removed;
  });
}

/** Takes a key for each license, and returns them by license; a license whose pool is empty is absent. */
export async function takeKeys(
  { vault, clock }: LicenseKeyDependencies & Pick<LicenseChangeDependencies, 'clock'>,
  db: Queryable,
  requests: readonly PoolRequest[],
): Promise<ReadonlyMap<string, string>> {
  if (requests.length === 0) return new Map();
  const taken = await takePoolKeys(db, requests, clock.now());
  return new Map(
    taken.map(({ id, licenseId, keySealed }) => [
      licenseId,
      vault.open(keySealed, poolKeyLabel(id)),
    ]),
  );
}

const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** Seals and hashes the free keys of all pools under the current master secret, in batches. Safe to interrupt and repeat. */
export async function rewritePoolKeys(
  deps: LicenseKeyDependencies & Pick<LicenseChangeDependencies, 'pool'>,
): Promise<{ readonly rewritten: number; readonly failed: number }> {
  const { pool, vault } = deps;
  let [after, rewritten, failed] = [NIL_UUID, 0, 0];
  for (;;) {
    const position = after;
    const page = await inTransaction(pool, async (client) => {
      const locked = await lockOutdatedPoolKeys(client, position, vault.secretId, BATCH_KEYS);
      const opened = locked.flatMap((each) => resealKey(deps, each));
      await updateSealedPoolKeys(client, opened);
      return { last: locked.at(-1)?.id, count: locked.length, opened: opened.length };
    });
    if (page.last === undefined) return { rewritten, failed };
    after = page.last;
    rewritten += page.opened;
    failed += page.count - page.opened;
  }
}

function resealKey(deps: LicenseKeyDependencies, { id, keySealed }: SealedPoolKey) {
  const label = poolKeyLabel(id);
  try {
    return [{ id, ...sealKey(deps, label, deps.vault.open(keySealed, label)) }];
  } catch {
    // Counted as failed, so that the other rows are rewritten.
    return [];
  }
}
