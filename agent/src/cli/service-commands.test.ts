import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { MAIN, runCommand, waitForOutput, writeAgentConfig } from '../../test/agent-program.ts';
import { findFreePort } from '../../test/find-free-port.ts';
import { lacksOpenssl, CertificateFixture } from '../../test/certificates.ts';
import { connect } from '../../test/stream-harness.ts';

describe('reload', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());

  test('loads valid files, rejects invalid ones with 1 and the reason, and keeps viewers', async (t) => {
    const server = fixture.createRoot('root').issueServer();
    const port = await findFreePort();
    const config = writeAgentConfig(fixture.directory, port, server);
    const child = spawn(process.execPath, [MAIN, 'run', '--config', config]);
    t.after(() => child.kill('SIGKILL'));
    await waitForOutput(child, /listens on/u);
    const viewer = await connect(port);
    const socketPath = join(fixture.directory, `agent-${port}.sock`);
    assert.equal(statSync(socketPath).mode & 0o777, 0o600);

    assert.deepEqual(await runCommand('reload', '--config', config), {
      code: 0,
      stdout: 'The agent has reloaded its certificates, lists, tokens and allowed origins.\n',
      stderr: '',
    });

    const shown = (await connect(port)).socket;
    writeFileSync(server.certificateFile, 'junk');
    const refused = await runCommand('reload', '--json', '--config', config);
    assert.equal(refused.code, 1);
    assert.deepEqual(JSON.parse(refused.stdout), {
      reloaded: false,
      problem: `The files could not be reloaded, and the previous ones stay in use: ${server.certificateFile} contains no "BEGIN CERTIFICATE": write it as PEM.`,
    });
    assert.equal((await connect(port)).socket.readyState, shown.OPEN);
    assert.equal(viewer.socket.readyState, viewer.socket.OPEN);

    child.kill('SIGTERM');
    await viewer.closed;
    await new Promise((resolve) => child.once('exit', resolve));
    assert.equal(existsSync(socketPath), false);
    const ended = await runCommand('reload', '--config', config);
    assert.deepEqual(
      [ended.code, ended.stdout],
      [1, `No agent is running: nothing listens on ${socketPath}.\n`],
    );
  });

  test('exits with 78 when the configuration has no control socket', async () => {
    const path = join(fixture.directory, 'none.yaml');
    writeFileSync(
      path,
      'tls: { certificate_file: /c.pem, key_file: /k.pem }\ncontrol_socket: null\n',
    );
    assert.deepEqual(await runCommand('reload', '--config', path), {
      code: 78,
      stdout: '',
      stderr: 'control_socket is null in the configuration: send the agent SIGHUP instead.\n',
    });
  });
});
