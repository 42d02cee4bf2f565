import { createHash } from 'node:crypto';
import { createReadStream, openAsBlob } from 'node:fs';
import { tmpdir } from 'node:os';
import { pipeline } from 'node:stream/promises';

import { ArchiveError, UnverifiedFileError } from './archive-error.ts';
import { explainWrite } from './directory-archive.ts';
import { changedByAnother, type StoreSteps } from './event-archive.ts';
import { findObject, onlyFor, openObject, type ObjectPlace } from './s3-objects.ts';
import { withTemporaryFile } from './temporary-files.ts';

/**
 * Writes a file in the temporary directory, uploads it in one request, which stores all of it or nothing, and verifies what
 * the storage returns.
 * @returns the version of the object
 */
export async function storeObject(
  place: ObjectPlace,
  { replaces, verify, write }: StoreSteps,
): Promise<string> {
  const isStored = await withTemporaryFile(async (file, path) => {
    await write(file);
    return upload(place, path, replaces);
  }).catch((error: unknown) => {
    throw explainWrite(error, tmpdir());
  });
  const name = `s3://${place.path}`;
  const stored = await openObject(place);
  if (stored === null) throw new ArchiveError(`${name} was not stored.`);
  try {
    await verify(stored);
  } catch (error) {
    throw !isStored && error instanceof UnverifiedFileError ? changedByAnother(name) : error;
  }
  return stored.version;
}

/** The largest object of one request. */
const MAX_BYTES = 5 * 1024 ** 3;

/**
 * Uploads a file, unless the object has another version than the one to replace.
 * @returns false for another version, which may be that of an upload whose response was lost
 */
async function upload(place: ObjectPlace, file: string, replaces: string | null): Promise<boolean> {
  const { client, path } = place;
  const body = await openAsBlob(file);
  if (body.size > MAX_BYTES) {
    throw new ArchiveError(
      `The file of s3://${path} has more than 5 GiB: archive to a directory, and upload it in parts.`,
    );
  }
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const digest = hash.digest();
  const put = (condition: Readonly<Record<string, string>>, expected: readonly number[]) =>
    client.send(
      {
        method: 'PUT',
        path,
        body,
        bodyHash: digest.toString('hex'),
        // The storage compares it with what it received, and keeps it.
        headers: { 'x-amz-checksum-sha256': digest.toString('base64'), ...condition },
      },
      expected,
    );
  if (((await findObject(place))?.version ?? null) !== replaces) return false;
  const condition = replaces === null ? { 'if-none-match': '*' } : onlyFor(replaces);
  const { status } = await put(condition, [412, 501]);
  // 501: the storage has no conditional writes.
  if (status === 501) await put({}, []);
  return status !== 412;
}
