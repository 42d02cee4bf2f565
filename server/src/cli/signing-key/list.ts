import { Command } from 'commander';
import { findCurrentKey } from '#server/features/entitlements/current-key.ts';
import { openSigningKeys } from '#server/features/entitlements/open-signing-key.ts';
import { type SigningKeyRecord, listSigningKeys } from '#server/features/entitlements/queries.ts';
import { jsonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, formatTable, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

export function signingKeyListCommand(): Command {
  const command = new Command('list')
    .description('List the keys that entitlements are signed with.')
    .addOption(jsonOption())
    .action(list);
  return withExamples(command, [['signing-key list', 'Which key signs now, and which ones did']]);
}

async function list(options: OutputOptions): Promise<void> {
  await withContext(async (ctx) => {
    const now = ctx.clock.now();
    const records = await listSigningKeys(ctx.pool);
    const { opened } = openSigningKeys(ctx.vault, records);
    const authentic = opened.map(({ record }) => record);
    const signing = findCurrentKey(authentic, now);
    const keys = records.map((record) => toJson(record, authentic.includes(record), signing, now));
    printResult(options, keys, () =>
      formatTable(
        ['key', 'state', 'signs from', 'created'],
        keys.map((key) => [key.kid, key.state, key.active_from, key.created_at]),
      ),
    );
  });
}

/**
 * @param isAuthentic whether the master secret authenticates the row
 * @param signing the key that signs now
 */
function toJson(
  record: SigningKeyRecord,
  isAuthentic: boolean,
  signing: SigningKeyRecord | undefined,
  now: Date,
) {
  const { kid, activeFrom, createdAt, retiredAt } = record;
  const isRetired = retiredAt !== null && retiredAt <= now;
  const isRevoked = retiredAt !== null && retiredAt < createdAt;
  const other = isRevoked ? 'revoked' : isRetired ? 'retired' : 'published';
  const usable = kid === signing?.kid ? 'signing' : other;
  return {
    kid,
    state: isAuthentic ? usable : 'rejected',
    active_from: activeFrom,
    retired_at: retiredAt,
    created_at: createdAt,
  };
}
