import type { Pool } from 'pg';

import { defineCommand, execute, type Queryable } from '#server/db/statement.ts';
import { toByteaArray } from '#server/db/hot-statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import type { KeyedHashes, Vault } from '#server/lib/vault.ts';

import { renameAuditSubjects } from '../audit/queries/renamed-subjects.ts';
import { hashAddress, hashAddressUnderAll, subscriberIdOf } from './address-hash.ts';
import { listSuppressed, MERGE_SUPPRESSIONS } from './queries/suppressions.ts';

/** Access to addresses that are stored under the current or a previous master secret. */
export interface AddressDependencies {
  readonly pool: Pool;
  readonly vault: Pick<Vault, 'hashText' | 'previous'>;
}

/**
 * Returns for each address, in order, whether it is suppressed under any master secret. One statement looks up all
 * hashes, so that a row that a rotation rewrites at the same time is found.
 */
export async function listSuppressedAddresses(
  db: Queryable,
  vault: AddressDependencies['vault'],
  emails: readonly string[],
): Promise<boolean[]> {
  const hashes = emails.map((email) => hashAddressUnderAll(vault, email));
  const suppressed = await listSuppressed(db, hashes.flat());
  return hashes.map((each) => each.some((hash) => suppressed.has(hash)));
}

/**
 * Rewrites the rows of addresses under previous master secrets to the current one, in a separate transaction.
 * Does nothing while no previous secret is configured.
 * @returns the number of rewritten subscribers and suppressions
 */
export async function rewriteAddresses(
  { pool, vault }: AddressDependencies,
  emails: readonly string[],
): Promise<number> {
  if (vault.previous.length === 0 || emails.length === 0) return 0;
  return inTransaction(pool, async (client) => {
    let rewritten = 0;
    for (const previous of vault.previous) {
      const pairs = emails.map((email) => toHashPair(previous, vault, email));
      rewritten += await rewriteHashes(client, pairs);
    }
    return rewritten;
  });
}

interface HashPair {
  readonly old: string;
  readonly current: string;
  readonly oldId: string;
  readonly currentId: string;
}

type TextHashes = Pick<KeyedHashes, 'hashText'>;

function toHashPair(previous: TextHashes, vault: TextHashes, email: string): HashPair {
  const old = hashAddress(previous, email);
  const current = hashAddress(vault, email);
  const [oldId, currentId] = [subscriberIdOf(previous, old), subscriberIdOf(vault, current)];
  return { old, current, oldId, currentId };
}

const rewriteSuppressions = defineCommand(
  'suppression_rewrite',
  `with pair as (select * from unnest($1::bytea[], $2::bytea[]) as pair (old, current)),
   rewritten as (
     delete from suppressions s using pair where s.address_hash = pair.old
     returning pair.current, s.reason, s.suppressed_at
   )
   insert into suppressions (address_hash, reason, suppressed_at)
   select current, reason, suppressed_at from rewritten order by current
   ${MERGE_SUPPRESSIONS}`,
);

/** Where both rows exist, the current one is newer: a process with the new secret stored it. */
const rewriteSubscribers = defineCommand(
  'subscriber_rewrite',
  `with pair as (select * from unnest($1::bytea[], $2::bytea[], $3::uuid[]) as pair (old, current, id)),
   rewritten as (
     delete from subscribers s using pair where s.address_hash = pair.old
     returning pair.current, pair.id as current_id, s.*
   )
   insert into subscribers as known (address_hash, id, email, language, first_subscribed_at, subscribed_at,
                                     confirmed_at, opt_in, confirmation_mailed_at, confirmation_problem)
   select current, current_id, email, language, first_subscribed_at, subscribed_at,
          confirmed_at, opt_in, confirmation_mailed_at, confirmation_problem
   from rewritten order by current
   on conflict (address_hash) do update
   set first_subscribed_at = least(known.first_subscribed_at, excluded.first_subscribed_at),
       subscribed_at = greatest(known.subscribed_at, excluded.subscribed_at),
       confirmed_at = coalesce(known.confirmed_at, excluded.confirmed_at),
       opt_in = coalesce(known.opt_in, excluded.opt_in)`,
);

const rewriteConfirmations = defineCommand(
  'subscriber_confirmation_rewrite',
  `update subscriber_confirmations c set address_hash = pair.current
   from unnest($1::bytea[], $2::bytea[]) as pair (old, current) where c.address_hash = pair.old`,
);

async function rewriteHashes(db: Queryable, pairs: readonly HashPair[]): Promise<number> {
  const unique = [...new Map(pairs.map((pair) => [pair.old, pair])).values()];
  const old = toByteaArray(unique.map((pair) => pair.old));
  const current = toByteaArray(unique.map((pair) => pair.current));
  const currentIds = unique.map(({ currentId }) => currentId);
  const suppressions = await execute(db, rewriteSuppressions, [old, current]);
  const subscribers = await execute(db, rewriteSubscribers, [old, current, currentIds]);
  // Also of addresses that have neither: the erasure of a customer is recorded under the same id.
  await renameAuditSubjects(
    db,
    unique.map(({ oldId, currentId }) => ({ previousId: oldId, currentId })),
  );
  if (suppressions + subscribers === 0) return 0;
  await execute(db, rewriteConfirmations, [old, current]);
  return suppressions + subscribers;
}
