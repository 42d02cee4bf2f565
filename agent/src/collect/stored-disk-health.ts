import { statSync } from 'node:fs';
import { join } from 'node:path';

import { MAX_SMARTCTL_BYTES, parseSmartctl, type SmartctlAnswer } from '../parse/smartctl.ts';
import { readWhole } from '../read/kernel-file.ts';
import { isMissing } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';

/** A reading of `latchkey-agent-disks.service`, which runs as root. */
interface StoredDiskHealth {
  readonly answer: SmartctlAnswer;
  readonly readAt: Date;
  /** When the unit last saw that the disk had no requests since the reading, or `readAt`. */
  readonly confirmedAt: Date;
}

/**
 * Reads the file of `latchkey-agent-disks.service` for a disk: the exit status of smartctl, and its output.
 * @param device such as `sda`
 * @returns null without such a file
 */
export function readStoredDiskHealth(roots: Roots, device: string): StoredDiskHealth | null {
  const directory = join(roots.run, 'latchkey-agent-disks');
  const path = join(directory, `${device}.json`);
  try {
    const { size, mtime } = statSync(path);
    const text = size > MAX_SMARTCTL_BYTES ? null : readWhole(path, String);
    if (text === null) return null;
    const end = text.indexOf('\n');
    const status = /^\d{1,3}$/.exec(end < 0 ? text : text.slice(0, end))?.[0];
    const output = end < 0 ? '' : text.slice(end + 1);
    const answer = parseSmartctl(output, status === undefined ? null : Number(status));
    const checked = statSync(join(directory, `${device}.stat`), { throwIfNoEntry: false });
    const confirmedAt = checked !== undefined && checked.mtime > mtime ? checked.mtime : mtime;
    return { answer, readAt: mtime, confirmedAt };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
