/** The vendor's servers on the fleet page. They do not exist, so the page reports that none can be reached. */
import { importServers } from '#server/features/fleet/change-servers.ts';

import { DAY_MS } from '../time.ts';
import { ADMIN } from './people.ts';
import type { Action, World } from './world.ts';

const SERVERS = [
  ['web-1', 'web-1.contour.example', ['web', 'berlin']],
  ['web-2', 'web-2.contour.example', ['web', 'lisbon']],
  ['db-1', 'db-1.contour.example/latchkey', ['database', 'berlin']],
  ['Build server', 'build.contour.example:4100', ['build', 'office']],
  ['Office NAS', '10.0.0.7', ['storage', 'office']],
] as const;

/** When the list was made. */
const LISTED_DAYS = 21;

/** The import of the list. */
export function listServerChanges({ context, nowMs }: World): Action[] {
  const servers = SERVERS.map(([name, address, labels]) => ({ name, address, labels }));
  const change = { actor: ADMIN.actor, reason: null };
  return [
    {
      atMs: nowMs - LISTED_DAYS * DAY_MS,
      run: () => importServers(context, servers, change),
    },
  ];
}
