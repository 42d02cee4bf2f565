/** The systemd units of the service. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Their files in `deploy/`, for a clone in /opt/latchkey. */
export const UNITS = [
  'latchkey.service',
  'latchkey-backup.service',
  'latchkey-backup.timer',
] as const;

/** With the settings that the starter reads. */
const WAIT_READY =
  '/usr/lib/latchkey/bin/node --env-file=/usr/lib/latchkey/package.env --env-file-if-exists=/etc/latchkey/latchkey.env /usr/lib/latchkey/wait-ready.mjs';

const DOCUMENTATION = 'man:latchkey(1) file:///usr/share/doc/latchkey/settings.env';

/**
 * Returns a unit with the paths and the starter of the Debian package.
 * @param root the repository
 */
export async function renderUnit(root: string, name: (typeof UNITS)[number]): Promise<string> {
  const text = await readFile(join(root, 'deploy', name), 'utf8');
  return text
    .replace(/^(?:#.*\n)+(?=\[Unit\])/, '')
    .replace(/^Documentation=.*$/m, `Documentation=${DOCUMENTATION}`)
    .replace(/^(?:Environment|EnvironmentFile)=.*\n/gm, '')
    .replace(/^#.*\n(?=ExecStart=)/m, '')
    .replace(/^ExecStart=.*\/main\.ts (.*)$/m, 'ExecStart=/usr/lib/latchkey/bin/latchkey $1')
    .replace(/^ExecStartPost=.*$/m, `ExecStartPost=${WAIT_READY}`);
}
