/** `latchkey backup`: the whole database in one file. */
import { existsSync } from 'node:fs';

import { systemClock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import { readConfiguration } from '#server/config/load.ts';
import {
  foreignMasterSecret,
  masterSecretPath,
  previousSecretsPath,
} from '#server/config/master-secret.ts';
import { listSecretIds } from '#server/config/secrets.ts';
import type { VerifiedBackup } from '#server/db/backup/verify-backup.ts';
import { requireTables, writeBackup } from '#server/db/backup/write-backup.ts';
import { BACKUP_VERIFIED } from '#server/features/health/watch-installation.ts';
import { listSealingSecretIds } from '#server/features/master-secret/queries.ts';
import { version } from '#server/lib/version.ts';

import { auditAccess } from './actor.ts';
import { command } from './command.ts';
import { reasonOption } from './options.ts';
import { withStatus } from './output.ts';
import { anyText, argument } from './parameters.ts';
import { formatBytes, formatCount } from './quantity.ts';
import { withDatabase } from './with-context.ts';

export const backupCommand = command({
  name: 'backup',
  description:
    'Write a backup of the database to a new file and verify it. The service may run; the rows are those of one moment. The file contains personal data, and does not contain the master secret. The audit log records each backup.',
  examples: {
    'backup /var/backups/latchkey/2026-11-28.zst': 'Write and verify a backup',
    'backup latchkey.zst --reason "before the upgrade" --json':
      'For a program: the number of tables, rows and bytes',
  },
  parameters: [
    argument('<file>', 'path of a new file; it is compressed with Zstandard', anyText),
    reasonOption,
  ],
  async run({ file, reason }) {
    const { written, secrets } = await withDatabase(({ config, secrets: known, pool }) =>
      withStatus(async (report) => {
        const secretIds = listSecretIds(known);
        await requireTables(pool);
        await requireOwnSecret(await listSealingSecretIds(pool), secretIds);
        const access = { action: 'database.backup', subjectId: 'database', reason };
        await auditAccess({ pool, clock: systemClock }, access);
        const now = systemClock.now();
        const options = { pool, secretIds, version, now, report };
        const verified = await writeBackup(file, options);
        await auditAccess({ pool, clock: systemClock }, { ...access, action: BACKUP_VERIFIED });
        return {
          written: verified,
          secrets: describeSecrets(config, secretIds),
        };
      }),
    );
    return {
      json: toJson(file, written, secrets),
      text: `Wrote ${file}: ${formatContent(written)}; read back and verified.`,
      note: secrets.advice,
    };
  },
});

/** A backup that names another master secret than the one of its rows would be restored under the wrong one. */
async function requireOwnSecret(
  sealedUnder: readonly string[],
  known: readonly string[],
): Promise<void> {
  const foreign = sealedUnder.find((id) => !known.includes(id));
  if (foreign === undefined) return;
  throw foreignMasterSecret(new Error(`a signing key is sealed under the secret ${foreign}`));
}

interface SecretsOfBackup {
  readonly ids: readonly string[];
  /** The setting, or the files, that hold the secrets. */
  readonly places: readonly string[];
  readonly advice: string;
}

function describeSecrets({ dataDirectory }: Config, ids: readonly string[]): SecretsOfBackup {
  const places = findSecrets(dataDirectory);
  const advice = `The master secret is not in this file. Keep a copy of ${places.join(' and ')} in another place: without it (id ${ids.join(', ')}), the license keys in the backup cannot be read.`;
  return { ids, places, advice };
}

function findSecrets(dataDirectory: string): readonly string[] {
  if (readConfiguration().environment.masterSecret !== undefined) {
    return ['the setting LATCHKEY_SECRET'];
  }
  return [masterSecretPath(dataDirectory), previousSecretsPath(dataDirectory)].filter((path) =>
    existsSync(path),
  );
}

/** Describes the content of a backup in a few words. */
export function formatContent({ tables, rows, bytes }: VerifiedBackup): string {
  return `${formatCount(tables, 'table')}, ${formatCount(rows, 'row')}, ${formatBytes(bytes)}`;
}

function toJson(file: string, written: VerifiedBackup, secrets: SecretsOfBackup) {
  const { header, tables, rows, bytes } = written;
  return {
    file,
    created_at: header.created_at,
    tables,
    rows,
    bytes,
    secret_ids: secrets.ids,
    secret_places: secrets.places,
  };
}
