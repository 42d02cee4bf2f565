/** `latchkey backup`: the whole database in one file. */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { systemClock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import { readConfiguration } from '#server/config/load.ts';
import {
  foreignMasterSecret,
  masterSecretPath,
  previousSecretsPath,
} from '#server/config/master-secret.ts';
import { listSecretIds } from '#server/config/secrets.ts';
import { nameBackup } from '#server/db/backup/backup-name.ts';
import { removeOldBackups, type Rotation } from '#server/db/backup/remove-old-backups.ts';
import type { VerifiedBackup } from '#server/db/backup/verify-backup.ts';
import { requireTables, writeBackup } from '#server/db/backup/write-backup.ts';
import { BACKUP_VERIFIED } from '#server/features/health/watch-installation.ts';
import { listSealingSecretIds } from '#server/features/master-secret/queries.ts';
import { version } from '#server/lib/version.ts';

import { auditAccess } from './actor.ts';
import { command } from './command.ts';
import { usageError } from './command-error.ts';
import { reasonOption, wholeNumber } from './options.ts';
import { withStatus } from './output.ts';
import { anyText, argument, option } from './parameters.ts';
import { formatBytes, formatCount } from './quantity.ts';
import { withDatabase } from './with-context.ts';

const MAX_KEPT = 10_000;

export const backupCommand = command({
  name: 'backup',
  description:
    'Write a backup of the database to a new file and verify it. The service may run; the rows are those of one moment. The file contains personal data, and does not contain the master secret. The audit log records each backup.',
  examples: {
    'backup /var/backups/latchkey/2026-11-28.zst': 'Write and verify a backup',
    'backup /var/backups/latchkey --keep 14':
      'From a timer: write latchkey-<time>.zst into the directory, and keep the newest 14 of them',
    'backup latchkey.zst --reason "before the upgrade" --json':
      'For a program: the number of tables, rows and bytes',
  },
  parameters: [
    argument(
      '<path>',
      'new file, or a directory, in which the file is named after the time in UTC; it is compressed with Zstandard',
      anyText,
    ),
    option(
      '--keep <n>',
      'remove all but the newest n backups of this installation from the directory, after the new one is verified; files with another name are kept',
      wholeNumber(1, MAX_KEPT),
    ),
    reasonOption,
  ],
  async run({ path, keep, reason }) {
    const now = systemClock.now();
    const isInDirectory = await isDirectory(path);
    if (keep !== null && !isInDirectory) {
      throw usageError(`--keep needs an existing directory, and ${path} is not one.`);
    }
    const file = isInDirectory ? join(path, nameBackup(now)) : path;
    const { written, secrets } = await write(file, reason, now);
    const options = { secretIds: secrets.ids, now };
    const rotation = keep === null ? null : await removeOldBackups(file, { ...options, keep });
    return {
      json: { ...toJson(file, written, secrets), ...rotation },
      text: `Wrote ${file}: ${formatContent(written)}; read back and verified.${formatRemoved(rotation)}`,
      note: [secrets.advice, ...formatKept(rotation)].join('\n'),
      failed: rotation !== null && rotation.failures.length > 0,
    };
  },
});

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Nothing has this name, or writing the file fails with the same cause and reports it.
    return false;
  }
}

async function write(file: string, reason: string | null, now: Date) {
  return withDatabase(({ config, secrets: known, pool }) =>
    withStatus(async (report) => {
      const secretIds = listSecretIds(known);
      await requireTables(pool);
      await requireOwnSecret(await listSealingSecretIds(pool), secretIds);
      const access = { action: 'database.backup', subjectId: 'database', reason };
      await auditAccess({ pool, clock: systemClock }, access);
      const options = { pool, secretIds, version, now, report };
      const written = await writeBackup(file, options);
      await auditAccess({ pool, clock: systemClock }, { ...access, action: BACKUP_VERIFIED });
      return { written, secrets: describeSecrets(config, secretIds) };
    }),
  );
}

function formatRemoved(rotation: Rotation | null): string {
  const count = rotation?.removed.length ?? 0;
  return count === 0 ? '' : ` Removed ${formatCount(count, 'older backup')}.`;
}

/** Names the files that were not removed, and why. */
function formatKept(rotation: Rotation | null): string[] {
  const { unrecognized = [], failures = [] } = rotation ?? {};
  return [
    ...unrecognized.map(
      (name) => `${name} is kept: it is no readable backup of this installation.`,
    ),
    ...failures.map(({ name, cause }) => `${name} could not be removed (${cause}).`),
  ];
}

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
