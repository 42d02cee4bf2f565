/** The list of servers watched by agents, for operators. */
import {
  addFleetServer,
  fleetServers,
  importFleetServers,
  removeFleetServer,
  updateFleetServer,
} from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';
import { DONE } from '#server/http/done.ts';
import { serveOperation } from '#server/http/serve-operation.ts';

import { serveCollection } from '../lists/serve-list.ts';
import { addServer, editServer, importServers, removeServer } from './change-servers.ts';
import { listServers, viewServer, type FleetDependencies } from './list-servers.ts';

export function registerFleetRoutes(app: App, deps: FleetDependencies): void {
  serveCollection(app, deps, fleetServers, async () => (await listServers(deps)).map(viewServer));
  serveOperation(app, addFleetServer, async ({ body, operator }) => {
    const { reason = null, ...entry } = body;
    return viewServer(await addServer(deps, entry, { actor: operator.actor, reason }));
  });
  serveOperation(app, importFleetServers, async ({ body, operator }) => {
    const { servers, reason = null } = body;
    const change = { actor: operator.actor, reason };
    const { added, changed, unchanged } = await importServers(deps, servers, change);
    return { added: added.length, changed: changed.length, unchanged };
  });
  serveOperation(app, updateFleetServer, async ({ params, body, operator }) => {
    const { expected_version: expectedVersion, reason = null, ...entry } = body;
    const change = { idOrAddress: params.id, actor: operator.actor, reason, expectedVersion };
    return viewServer(await editServer(deps, change, () => entry));
  });
  serveOperation(app, removeFleetServer, async ({ params, body, operator }) => {
    const { expected_version: expectedVersion, reason = null } = body;
    const change = { idOrAddress: params.id, actor: operator.actor, reason, expectedVersion };
    await removeServer(deps, change);
    return DONE;
  });
}
