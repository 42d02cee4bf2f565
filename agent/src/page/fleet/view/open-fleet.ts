import { createFleet } from '@latchkey/agent/fleet/core/create-fleet.ts';
import type { Fleet, FleetSocket, ListedMachine } from '@latchkey/agent/fleet/core/types.ts';
import { readTokens } from '@latchkey/agent/fleet/view/token-store.ts';

/** Connects the browser to the agents of a list, with the tokens that this browser keeps for them. */
export function openFleet(list: readonly ListedMachine[]): Fleet {
  return createFleet({
    list,
    tokens: readTokens(list),
    WebSocket: class extends WebSocket implements FleetSocket {},
    fetch: (url, init) => fetch(url, init),
    queryPrivateAccess,
    now: () => Date.now(),
    schedule: (run, delayMs) => {
      const timer = setTimeout(run, delayMs);
      return () => clearTimeout(timer);
    },
    random: () => Math.random(),
  });
}

/** Not in the types of TypeScript yet (https://wicg.github.io/local-network-access/). */
const PRIVATE_ACCESS = 'local-network-access';

/** Returns whether this page may connect to private addresses; null where the browser has no such permission. */
async function queryPrivateAccess(): Promise<PermissionState | null> {
  try {
    const descriptor = Object.assign({ name: 'geolocation' } as const, { name: PRIVATE_ACCESS });
    return (await navigator.permissions.query(descriptor)).state;
  } catch {
    // The browser does not know the permission.
    return null;
  }
}
