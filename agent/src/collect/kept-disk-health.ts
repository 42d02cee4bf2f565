import { statSync } from 'node:fs';
import { join } from 'node:path';

import { parseSmartctl, type SmartctlAnswer } from '../parse/smartctl.ts';
import { isMissing } from '../read/missing.ts';
import { readText } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';

/** About 40 kB is usual. */
const MAX_BYTES = 64 * 1024;

/** What a unit that runs as root has read of a disk. */
export interface KeptDiskHealth {
  readonly answer: SmartctlAnswer;
  readonly readAt: Date;
}

/**
 * Reads what `latchkey-agent-disks.service` wrote of a disk: the exit status of smartctl, and its output.
 * @param device such as `sda`
 * @returns null where there is no such file
 */
export function readKeptDiskHealth(roots: Roots, device: string): KeptDiskHealth | null {
  const path = join(roots.run, 'latchkey-agent-disks', `${device}.json`);
  try {
    const { size, mtime } = statSync(path);
    const text = size > MAX_BYTES ? null : readText(path);
    if (text === null) return null;
    const end = text.indexOf('\n');
    const status = /^\d{1,3}$/.exec(end < 0 ? text : text.slice(0, end))?.[0];
    const output = end < 0 ? '' : text.slice(end + 1);
    const answer = parseSmartctl(output, status === undefined ? null : Number(status));
    return { answer, readAt: mtime };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
