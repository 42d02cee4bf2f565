import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { embedSigner, signPackage } from '../package/sign-package.ts';
import { buildParts, type Release } from './parts.ts';
import type { ReleaseFile } from './release-file.ts';
import {
  PUBLIC_KEY_FILE,
  renderHeading,
  renderSum,
  requireReleaseKey,
  signSums,
} from './signature.ts';

const AGENT_ARCHIVE = /^latchkey-agent-linux-.*\.tar\.gz$/;
const AGENT_MANIFEST = /^(latchkey-agent-linux-.*\.tar\.gz)\.manifest$/;

interface Options {
  /** Where the files are written; it is replaced. */
  readonly folder: string;
  readonly parts: readonly string[];
  /** The path of the private key; null for a release without signatures. */
  readonly key: string | null;
  readonly report: (line: string) => void;
}

/**
 * Writes the files of a release, with their checksums, and signatures if there is a key.
 * @returns the text of `SHA256SUMS`
 */
export async function buildRelease(release: Release, options: Options): Promise<string> {
  const { folder, parts, key, report } = options;
  if (key !== null) await requireReleaseKey(release.root, key);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const sums: string[] = [];
  for await (const { name, content } of buildParts(parts, release)) {
    await writeFile(join(folder, name), content);
    sums.push(renderSum(name, content));
    report(`${name}: ${(content.length / 1_000_000).toFixed(1)} MB`);
    await completeAgent(folder, { name, content }, key);
  }
  if (parts.includes('agent')) sums.push(await writeInstallScript(release.root, folder));
  const text = `${renderHeading(release.version)}${sums.sort().join('')}`;
  await writeFile(join(folder, 'SHA256SUMS'), text);
  if (key === null) report('SHA256SUMS: not signed');
  else report(await signSums(join(folder, 'SHA256SUMS'), key));
  return text;
}

/** Writes what install.sh downloads beside an archive of the agent: its checksum, and the signature of its manifest. */
async function completeAgent(
  folder: string,
  { name, content }: ReleaseFile,
  key: string | null,
): Promise<void> {
  if (AGENT_ARCHIVE.test(name)) {
    await writeFile(join(folder, `${name}.sha256`), renderSum(name, content));
  }
  const [, archive] = AGENT_MANIFEST.exec(name) ?? [];
  if (archive !== undefined && key !== null) await signPackage(join(folder, archive), key);
}

/** The public key in the repository is the one that install.sh accepts. */
async function writeInstallScript(root: string, folder: string): Promise<string> {
  const script = join(root, 'agent', 'install.sh');
  const key = join(root, PUBLIC_KEY_FILE);
  const text = existsSync(key) ? await embedSigner(script, key) : await readFile(script, 'utf8');
  await writeFile(join(folder, 'install.sh'), text, { mode: 0o755 });
  return renderSum('install.sh', Buffer.from(text));
}
