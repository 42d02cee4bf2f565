import { createReadStream } from 'node:fs';

import { UNKNOWN_LICENSE, type ForeignLicense, type ForeignRow } from '../facts.ts';
import { readFile, type FileSource, type OpenFile } from './read-file.ts';

/** Opens a file shaped as a system exports it. */
export function fixture(name: string): OpenFile {
  const url = new URL(`../../../../test/fixtures/imports/${name}`, import.meta.url);
  return () => createReadStream(url);
}

/** Opens a text in chunks of some bytes. */
export function inChunks(content: string | Buffer, chunkBytes = 65_536): OpenFile {
  const bytes = Buffer.from(content);
  return async function* read() {
    for (let start = 0; start < bytes.length; start += chunkBytes) {
      yield await Promise.resolve(bytes.subarray(start, start + chunkBytes));
    }
  };
}

export async function readAllRows(
  source: FileSource,
  file: OpenFile,
  options: {
    readonly related?: readonly OpenFile[];
    readonly columns?: readonly (readonly [string, string])[];
  } = {},
): Promise<ForeignRow[]> {
  const { related = [], columns = [] } = options;
  return Array.fromAsync(readFile({ source, file, related, columns }));
}

/** Returns what a row says beyond {@link UNKNOWN_LICENSE}. */
export function factsOf(row: ForeignRow | undefined): Partial<ForeignLicense> | string {
  if (row === undefined) return 'no row';
  if ('problem' in row) return row.problem;
  if ('skipped' in row) return row.skipped;
  const unknown: Readonly<Record<string, unknown>> = { ...UNKNOWN_LICENSE };
  return Object.fromEntries(
    Object.entries(row.license).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(unknown[name]),
    ),
  );
}
