import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { writeFile } from '../../system/write-file.ts';

/** Copies of files from before they were changed, each under the SHA-256 of its bytes. */
export interface Backups {
  /** @returns the copy's name, once it is on the disk */
  keep(bytes: Uint8Array): string;
  /** @throws Error when the copy is no longer what was kept */
  read(name: string): Uint8Array;
  /** Removes the copies that nobody needs any more. */
  prune(needed: ReadonlySet<string>): void;
}

export function openBackups(directory: string, ownerId: number): Backups {
  const owner = { mode: 0o600, uid: ownerId, gid: ownerId };
  return {
    keep(bytes) {
      const name = hash(bytes);
      const path = join(directory, name);
      if (existsSync(path)) return name;
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      writeFile(path, bytes, owner);
      return name;
    },
    read(name) {
      const bytes = readFileSync(join(directory, name));
      if (hash(bytes) !== name) throw new Error(`The copy ${join(directory, name)} is damaged.`);
      return bytes;
    },
    prune(needed) {
      if (!existsSync(directory)) return;
      for (const name of readdirSync(directory)) {
        if (!needed.has(name)) rmSync(join(directory, name));
      }
    },
  };
}

function hash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
