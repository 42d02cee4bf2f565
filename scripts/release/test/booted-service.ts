/** The service of the Debian package on a booted system. */
import assert from 'node:assert/strict';

import type { Machine } from '../../../agent/test/systems/machine.ts';
import type { Post } from './licensed-machine.ts';

/** The first start creates a database. */
export const START_TIMEOUT_MS = 120_000;

const INTERFACE = 'http://127.0.0.1:8080/api/v1';

/** Waits until the service of a version is healthy. */
export async function waitForHealth(machine: Machine, version: string): Promise<void> {
  const retries = ['--retry', '120', '--retry-delay', '1', '--retry-connrefused'];
  const health = await machine.succeed(['curl', '-sf', ...retries, `${INTERFACE}/health`], {
    timeoutMs: START_TIMEOUT_MS,
  });
  assert.partialDeepStrictEqual(JSON.parse(health), { status: 'healthy', version });
}

/** Sends requests from the machine to its service. */
export function postFrom(machine: Machine): Post {
  return async (path, body) => {
    const json = ['-H', 'content-type: application/json', '-d', JSON.stringify(body)];
    return JSON.parse(
      await machine.succeed(['curl', '-sS', ...json, `${INTERFACE}/licenses/${path}`]),
    );
  };
}
