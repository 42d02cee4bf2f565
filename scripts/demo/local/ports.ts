import { once } from 'node:events';
import { createServer } from 'node:net';

import { hasCode } from '#server/lib/unknown-values.ts';

import { UsageError } from '../options.ts';

/** @throws UsageError when another program listens on one of the ports */
export async function requireFreePorts(ports: readonly number[]): Promise<void> {
  const used = await findUsedPort(ports);
  if (used === null) return;
  throw new UsageError(
    `Port ${used} is in use, perhaps by another demo. Choose two free ports with --port.`,
  );
}

/** Returns the first of the ports that another program listens on; null: all are free. */
export async function findUsedPort(ports: readonly number[]): Promise<number | null> {
  for (const port of ports) if (!(await isFree(port))) return port;
  return null;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return true;
  } catch (error) {
    if (hasCode(error, 'EADDRINUSE')) return false;
    throw error;
  } finally {
    server.close();
  }
}
