import { createHash } from 'node:crypto';
import { createReadStream, openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { parseDay, type Day } from '../rules/days.ts';
import { ArchiveError } from './archive-error.ts';
import { explainWrite } from './directory-archive.ts';
import { pathOf, type EventArchive } from './event-archive.ts';
import type { EventFile } from './read-file.ts';
import { readS3Access, S3Client } from './s3-client.ts';

/** s3://bucket/prefix; the prefix is optional. */
const LOCATION =
  /^s3:\/\/(?<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(?<prefix>[^?#]*?))?\/*$/u;

/**
 * Opens an archive in an object storage.
 * @throws ArchiveError for an invalid URL, and without credentials
 */
export function openS3Archive(url: string, env: NodeJS.ProcessEnv): EventArchive {
  const { bucket, prefix = '' } = LOCATION.exec(url)?.groups ?? {};
  if (bucket === undefined) {
    throw new ArchiveError(`${url} is not a location such as s3://bucket/prefix.`);
  }
  const client = new S3Client(readS3Access(env));
  const root = prefix === '' ? '' : `${prefix}/`;
  const place = { client, bucket, root };
  const location = prefix === '' ? `s3://${bucket}` : `s3://${bucket}/${prefix}`;
  return {
    location,
    nameOf: (day) => `${location}/${pathOf(day)}`,
    listDays: () => listDays(place),
    open: (day) => openObject(place, day),
    store: (day, write, verify) => storeObject(place, day, { write, verify }),
  };
}

interface Place {
  readonly client: S3Client;
  readonly bucket: string;
  /** Empty, or a prefix that ends with a slash. */
  readonly root: string;
}

const objectPath = ({ bucket, root }: Place, day: Day): string => `${bucket}/${root}${pathOf(day)}`;

async function listDays(place: Place): Promise<readonly Day[]> {
  const { bucket, client, root } = place;
  const days: Day[] = [];
  for (let after = `${root}events/day=`; ;) {
    const query = { 'list-type': '2', prefix: `${root}events/day=`, 'start-after': after };
    const response = await client.send({ method: 'GET', path: bucket, query });
    const page = await response.text();
    const keys = Array.from(page.matchAll(/<Key>([^<]+)<\/Key>/gu), ([, key]) => key ?? '');
    days.push(...keys.flatMap((key) => dayOfKey(key) ?? []));
    const last = keys.at(-1);
    if (last === undefined || !page.includes('<IsTruncated>true</IsTruncated>')) break;
    after = last;
  }
  return days.toSorted();
}

function dayOfKey(key: string): Day | null {
  const { day = '' } = /\/day=(?<day>[^/]+)\/events\.parquet$/u.exec(`/${key}`)?.groups ?? {};
  return parseDay(day);
}

async function openObject(place: Place, day: Day): Promise<EventFile | null> {
  const { client } = place;
  const path = objectPath(place, day);
  const head = await client.send({ method: 'HEAD', path }, [404]);
  if (head.status === 404) return null;
  const size = Number(head.headers.get('content-length'));
  return {
    name: `s3://${path}`,
    byteLength: size,
    async slice(start, end = size) {
      if (end <= start) return new ArrayBuffer(0);
      const range = `bytes=${start}-${end - 1}`;
      const response = await client.send({ method: 'GET', path, headers: { range } });
      const bytes = await response.arrayBuffer();
      if (bytes.byteLength === end - start) return bytes;
      throw new ArchiveError(
        `s3://${path} returned ${bytes.byteLength} bytes instead of ${end - start}.`,
      );
    },
    close: async () => undefined,
  };
}

interface Steps {
  readonly write: (path: string) => Promise<void>;
  readonly verify: (file: EventFile) => Promise<void>;
}

/**
 * Writes a file in the temporary directory, uploads it in one request, which stores all of it or nothing, and verifies what
 * the storage returns.
 */
async function storeObject(place: Place, day: Day, { write, verify }: Steps): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-archive-'));
  const file = join(directory, 'events.parquet');
  try {
    await write(file);
    await upload(place, day, file);
  } catch (error) {
    throw explainWrite(error, file);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  const stored = await openObject(place, day);
  if (stored === null) throw new ArchiveError(`s3://${objectPath(place, day)} was not stored.`);
  await verify(stored);
}

/** The largest object of one request. */
const MAX_BYTES = 5 * 1024 ** 3;

async function upload(place: Place, day: Day, file: string): Promise<void> {
  const path = objectPath(place, day);
  const body = await openAsBlob(file);
  if (body.size > MAX_BYTES) {
    throw new ArchiveError(
      `The file of ${day} has more than 5 GiB: archive to a directory, and upload it in parts.`,
    );
  }
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const digest = hash.digest();
  await place.client.send({
    method: 'PUT',
    path,
    body,
    bodyHash: digest.toString('hex'),
    // The storage compares it with what it received, and keeps it.
    headers: { 'x-amz-checksum-sha256': digest.toString('base64') },
  });
}
