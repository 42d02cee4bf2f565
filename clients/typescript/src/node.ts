import { release } from 'node:os';

import { events } from './events.ts';
import { Latchkey as Client } from './latchkey.ts';
import { eventFile } from './node/event-file.ts';
import { fileStore } from './node/file-store.ts';
import { nodeCryptography } from './node/cryptography.ts';
import { nodeNetwork } from './node/network.ts';
import { readMachine } from './node/read-machine.ts';
import type { Options } from './options.ts';

export * from './index.ts';
export { events, memoryEventStore, type EventStore } from './events.ts';
export { eventFile } from './node/event-file.ts';
export { fileStore } from './node/file-store.ts';
export { readMachine } from './node/read-machine.ts';
export { useSystemCertificates, type NetworkSettings } from './node/system-network.ts';

/** The options of a program on Node.js. */
export interface NodeOptions extends Options {
  /** A folder of the program and this user; `license.json` and `events.jsonl` are kept there. */
  readonly folder: string;
}

/** The license of a program on this machine. */
export type Latchkey = Client;

export const Latchkey = {
  /**
   * Reads what is kept in the folder, and the identity of the machine. It asks no service.
   * @throws TypeError when an option is wrong; nothing else of a client throws
   */
  async open({ folder, ...options }: NodeOptions): Promise<Client> {
    if (typeof folder !== 'string' || folder === '') {
      throw new TypeError('Latchkey.open: folder must be a path');
    }
    return Client.open({
      store: fileStore(folder),
      events: events(eventFile(folder)),
      machine: () => readMachine(),
      cryptography: nodeCryptography,
      network: nodeNetwork,
      platform: `${process.platform} ${process.arch}, Node.js ${process.versions.node}`,
      osVersion: release(),
      ...options,
    });
  },
};
