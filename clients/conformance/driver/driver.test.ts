import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { buildDriver, findMissingNeed, listClients } from './clients.ts';
import { Driver } from './driver.ts';

const directory = await mkdtemp(join(tmpdir(), 'latchkey-driver-'));
after(() => rm(directory, { recursive: true }));

/** Starts a program that answers each line with the result of an expression. */
function startProgram(expression: string): Driver {
  const program = `require('node:readline').createInterface({ input: process.stdin })
    .on('line', (line) => { const command = JSON.parse(line); ${expression} })`;
  return new Driver({ command: [process.execPath, '-e', program], folder: directory });
}

test('sends commands and returns answers in order', async () => {
  const driver = startProgram(
    'console.log(JSON.stringify({ verdict: command.token })); if (command.do === "close") process.stdin.destroy()',
  );
  assert.deepEqual(await driver.ask({ do: 'verify', token: 'a' }), { verdict: 'a' });
  assert.deepEqual(await driver.ask({ do: 'verify', token: 'b' }), { verdict: 'b' });
  await driver.close();
  await driver.close();
});

test('rejects a line that is no JSON, and an answer of another form', async () => {
  const talking = startProgram('console.log("hello")');
  await assert.rejects(talking.ask({ do: 'hello' }), {
    message: 'a line on standard output is no JSON: hello',
  });
  await talking.kill();
  const wrong = startProgram('console.log(\'{"result":{"ok":"yes"}}\')');
  await assert.rejects(wrong.ask({ do: 'check' }), (error: Error) =>
    error.message.startsWith('the answer has another form than the protocol: /result/ok '),
  );
  await wrong.kill();
});

test('reports a driver that ends without an answer, with its standard error', async () => {
  const driver = startProgram('console.error("no such module"); process.exit(3)');
  await assert.rejects(driver.ask({ do: 'open' }), (error: Error) =>
    error.message.endsWith('without an answer to open:\nno such module'),
  );
  await driver.kill();
});

test('reports a driver that does not end with 0', async () => {
  const driver = startProgram('console.log("{}"); process.exitCode = 4; process.stdin.destroy()');
  await assert.rejects(driver.close(), {
    message: 'the driver ended with 4 instead of 0 after close',
  });
});

test('reports a program that cannot be started', async () => {
  const driver = new Driver({ command: ['/missing/driver'], folder: directory });
  await assert.rejects(driver.ask({ do: 'hello' }), /ENOENT/);
  await driver.kill();
});

test('finds clients by their conformance.json, and fills in the folder of the build', async () => {
  const go = { name: 'go', build: ['touch', '{out}/driver'], command: ['{out}/driver'], needs: [] };
  const swift = { name: 'swift', command: ['swift'], needs: ['sh', 'no-such-compiler'] };
  for (const each of [swift, go]) {
    await mkdir(join(directory, 'clients', each.name), { recursive: true });
    const path = join(directory, 'clients', each.name, 'conformance.json');
    await writeFile(path, JSON.stringify(each));
  }
  const clients = listClients(join(directory, 'clients'));
  assert.deepEqual(
    clients.map(({ name }) => name),
    ['go', 'swift'],
  );
  assert.deepEqual(clients.map(findMissingNeed), [null, 'no no-such-compiler']);
  const [client] = clients;
  assert.ok(client !== undefined);
  const program = await buildDriver(client, directory);
  assert.deepEqual(program.command, [join(directory, 'driver')]);
  const failing = { ...client, build: ['false'] };
  await assert.rejects(buildDriver(failing, directory), /Command failed: false/);
});

test(
  'misses a header that the C compiler does not find',
  { skip: findMissingNeed({ needs: ['cc'] }) ?? false },
  () => {
    const reason = process.platform === 'linux' ? 'no no/such.h' : null;
    assert.equal(findMissingNeed({ needs: ['cc'], linux_headers: ['stdio.h'] }), null);
    assert.equal(findMissingNeed({ linux_headers: ['stdio.h', 'no/such.h'] }), reason);
  },
);
