import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { openRawConnection, type RawConnection } from '../raw-http.ts';

const PROGRAM = fileURLToPath(new URL('./limited-workers.ts', import.meta.url));
const REQUEST = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

test('a connection above the limit of all workers is closed', async (t) => {
  const supervisor = fork(PROGRAM);
  t.after(() => supervisor.disconnect());
  const [message] = await once(supervisor, 'message');
  const { port } = Parse(Type.Object({ port: Type.Integer() }), message);
  using opened = new DisposableStack();
  const open = async (): Promise<RawConnection> =>
    opened.use(await openRawConnection(`http://127.0.0.1:${port}`));
  for (let count = 0; count < 2; count++) {
    const connection = await open();
    connection.send(REQUEST);
    assert.match(await connection.waitForAnswers(1), /^HTTP\/1\.1 200 /u);
  }
  const refused = await open();
  await refused.waitForClose();
});
