import { join } from 'node:path';

import { listDirectory, readNumber, readText } from '../read/small-file.ts';

/** The shortest time between two questions to a disk that may spin down. */
const INTERVAL_MS = 60_000;

interface Drive {
  /** The counters of requests when the disk was last known to be asked by us alone; null until they were read. */
  baseline: string | null;
  askedAtMs: number;
  isSettling: boolean;
}

/**
 * Returns the directory of the rotating disk that belongs to a device; null where there is none.
 * @param device the directory of the SCSI device
 */
export function findRotatingDisk(device: string): string | null {
  const [name] = listDirectory(join(device, 'block'));
  if (name === undefined) return null;
  const disk = join(device, 'block', name);
  return readNumber(join(disk, 'queue/rotational')) === 1 ? disk : null;
}

/**
 * Decides when rotating disks may be asked for their temperature. Reading it may reset the timer by which a disk spins down
 * (kernel documentation, drivetemp), so a disk is asked at most once a minute, and only when others have used it since.
 */
export class DriveActivity {
  readonly #drives = new Map<string, Drive>();

  /**
   * Whether a disk may be asked now; the answer counts as asking.
   * @param disk its directory below /sys
   * @param atMs milliseconds of a clock that only goes forward
   */
  mayAsk(disk: string, atMs: number): boolean {
    const counters = readText(join(disk, 'stat'));
    const drive = this.#drives.get(disk);
    if (drive === undefined || drive.isSettling) {
      // Some kernels count our own question as a request.
      const askedAtMs = drive?.askedAtMs ?? Number.NEGATIVE_INFINITY;
      this.#drives.set(disk, { baseline: counters, askedAtMs, isSettling: false });
      return false;
    }
    const isUsed = counters !== null && counters !== drive.baseline;
    if (!isUsed || atMs - drive.askedAtMs < INTERVAL_MS) return false;
    this.#drives.set(disk, { baseline: counters, askedAtMs: atMs, isSettling: true });
    return true;
  }

  /** Forgets the disks that are not among these. */
  keep(disks: ReadonlySet<string>): void {
    for (const disk of this.#drives.keys()) if (!disks.has(disk)) this.#drives.delete(disk);
  }
}
