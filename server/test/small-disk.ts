import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Returns why no filesystem can be mounted here; false if one can. */
export function findMountObstacle(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root on Linux';
  const attempt = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']);
  return attempt.status === 0 ? false : 'needs the right to mount';
}

/** A filesystem in memory that can be filled. */
export class SmallDisk implements AsyncDisposable {
  readonly directory: string;
  readonly #filler: string;

  private constructor(directory: string) {
    this.directory = directory;
    this.#filler = join(directory, 'filler');
  }

  static async mount(megabytes: number): Promise<SmallDisk> {
    const directory = await mkdtemp(join(tmpdir(), 'latchkey-disk-'));
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'tmpfs', directory]);
    return new SmallDisk(directory);
  }

  /** Leaves so many bytes free. */
  async fill(free: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.directory);
    await run('fallocate', ['--length', String(bavail * bsize - free), this.#filler]);
  }

  async empty(): Promise<void> {
    await rm(this.#filler);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run('umount', [this.directory]);
    await rm(this.directory, { recursive: true });
  }
}
