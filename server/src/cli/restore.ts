/** `latchkey restore`: a backup into an empty database. */
import { existsSync } from 'node:fs';

import { systemClock } from '#server/clock.ts';
import { loadConfiguration, readConfiguration } from '#server/config/load.ts';
import { masterSecretPath } from '#server/config/master-secret.ts';
import { listSecretIds } from '#server/config/secrets.ts';
import { StartupError } from '#server/config/startup-error.ts';
import type { BackupHeader } from '#server/db/backup/format.ts';
import { openBackup } from '#server/db/backup/read-backup.ts';
import {
  requireKnownSchema,
  restoreBackup,
  type Restored,
} from '#server/db/backup/restore-backup.ts';
import { verifyBackup } from '#server/db/backup/verify-backup.ts';
import { listKnownMigrations } from '#server/db/migrate.ts';
import { readFreeSpace } from '#server/db/embedded/disk-space.ts';
import { insertAuditEntry } from '#server/features/audit/queries.ts';

import { currentActor } from './actor.ts';
import { formatContent } from './backup.ts';
import { command, type Result } from './command.ts';
import { failed } from './command-error.ts';
import { reasonOption } from './options.ts';
import { withStatus } from './output.ts';
import { anyText, argument, flag } from './parameters.ts';
import { formatCount } from './quantity.ts';
import { withDatabase } from './with-context.ts';

export const restoreCommand = command({
  name: 'restore',
  description:
    'Restore a backup into an empty database, in one transaction: all or nothing. Needs the master secret of the backup. The database may be another than that of the backup: an embedded one, or one of your own. Stop the service first. The audit log records it.',
  examples: {
    'restore latchkey-2026-11-28.zst --dry-run': 'Verify a backup and restore nothing',
    'restore latchkey-2026-11-28.zst':
      'Restore it into the empty database of DATABASE_URL, or into a new data directory',
  },
  parameters: [
    argument('<file>', 'path of a backup that latchkey backup has written', anyText),
    flag('--dry-run', 'read and verify the whole file, and restore nothing'),
    reasonOption,
  ],
  run: ({ file, dryRun, reason }) => (dryRun ? verify(file) : restore(file, reason)),
});

async function verify(file: string): Promise<Result> {
  const verified = await withStatus((report) => verifyBackup(file, report));
  requireKnownSchema(verified.header, await listKnownMigrations());
  const { header, tables, rows, bytes } = verified;
  return {
    json: { file, created_at: header.created_at, tables, rows, bytes, restored: false },
    text: `${file} is complete: ${formatContent(verified)}, of ${header.created_at}, under the master secret ${header.secret_ids[0]}. Nothing was restored.`,
  };
}

async function restore(file: string, reason: string | null): Promise<Result> {
  await using backup = await openBackup(file);
  const { header } = backup;
  requireKnownSchema(header, await listKnownMigrations());
  requireSecret(header);
  const details = { created_at: header.created_at, version: header.latchkey };
  const restored = await withDatabase(({ config, pool }) =>
    withStatus((report) =>
      restoreBackup(backup, {
        pool,
        report,
        readFreeMib: async () =>
          config.database.kind === 'embedded' ? readFreeSpace(config.dataDirectory) : Infinity,
        beforeCommit: (client) =>
          insertAuditEntry(client, {
            occurredAt: systemClock.now(),
            actor: currentActor(),
            action: 'database.restore',
            subjectId: 'database',
            reason,
            details,
          }),
      }),
    ),
  );
  return {
    json: { file, created_at: header.created_at, ...restored, restored: true },
    text: formatRestored(header, restored),
  };
}

/**
 * Checks that this installation has the master secret of a backup, and creates none.
 * @throws CommandError when it has none or another one
 */
function requireSecret({ secret_ids: ids }: BackupHeader): void {
  const { config, environment, problems } = readConfiguration();
  if (problems.length > 0) throw new StartupError(problems);
  const path = masterSecretPath(config.dataDirectory);
  const [wanted = ''] = ids;
  if (environment.masterSecret === undefined && !existsSync(path)) {
    throw failed(
      `The master secret of the backup (id ${wanted}) is missing: copy it to ${path} with mode 0600, or set LATCHKEY_SECRET, then repeat the command.`,
    );
  }
  const known = listSecretIds(loadConfiguration().secrets);
  if (known.includes(wanted)) return;
  throw failed(
    `The backup was written under the master secret ${wanted}, and this installation has ${known.join(', ')}: restore the right one first, since the license keys cannot be read without it.`,
  );
}

function formatRestored(header: BackupHeader, { tables, rows, migrations }: Restored): string {
  const content = `${formatCount(tables, 'table')}, ${formatCount(rows, 'row')}`;
  const upgraded = migrations.length === 0 ? '' : ` Migrated: ${migrations.join(', ')}.`;
  return `Restored the backup of ${header.created_at}: ${content}.${upgraded} Run latchkey doctor, then start the service.`;
}
