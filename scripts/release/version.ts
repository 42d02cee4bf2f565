import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { ReleaseError } from './release-error.ts';

/** The pattern of a version. */
export const VERSION = '^\\d+\\.\\d+\\.\\d+(?:-[\\w.]+)?$';

const Manifest = Type.Object({
  version: Type.String({ pattern: VERSION }),
  workspaces: Type.Optional(Type.Array(Type.String())),
});

/**
 * Returns the version of the release, which is that of package.json.
 * @param root the repository
 * @throws ReleaseError when a workspace has another version
 */
export async function readVersion(root: string): Promise<string> {
  const { version, workspaces = [] } = await readManifest(root, '.');
  for (const folder of workspaces) {
    const other = (await readManifest(root, folder)).version;
    if (other !== version) {
      throw new ReleaseError(
        `${folder} has the version ${other}, and package.json ${version}: write one version into all with npm run release:version.`,
      );
    }
  }
  return version;
}

async function readManifest(root: string, folder: string) {
  return Parse(Manifest, JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')));
}
