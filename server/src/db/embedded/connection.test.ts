import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';

import {
  errorResponse,
  startFakePostgres,
  AUTHENTICATION_OK,
} from '../../../test/fake-postgres.ts';

import { waitUntilReady } from './connection.ts';

/** Has no database but `postgres`, and disconnects at `create database`. */
function accept(socket: Socket, startup: Buffer): void {
  if (startup.includes('database\0latchkey\0')) {
    socket.end(errorResponse('3D000', 'no such database'));
  } else {
    socket.once('data', () => socket.destroy()).write(AUTHENTICATION_OK);
  }
}

test('a server that ends while its database is created fails the start, not the process', async (t) => {
  const connection = await startFakePostgres(t, accept);
  const supervised = {
    ended: Promise.withResolvers<string>().promise,
    hasEnded: () => false,
    stop: async () => {},
  };
  const log = { info: assert.fail, warn: assert.fail, error: assert.fail };
  await assert.rejects(waitUntilReady(supervised, connection, log), /Connection terminated/);
});
