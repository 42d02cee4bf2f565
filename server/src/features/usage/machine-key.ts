import type { Pool } from 'pg';

import { defineCommand, execute } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { formatUuid } from '#server/lib/text.ts';
import type { KeyedHashes, Vault } from '#server/lib/vault.ts';

import { renameAuditSubjects, type RenamedSubject } from '../audit/queries/renamed-subjects.ts';

/** Returns the key of a machine in the usage tables: 128 bits of the HMAC of its id, as a UUID. */
export function toMachineKey(hashes: Pick<KeyedHashes, 'hashText'>, machineId: string): string {
  return formatUuid(hashes.hashText('usage', machineId));
}

export interface UsageDependencies {
  readonly pool: Pool;
  readonly vault: Pick<Vault, 'hashText' | 'previous'>;
}

const rewriteDays = defineCommand(
  'usage_day_rewrite',
  `with pair as (select * from unnest($1::uuid[], $2::uuid[]) as pair (old, current)),
   rewritten as (
     delete from usage_days d using pair where d.machine_key = pair.old returning pair.current, d.*
   )
   insert into usage_days as known (machine_key, day, first_at, last_at, beats, app_version, os_version)
   select current, day, first_at, last_at, beats, app_version, os_version from rewritten order by current, day
   on conflict (machine_key, day) do update
   set first_at = least(known.first_at, excluded.first_at), last_at = greatest(known.last_at, excluded.last_at),
       beats = known.beats + excluded.beats,
       app_version = coalesce(known.app_version, excluded.app_version),
       os_version = coalesce(known.os_version, excluded.os_version)`,
);

const rewriteFirstDays = defineCommand(
  'usage_first_day_rewrite',
  `with pair as (select * from unnest($1::uuid[], $2::uuid[]) as pair (old, current)),
   rewritten as (
     delete from usage_first_days d using pair where d.machine_key = pair.old returning pair.current, d.first_day
   )
   insert into usage_first_days as known (machine_key, first_day)
   select current, first_day from rewritten order by current
   on conflict (machine_key) do update set first_day = least(known.first_day, excluded.first_day)`,
);

/**
 * Rewrites the usage of machines from previous master secrets to the current one. Does nothing while no previous secret is
 * configured.
 * @param machineIds as clients send them
 * @returns the number of rewritten rows
 */
export async function rewriteUsage(
  { pool, vault }: UsageDependencies,
  machineIds: readonly string[],
): Promise<number> {
  if (vault.previous.length === 0 || machineIds.length === 0) return 0;
  const ids = [...new Set(machineIds)];
  const current = ids.map((id) => toMachineKey(vault, id));
  return inTransaction(pool, async (client) => {
    let rewritten = 0;
    for (const previous of vault.previous) {
      const old = ids.map((id) => toMachineKey(previous, id));
      rewritten += await execute(client, rewriteDays, [old, current]);
      rewritten += await execute(client, rewriteFirstDays, [old, current]);
      await renameAuditSubjects(client, toRenamed(old, current));
    }
    return rewritten;
  });
}

function toRenamed(old: readonly string[], current: readonly string[]): RenamedSubject[] {
  return old.flatMap((previousId, index) => {
    const currentId = current[index];
    return currentId === undefined ? [] : [{ previousId, currentId }];
  });
}
