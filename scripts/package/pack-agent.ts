import { createHash } from 'node:crypto';
import { join } from 'node:path';

import { compressArchive } from './compress.ts';
import { gatherAgent } from './contents.ts';
import type { Architecture } from './locked-packages.ts';

const MAX_BYTES = 45_000_000;

/** The agent's package. */
export interface PackedAgent {
  readonly name: string;
  readonly archive: Buffer;
  /** The checksum in the format of `sha256sum`. */
  readonly sum: string;
  /** What a signature of the package states. */
  readonly manifest: string;
  /** Its content and size in a sentence. */
  readonly summary: string;
}

/**
 * Packs the agent for Linux. The same sources produce the same bytes.
 * @param root the repository
 * @param arch the target processor
 * @throws RangeError when the package has more than 45 MB
 */
export async function packAgent(root: string, arch: Architecture = 'x64'): Promise<PackedAgent> {
  const name = `latchkey-agent-linux-${arch}.tar.gz`;
  const { version, nodeVersion, entries } = await gatherAgent(root, arch);
  const cache = join(root, 'node_modules', '.cache', 'latchkey-package');
  const archive = await compressArchive(entries, cache);
  const size = `${(archive.length / 1_000_000).toFixed(1)} MB`;
  if (archive.length > MAX_BYTES)
    throw new RangeError(`The package has ${size}; the limit is 45 MB.`);
  const digest = createHash('sha256').update(archive).digest('hex');
  const summary = `${name}: ${size}, version ${version} with Node.js ${nodeVersion}`;
  const manifest = renderManifest({ version, arch, digest });
  return { name, archive, sum: `${digest}  ${name}\n`, manifest, summary };
}

/**
 * Renders the manifest of a package, which is signed instead of its bytes: a line with product, version, platform and SHA-256. A
 * signature of an older package, of one for another processor, or of another product is then none of this one.
 * @param digest the SHA-256 of the package, in hexadecimal
 */
export function renderManifest({
  version,
  arch,
  digest,
}: {
  readonly version: string;
  readonly arch: Architecture;
  readonly digest: string;
}): string {
  return `latchkey-agent ${version} linux-${arch} ${digest}\n`;
}
