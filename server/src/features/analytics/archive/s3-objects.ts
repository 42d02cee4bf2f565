import { ArchiveError, DayError } from './archive-error.ts';
import type { EventFile } from './read-file.ts';
import type { S3Client } from './s3-client.ts';

/** An object that may exist. */
export interface ObjectPlace {
  readonly client: S3Client;
  /** Bucket and key. */
  readonly path: string;
}

interface FoundObject {
  readonly size: number;
  /** Its ETag; where the storage has none, its size and time. */
  readonly version: string;
}

/** Returns an object's size and version, or null. @throws ArchiveError */
export async function findObject({ client, path }: ObjectPlace): Promise<FoundObject | null> {
  const head = await client.send({ method: 'HEAD', path }, [404]);
  if (head.status === 404) return null;
  const size = Number(head.headers.get('content-length'));
  const version =
    head.headers.get('etag') ?? `${size} bytes of ${head.headers.get('last-modified')}`;
  return { size, version };
}

/** Returns the headers with which a request only succeeds for this version of an object (RFC 9110, section 13.1.1). */
export function onlyFor(version: string): Readonly<Record<string, string>> {
  return version.startsWith('"') ? { 'if-match': version } : {};
}

/** Opens an object for reading; null: there is none. A read fails when the object was replaced since. */
export async function openObject(place: ObjectPlace): Promise<EventFile | null> {
  const found = await findObject(place);
  if (found === null) return null;
  const { client, path } = place;
  const { size, version } = found;
  return {
    name: `s3://${path}`,
    version,
    byteLength: size,
    async slice(start, end = size) {
      if (end <= start) return new ArrayBuffer(0);
      const headers = { range: `bytes=${start}-${end - 1}`, ...onlyFor(version) };
      const response = await client.send({ method: 'GET', path, headers }, [412]);
      if (response.status === 412) {
        throw new DayError(`s3://${path} was replaced while it was read: run the command again.`);
      }
      const bytes = await response.arrayBuffer();
      if (bytes.byteLength === end - start) return bytes;
      throw new ArchiveError(
        `s3://${path} returned ${bytes.byteLength} bytes instead of ${end - start}.`,
      );
    },
    close: async () => undefined,
  };
}
