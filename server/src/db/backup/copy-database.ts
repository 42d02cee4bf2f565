import { once } from 'node:events';
import { PassThrough } from 'node:stream';

import type { Write } from './backup-file.ts';
import { readBackup } from './read-backup.ts';
import { restoreBackup, type Restored, type RestoreOptions } from './restore-backup.ts';
import { streamBackup, type BackupOptions } from './write-backup.ts';

const BUFFERED_BYTES = 1024 * 1024;

/**
 * Copies the rows of one moment to another, empty database: a backup that is restored while it is written, without a file.
 * The rows are read back and compared before the commit.
 * @throws BackupError with a sentence for the operator; the other database is empty then
 */
export async function copyDatabase(
  from: BackupOptions,
  to: Omit<RestoreOptions, 'readsBack' | 'report'>,
): Promise<Restored> {
  const { report } = from;
  const text = new PassThrough({ highWaterMark: BUFFERED_BYTES });
  // Both sides get the error of the stream.
  text.on('error', () => {});
  const failures: unknown[] = [];
  const stop = (error: unknown): void => {
    failures.push(error);
    text.destroy(error instanceof Error ? error : new Error(String(error)));
  };
  const writing = streamBackup((bytes) => writeTo(text, bytes), {
    ...from,
    report: () => {},
  }).then(() => void text.end(), stop);
  const restored = await restoreFrom(text, { ...to, report, readsBack: true }).catch(stop);
  await writing;
  if (restored === undefined) throw failures[0];
  return restored;
}

const writeTo = async (text: PassThrough, bytes: Parameters<Write>[0]): Promise<void> => {
  if (text.errored !== null) throw text.errored;
  if (!text.write(bytes)) await once(text, 'drain');
};

async function restoreFrom(text: PassThrough, options: RestoreOptions): Promise<Restored> {
  await using backup = await readBackup('The copy of the database', text, async () => {});
  return await restoreBackup(backup, options);
}
