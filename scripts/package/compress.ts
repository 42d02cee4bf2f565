import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { constants, gzip as gzipCallback } from 'node:zlib';

import { TAR_END, type TarEntry, tarHeader, tarPadding } from '../../agent/src/system/tar.ts';

const gzip = promisify(gzipCallback);

const OPTIONS = { level: constants.Z_BEST_COMPRESSION, memLevel: constants.Z_MAX_MEMLEVEL };

/** Constant, so that the same sources produce the same archive. */
export const MODIFIED_AT = new Date('2026-01-01T00:00:00Z');

/** Parts of this size are compressed at the same time, which costs less than a thousandth of the size. */
const PART_BYTES = 32 * 1024 * 1024;

/** Files from this size on are programs and libraries, which change rarely. */
const CACHED_BYTES = 1024 * 1024;

/**
 * Creates a .tar.gz. A large file becomes one gzip member or several (programs read them as one stream), and is cached
 * compressed: it changes rarely, and Node.js alone takes ten seconds.
 * @param entries in the order of the archive
 * @param cache a folder, created if it is missing
 */
export async function compressArchive(
  entries: readonly TarEntry[],
  cache: string,
): Promise<Buffer> {
  const members: Buffer[] = [];
  let small: Buffer[] = [];
  for (const entry of entries) {
    small.push(tarHeader(entry, MODIFIED_AT));
    if (entry.content.length < CACHED_BYTES) small.push(entry.content);
    else {
      members.push(await gzip(Buffer.concat(small), OPTIONS));
      members.push(await compressOnce(entry.content, cache));
      small = [];
    }
    small.push(tarPadding(entry));
  }
  members.push(await gzip(Buffer.concat([...small, TAR_END]), OPTIONS));
  return Buffer.concat(members);
}

async function compressOnce(content: Buffer, cache: string): Promise<Buffer> {
  const key = createHash('sha256').update(content).update(process.versions.zlib).digest('hex');
  const path = join(cache, `${key}.gz`);
  const cached = await readFile(path).catch(() => null);
  if (cached !== null) return cached;
  const compressed = await compressParts(content);
  await mkdir(dirname(path), { recursive: true });
  // Renamed when complete, so that the final name never has a partial file.
  await writeFile(`${path}.${process.pid}`, compressed);
  await rename(`${path}.${process.pid}`, path);
  return compressed;
}

async function compressParts(content: Buffer): Promise<Buffer> {
  const count = Math.ceil(content.length / PART_BYTES);
  const parts = Array.from({ length: count }, (_, index) =>
    gzip(content.subarray(index * PART_BYTES, (index + 1) * PART_BYTES), OPTIONS),
  );
  return Buffer.concat(await Promise.all(parts));
}
