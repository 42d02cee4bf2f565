/** The servers of the fleet page. `play-agents.ts` answers for them. */
import { randomUUID } from 'node:crypto';

import { insertServers } from '../../../server/src/features/fleet/queries.ts';
import type { TestService } from '../../../server/test/harness.ts';
import type { World } from './create-world.ts';

const SERVERS: readonly (readonly [name: string, ...labels: string[]])[] = [
  ['web-1', 'web', 'oslo'],
  ['web-2', 'web'],
  ['db-1', 'db', 'oslo'],
  ['nas', 'storage'],
  ['old'],
];

/** Lists two calm servers, one with problems, one that needs a token, and one that never answers. */
export async function seedFleet({ pool, clock }: TestService): Promise<World> {
  const servers = SERVERS.map(([name, ...labels]) => ({
    id: randomUUID(),
    name,
    address: `${name}.fleet.example`,
    labels,
    createdAt: clock.now(),
    version: 1,
  }));
  await insertServers(pool, servers);
  return {};
}
