import { createServer } from 'node:net';

import { StartupError } from '#server/config/startup-error.ts';

/**
 * Makes sure that the port can be had, before anything slower is started.
 * @throws StartupError when it is taken or not ours to take
 */
export async function requireFreePort(host: string, port: number): Promise<void> {
  const probe = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject).listen({ host, port, exclusive: true }, resolve);
    });
  } catch (error) {
    throw explainListenFailure(error, host, port);
  }
  await new Promise((resolve) => probe.close(resolve));
}

/** What a failed `listen` means to the person who started the service. */
export function explainListenFailure(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return new StartupError(
        [
          `Port ${port} on ${host} is taken by another program: stop it, or set LATCHKEY_PORT to a free one.`,
        ],
        { cause: error },
      );
    case 'EACCES':
      return new StartupError(
        [
          `Port ${port} on ${host} needs more rights than this account has: set LATCHKEY_PORT to one above 1023.`,
        ],
        { cause: error },
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartupError(
        [
          `LATCHKEY_HOST is ${host}, which is no address of this machine: set one that is, such as 127.0.0.1.`,
        ],
        { cause: error },
      );
    default:
      return error;
  }
}
