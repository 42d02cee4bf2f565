import { createHmac } from 'node:crypto';
import { join } from 'node:path';

import { readText } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';

/** Fixed: another value would change the ids of all machines. */
const APPLICATION = 'latchkey-agent machine id v1';

/**
 * Reads an id of the installed system, the same after a restart. It is derived from /etc/machine-id, which must not leave the
 * machine (machine-id(5)), and from which other programs derive their own.
 * @returns 32 hexadecimal digits; null where the machine has no id
 */
export function readMachineId(roots: Roots): string | null {
  const id = readText(join(roots.etc, 'machine-id'));
  if (id === null || !/^[0-9a-f]{32}$/.test(id)) return null;
  return createHmac('sha256', Buffer.from(id, 'hex'))
    .update(APPLICATION)
    .digest('hex')
    .slice(0, 32);
}
