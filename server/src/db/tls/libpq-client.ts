import { Client, type ClientConfig } from 'pg';

import { LibpqConnection } from './libpq-connection.ts';
import type { TlsPlan } from './tls-plan.ts';

/** The class of a connection to one host. */
export type ClientClass = new (config?: ClientConfig) => Client;

/** What the driver would otherwise read from PGSSLMODE and PGSSLNEGOTIATION, in its own dialect. */
export const WITHOUT_DRIVER_TLS = { ssl: false, sslnegotiation: 'postgres' } as const;

/**
 * Creates the class of connections that use TLS as libpq does.
 * @param own the configuration of a connection that is created without one
 */
export function createLibpqClient(plan: TlsPlan, own: ClientConfig): ClientClass {
  return class LibpqClient extends Client {
    constructor(config: ClientConfig = own) {
      const connection = new LibpqConnection(plan);
      const enableChannelBinding = plan.channelBinding !== 'disable';
      super(Object.assign({}, config, WITHOUT_DRIVER_TLS, { enableChannelBinding, connection }));
    }
  };
}
