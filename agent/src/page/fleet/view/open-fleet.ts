import { createFleet } from '../core/create-fleet.ts';
import { queryPrivateAccess } from '../core/private-access.ts';
import type { Fleet, FleetSocket, ListedMachine } from '../core/types.ts';
import { readKeptToken } from './token-store.ts';

/** Connects this browser to the agents of a list, with the tokens that it keeps for them. */
export function openFleet(list: readonly ListedMachine[]): Fleet {
  return createFleet({
    list,
    readToken: readKeptToken,
    WebSocket: class extends WebSocket implements FleetSocket {},
    fetch: (url, init) => fetch(url, init),
    queryPrivateAccess: (address) => queryPrivateAccess(navigator.permissions, address),
    now: () => Date.now(),
    schedule: (run, delayMs) => {
      const timer = setTimeout(run, delayMs);
      return () => clearTimeout(timer);
    },
    random: () => Math.random(),
  });
}
