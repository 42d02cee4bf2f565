import { stat } from 'node:fs/promises';

import type { BackupHeader } from './format.ts';
import { openBackup } from './read-backup.ts';

/** A backup that was read to its end. */
export interface VerifiedBackup {
  readonly header: BackupHeader;
  readonly tables: number;
  readonly rows: number;
  readonly bytes: number;
}

const LINE_BREAK = 0x0a;

/**
 * Reads a backup to its end.
 * @throws BackupError when it is not complete or was altered
 */
export async function verifyBackup(
  path: string,
  report: (status: string) => void,
): Promise<VerifiedBackup> {
  await using backup = await openBackup(path);
  let tables = 0;
  let rows = 0;
  for await (const { table, blocks } of backup.tables()) {
    tables += 1;
    for await (const block of blocks) {
      rows += countLines(block);
      report(`${table}: ${rows} rows`);
    }
  }
  return { header: backup.header, tables, rows, bytes: (await stat(path)).size };
}

function countLines(block: Buffer): number {
  let count = 0;
  for (let at = block.indexOf(LINE_BREAK); at !== -1; at = block.indexOf(LINE_BREAK, at + 1)) {
    count += 1;
  }
  return count;
}
