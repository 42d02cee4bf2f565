import { openDirectoryArchive } from './directory-archive.ts';
import type { EventArchive } from './event-archive.ts';
import { openS3Archive } from './s3-archive.ts';

/**
 * Opens the archive in a directory or, for s3://bucket/prefix, in an object storage.
 * @param env the variables AWS_… of the object storage
 * @throws ArchiveError for an archive that cannot be opened
 */
export async function openArchive(location: string, env: NodeJS.ProcessEnv): Promise<EventArchive> {
  return location.startsWith('s3://')
    ? openS3Archive(location, env)
    : openDirectoryArchive(location);
}
