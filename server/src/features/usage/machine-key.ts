import type { Context } from '#server/context.ts';
import { defineCommand, execute } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import type { KeyedHashes } from '#server/lib/vault.ts';

/**
 * What the days of a machine's use are stored under: 128 bits of the keyed hash of the id that the client gives itself, in
 * the form of a UUID.
 */
export function toMachineKey(vault: Pick<KeyedHashes, 'hashText'>, machineId: string): string {
  const digits = vault.hashText('usage', machineId);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20, 32),
  ].join('-');
}

const moveDays = defineCommand(
  'usage_day_move',
  `with pair as (select * from unnest($1::uuid[], $2::uuid[]) as pair (old, fresh)),
   moved as (
     delete from usage_days d using pair where d.machine_key = pair.old returning pair.fresh, d.*
   )
   insert into usage_days as known (machine_key, day, first_at, last_at, beats, app_version, os_version)
   select fresh, day, first_at, last_at, beats, app_version, os_version from moved order by fresh, day
   on conflict (machine_key, day) do update
   set first_at = least(known.first_at, excluded.first_at), last_at = greatest(known.last_at, excluded.last_at),
       beats = known.beats + excluded.beats,
       app_version = coalesce(known.app_version, excluded.app_version),
       os_version = coalesce(known.os_version, excluded.os_version)`,
);

const moveFirstDays = defineCommand(
  'usage_first_day_move',
  `with pair as (select * from unnest($1::uuid[], $2::uuid[]) as pair (old, fresh)),
   moved as (
     delete from usage_first_days d using pair where d.machine_key = pair.old returning pair.fresh, d.first_day
   )
   insert into usage_first_days as known (machine_key, first_day)
   select fresh, first_day from moved order by fresh
   on conflict (machine_key) do update set first_day = least(known.first_day, excluded.first_day)`,
);

/**
 * Stores the use of machines under the current master secret where it is stored under a previous one. Does nothing while
 * no previous secret is configured.
 * @param machineIds as clients send them
 * @returns machines and days of use that were rewritten
 */
export async function rewriteUsage(
  { pool, vault }: Pick<Context, 'pool' | 'vault'>,
  machineIds: readonly string[],
): Promise<number> {
  if (vault.previous.length === 0 || machineIds.length === 0) return 0;
  const ids = [...new Set(machineIds)];
  const fresh = ids.map((id) => toMachineKey(vault, id));
  return inTransaction(pool, async (client) => {
    let rewritten = 0;
    for (const previous of vault.previous) {
      const outdated = ids.map((id) => toMachineKey(previous, id));
      rewritten += await execute(client, moveDays, [outdated, fresh]);
      rewritten += await execute(client, moveFirstDays, [outdated, fresh]);
    }
    return rewritten;
  });
}
