/** The agent's package as an administrator unpacks it, and a newer one. */
import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { repository } from '../../../scripts/lib/steps.ts';
import type { Bind } from './machine.ts';

export interface Package {
  readonly version: string;
  /** Its command within a machine. */
  readonly command: string;
}

export interface Packages extends Disposable {
  readonly current: Package;
  readonly next: Package;
  /** In a directory that every machine mounts. */
  readonly binds: readonly Bind[];
}

const PLACE = '/opt/latchkey-packages';

/** Packs the sources of this repository. */
export async function unpackPackages(): Promise<Packages> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-packages-'));
  // The bundler loads slowly, which files whose tests are skipped need not wait for.
  const { gatherAgent } = await import('../../../scripts/package/contents.ts');
  const { version, entries } = await gatherAgent(repository);
  const next = nextVersion(version);
  for (const { path, content, mode } of entries) {
    const [current, upgraded] = [version, next].map((name) =>
      join(folder, path.replace(/^[^/]+/, name)),
    );
    if (current === undefined || upgraded === undefined) continue;
    for (const each of [current, upgraded]) mkdirSync(dirname(each), { recursive: true });
    writeFileSync(current, content, { mode });
    const changed = setVersion(content, version, next);
    if (changed === null) linkSync(current, upgraded);
    else writeFileSync(upgraded, changed);
  }
  const toPackage = (name: string): Package => {
    return { version: name, command: `${PLACE}/${name}/bin/latchkey-agent` };
  };
  return {
    current: toPackage(version),
    next: toPackage(next),
    binds: [{ from: folder, to: PLACE }],
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A greater version, which the installed one lets replace it. */
function nextVersion(version: string): string {
  const [major = '0'] = version.split('.');
  return `${Number(major) + 1}.0.0`;
}

/** Null for a file without the version. */
function setVersion(content: Buffer, version: string, next: string): Buffer | null {
  const declaration = `version=\`${version}\``;
  if (!content.includes(declaration)) return null;
  return Buffer.from(content.toString().replace(declaration, `version=\`${next}\``));
}
