import { createServer } from 'node:net';

import { StartupError } from '#server/config/startup-error.ts';
import { codeOf } from '#server/lib/error-code.ts';

/** Where to listen, and the settings that say so. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly hostSetting: string;
  readonly portSetting: string;
}

/**
 * Makes sure that the port can be had, before anything slower is started.
 * @throws StartupError when it is taken or not ours to take
 */
export async function requireFreePort(address: ListenAddress): Promise<void> {
  const failure = await tryToListen(address);
  if (failure !== null) throw explainListenFailure(failure, address);
}

/** Listens briefly; returns the reason of a failure, or null. */
export function tryToListen({
  host,
  port,
}: Pick<ListenAddress, 'host' | 'port'>): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', resolve);
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(null)));
  });
}

/** Returns the problem of a failed `listen` for the person who started the service. */
export function explainListenFailure(error: unknown, address: ListenAddress): unknown {
  const problem = findProblem(codeOf(error) ?? '', address);
  return problem === null ? error : new StartupError([problem], { cause: error });
}

function findProblem(code: string, address: ListenAddress): string | null {
  const { host, port, hostSetting, portSetting } = address;
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken by another program: stop it, or set ${portSetting} to a free one.`;
    case 'EACCES':
      return `Port ${port} on ${host} needs more rights than this account has: set ${portSetting} to one above 1023.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${hostSetting} is ${host}, which is no address of this machine: set one that is, such as 127.0.0.1.`;
    default:
      return null;
  }
}
