import { statfsSync } from 'node:fs';

/** What statfs(2) says, in blocks of `frsize` bytes and in inodes. */
export interface Space {
  readonly frsize: number;
  readonly blocks: number;
  readonly bfree: number;
  readonly bavail: number;
  readonly files: number;
  readonly ffree: number;
}

/** Asks a filesystem for its space; null when it cannot say, whatever the reason. It waits as long as the filesystem does. */
export function askSpace(mountPoint: string): Space | null {
  try {
    return statfsSync(mountPoint);
  } catch {
    // One that is damaged must not cost the others.
    return null;
  }
}
