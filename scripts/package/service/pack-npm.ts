import { join } from 'node:path';

import { compressArchive } from '../compress.ts';
import type { ReleaseFile } from '../../release/release-file.ts';
import { collectService } from './service-files.ts';

/**
 * Packs the service as npm packs a package. The same sources produce the same bytes.
 * @param root the repository
 * @param version the version of the release
 */
export async function packService(root: string, version: string): Promise<ReleaseFile> {
  const { entries } = await collectService(root, version);
  const packed = entries.map((entry) => ({ ...entry, path: `package/${entry.path}` }));
  const content = await compressArchive(packed, join(root, 'node_modules/.cache/latchkey-package'));
  return { name: `latchkey-${version}.tgz`, content };
}
