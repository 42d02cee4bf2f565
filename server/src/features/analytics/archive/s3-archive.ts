import { parseDay, type Day } from '../rules/days.ts';
import { ArchiveError } from './archive-error.ts';
import { pathOf, type EventArchive } from './event-archive.ts';
import { readS3Access, S3Client } from './s3-client.ts';
import { findObject, openObject } from './s3-objects.ts';
import { storeObject } from './store-object.ts';
import { removeTemporaryFiles } from './temporary-files.ts';

/** s3://bucket/prefix; the prefix is optional. */
const LOCATION = /^s3:\/\/(?<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(?<path>[^?#]*))?$/u;

/**
 * Opens an archive in an object storage.
 * @throws ArchiveError for an invalid URL, and without credentials
 */
export function openS3Archive(url: string, env: NodeJS.ProcessEnv): EventArchive {
  const { bucket, path = '' } = LOCATION.exec(url)?.groups ?? {};
  if (bucket === undefined) {
    throw new ArchiveError(`${url} is not a location such as s3://bucket/prefix.`);
  }
  const client = new S3Client(readS3Access(env));
  const prefix = path.replace(/(?<!\/)\/+$/u, '');
  const root = prefix === '' ? '' : `${prefix}/`;
  const location = prefix === '' ? `s3://${bucket}` : `s3://${bucket}/${prefix}`;
  const objectOf = (day: Day) => ({ client, path: `${bucket}/${root}${pathOf(day)}` });
  return {
    location,
    nameOf: (day) => `${location}/${pathOf(day)}`,
    listDays: () => listDays(client, bucket, root),
    open: (day) => openObject(objectOf(day)),
    store: (day, steps) => storeObject(objectOf(day), steps),
    // The storage answers when an object is stored permanently.
    flush: async () => undefined,
    findVersion: async (day) => (await findObject(objectOf(day)))?.version ?? null,
    removeLeftovers: removeTemporaryFiles,
  };
}

/** @param root empty, or a prefix that ends with a slash */
async function listDays(client: S3Client, bucket: string, root: string): Promise<readonly Day[]> {
  const days: Day[] = [];
  for (let after = `${root}events/day=`; ;) {
    const query = { 'list-type': '2', prefix: `${root}events/day=`, 'start-after': after };
    const response = await client.send({ method: 'GET', path: bucket, query });
    const page = await response.text();
    const keys = Array.from(page.matchAll(/<Key>([^<]+)<\/Key>/gu), ([, key = '']) =>
      decodeXml(key),
    );
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

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

/** Decodes a text of XML: the predefined entities and character references (XML 1.0, section 4.6). */
function decodeXml(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/giu, (all, hex, decimal, name) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return ENTITIES[name] ?? all;
  });
}
