import { join } from 'node:path';

import { listDirectory } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';

/** Directories of a block device that lies on another one: device mapper (LVM, LUKS), RAID, loop. */
const STACKED = ['dm', 'md', 'loop'];

/**
 * Distinguishes block devices that lie on others from those that do not. The kernel counts a request once for each device that it
 * passes: a container's write to LVM on LUKS on RAID is in `io.stat` four times.
 */
export class LeafDevices {
  readonly #directory: string;
  readonly #known = new Map<string, boolean>();

  constructor(roots: Roots) {
    this.#directory = join(roots.sys, 'dev/block');
  }

  /**
   * Whether a device lies on no other one. A device that is not in /sys counts as one that does not.
   * @param number major and minor, `253:0`
   */
  has(number: string): boolean {
    const known = this.#known.get(number);
    if (known !== undefined) return known;
    const isLeaf = this.#look(number);
    this.#known.set(number, isLeaf);
    return isLeaf;
  }

  /** Forgets what is known: a number may be given to another device. */
  forget(): void {
    this.#known.clear();
  }

  #look(number: string): boolean {
    if (!/^\d{1,5}:\d{1,7}$/.test(number)) return true;
    const directory = join(this.#directory, number);
    const names = new Set(listDirectory(directory));
    if (STACKED.some((name) => names.has(name))) return false;
    return listDirectory(join(directory, 'slaves')).length === 0;
  }
}
