/**
 * While a worker had no file descriptor left for a connection to the database, its requests were answered 500 instead of 503: the
 * error of the socket, EMFILE, did not count as an unavailable database.
 */
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';

import { isDatabaseUnavailable } from '#server/db/database-errors.ts';
import { sendQuery } from '#server/db/send-query.ts';

import { openTestPool } from '../database-pool.ts';

const pool = await openTestPool();

for (const code of ['EMFILE', 'ENFILE', 'EAGAIN']) {
  test(`the database is unavailable when its socket cannot be opened: ${code}`, async (t) => {
    t.mock.method(Socket.prototype, 'connect', function refuse(this: Socket): Socket {
      return this.destroy(Object.assign(new Error(`connect ${code}`), { code }));
    });
    await assert.rejects(sendQuery(pool, { text: 'select 1' }), (error) => {
      assert.ok(isDatabaseUnavailable(error), String(error));
      return true;
    });
  });
}
