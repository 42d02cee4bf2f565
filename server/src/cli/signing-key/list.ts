import { Command } from 'commander';
import { findCurrentKey } from '#server/features/entitlements/current-key.ts';
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
    const signing = findCurrentKey(records, now);
    const keys = records.map((record) => toJson(record, signing));
    printResult(options, keys, () =>
      formatTable(
        ['key', 'state', 'signs from', 'created'],
        keys.map((key) => [key.kid, key.state, key.active_from, key.created_at]),
      ),
    );
  });
}

/** @param signing the key that signs now; younger ones are to follow it */
function toJson(record: SigningKeyRecord, signing: SigningKeyRecord | undefined) {
  const isYounger = signing !== undefined && record.createdAt > signing.createdAt;
  const other = isYounger ? 'published' : 'retired';
  return {
    kid: record.kid,
    state: record.kid === signing?.kid ? 'signing' : other,
    active_from: record.activeFrom,
    created_at: record.createdAt,
  };
}
