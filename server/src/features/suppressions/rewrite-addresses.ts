import type { Context } from '#server/context.ts';
import { defineCommand, execute, type Queryable } from '#server/db/statement.ts';
import { toByteaArray } from '#server/db/text-arrays.ts';
import { inTransaction } from '#server/db/transaction.ts';
import type { KeyedHashes } from '#server/lib/vault.ts';

import { subscriberIdOf, hashAddress } from './address-hash.ts';

/** The hashes of an address under the current master secret and the previous ones, the current one first. */
export function hashAddressUnderAll(vault: Context['vault'], email: string): string[] {
  return [vault, ...vault.previous].map((hashes) => hashAddress(hashes, email));
}

/**
 * Stores what is known of addresses under the current master secret where it is stored under a previous one. Does nothing
 * while no previous secret is configured. It has a transaction of its own, so that it can come before any other work.
 * @returns rows of subscribers and suppressions that were rewritten
 */
export async function rewriteAddresses(
  { pool, vault }: Pick<Context, 'pool' | 'vault'>,
  emails: readonly string[],
): Promise<number> {
  if (vault.previous.length === 0 || emails.length === 0) return 0;
  return inTransaction(pool, async (client) => {
    let rewritten = 0;
    for (const previous of vault.previous) {
      rewritten += await moveAddresses(
        client,
        emails.map((email) => pairOf(previous, vault, email)),
      );
    }
    return rewritten;
  });
}

interface HashPair {
  readonly from: string;
  readonly to: string;
  readonly fromId: string;
  readonly toId: string;
}

function pairOf(previous: KeyedHashes, current: KeyedHashes, email: string): HashPair {
  const from = hashAddress(previous, email);
  const to = hashAddress(current, email);
  return { from, to, fromId: subscriberIdOf(previous, from), toId: subscriberIdOf(current, to) };
}

const moveSuppressions = defineCommand(
  'suppression_move',
  `with pair as (select * from unnest($1::bytea[], $2::bytea[]) as pair (old, fresh)),
   moved as (
     delete from suppressions s using pair where s.address_hash = pair.old
     returning pair.fresh, s.reason, s.suppressed_at
   )
   insert into suppressions (address_hash, reason, suppressed_at)
   select fresh, reason, suppressed_at from moved order by fresh
   on conflict (address_hash) do update
   set suppressed_at = greatest(suppressions.suppressed_at, excluded.suppressed_at),
       reason = case when excluded.reason = 'unsubscribed' or suppressions.reason = 'erased'
                     then suppressions.reason else excluded.reason end`,
);

/** Where both are there, a process with other secrets stored the newer one. */
const moveSubscribers = defineCommand(
  'subscriber_move',
  `with pair as (select * from unnest($1::bytea[], $2::bytea[], $3::uuid[]) as pair (old, fresh, id)),
   moved as (
     delete from subscribers s using pair where s.address_hash = pair.old
     returning pair.fresh, pair.id as fresh_id, s.*
   )
   insert into subscribers as known (address_hash, id, email, language, first_subscribed_at, subscribed_at,
                                     confirmed_at, opt_in, confirmation_mailed_at, confirmation_problem)
   select fresh, fresh_id, email, language, first_subscribed_at, subscribed_at,
          confirmed_at, opt_in, confirmation_mailed_at, confirmation_problem
   from moved order by fresh
   on conflict (address_hash) do update
   set first_subscribed_at = least(known.first_subscribed_at, excluded.first_subscribed_at),
       subscribed_at = greatest(known.subscribed_at, excluded.subscribed_at),
       confirmed_at = coalesce(known.confirmed_at, excluded.confirmed_at),
       opt_in = coalesce(known.opt_in, excluded.opt_in)`,
);

const moveConfirmations = defineCommand(
  'subscriber_confirmation_move',
  `update subscriber_confirmations c set address_hash = pair.fresh
   from unnest($1::bytea[], $2::bytea[]) as pair (old, fresh) where c.address_hash = pair.old`,
);

/** What was done by hand is listed by the id, which is computed from the hash. */
const moveHistory = defineCommand(
  'audit_move_subject',
  `update audit_log a set subject_id = pair.fresh
   from unnest($1::text[], $2::text[]) as pair (old, fresh) where a.subject_id = pair.old`,
);

async function moveAddresses(db: Queryable, pairs: readonly HashPair[]): Promise<number> {
  const unique = [...new Map(pairs.map((pair) => [pair.from, pair])).values()];
  const from = toByteaArray(unique.map((pair) => pair.from));
  const to = toByteaArray(unique.map((pair) => pair.to));
  const ids = unique.map(({ toId }) => toId);
  const suppressed = await execute(db, moveSuppressions, [from, to]);
  const subscribed = await execute(db, moveSubscribers, [from, to, ids]);
  if (suppressed + subscribed === 0) return 0;
  await execute(db, moveConfirmations, [from, to]);
  await execute(db, moveHistory, [unique.map(({ fromId }) => fromId), ids]);
  return suppressed + subscribed;
}
