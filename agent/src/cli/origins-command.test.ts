import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { MAIN, runCommand, waitForOutput, writeAgentConfig } from '../../test/agent-program.ts';
import { CertificateFixture, lacksOpenssl } from '../../test/certificates.ts';
import { findFreePort } from '../../test/find-free-port.ts';
import { connect } from '../../test/stream-harness.ts';

const CONSOLE = 'https://console.example.com';

describe('origins', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());

  test('allows a page at once, and disconnects it when it is removed', async (t) => {
    const server = fixture.createRoot('root').issueServer();
    const port = await findFreePort();
    const config = writeAgentConfig(fixture.directory, port, server);
    chmodSync(config, 0o640);
    const child = spawn(process.execPath, [MAIN, 'run', '--config', config]);
    t.after(() => child.kill('SIGKILL'));
    await waitForOutput(child, /listens on/u);
    await assert.rejects(
      connect(port, [], { origin: CONSOLE }),
      /^Error: 403 Pages of this origin/,
    );

    assert.deepEqual(await runCommand('origins', 'add', `${CONSOLE}:443`, '--config', config), {
      code: 0,
      stdout: `${config} is changed. Pages of other sites that may watch: ${CONSOLE}.\nThe running agent applies it.\n`,
      stderr: '',
    });
    assert.equal(statSync(config).mode & 0o777, 0o640);
    const viewer = await connect(port, [], { origin: CONSOLE });

    const removed = await runCommand('origins', 'remove', CONSOLE, '--json', '--config', config);
    assert.deepEqual(
      [removed.code, JSON.parse(removed.stdout)],
      [0, { origins: [], changed: true, applied: true, problem: null }],
    );
    assert.equal((await viewer.closed).code, 1008);
  });

  test('changes the file without a running agent, and exits with 1', async () => {
    const config = join(fixture.directory, 'alone.yaml');
    const socket = join(fixture.directory, 'none.sock');
    writeFileSync(
      config,
      `control_socket: ${socket}\ntls: { certificate_file: /c.pem, key_file: /k.pem }\n`,
    );
    const none = await runCommand('origins', 'list', '--config', config);
    assert.equal(none.stdout, 'None: only the page of the agent itself may watch.\n');
    const added = await runCommand('origins', 'add', CONSOLE, '*', '--config', config);
    assert.deepEqual(
      [added.code, added.stdout.split('\n')[1]],
      [1, `No agent is running: nothing listens on ${socket}.`],
    );
    const list = await runCommand('origins', 'list', '--config', config);
    assert.deepEqual([list.code, list.stdout], [0, `${CONSOLE}\n*\n`]);
  });

  test('rejects what is no origin, and an origin that is not in the list', async () => {
    const config = join(fixture.directory, 'wrong.yaml');
    const text = 'tls: { certificate_file: /c.pem, key_file: /k.pem }\n';
    writeFileSync(config, text);
    const path = await runCommand('origins', 'add', `${CONSOLE}/page`, '--config', config);
    assert.equal(path.code, 2);
    assert.match(
      path.stderr,
      /It must be an origin such as https:\/\/console\.example\.com, or "\*"\./,
    );
    assert.deepEqual(await runCommand('origins', 'remove', CONSOLE, '--config', config), {
      code: 78,
      stdout: '',
      stderr: `${config} does not allow ${CONSOLE}: it allows none.\n`,
    });
    assert.equal(readFileSync(config, 'utf8'), text);
  });
});
