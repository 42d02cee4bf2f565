import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, copyFileSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer as createSecureServer } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { after, describe, test } from 'node:test';

import { AgentHello, AgentSnapshotMessage } from '@latchkey/contract';
import { Value } from 'typebox/value';

import {
  MAIN,
  runAgent,
  runCommand,
  waitForOutput,
  writeAgentConfig,
} from '../../test/agent-program.ts';
import { findFreePort } from '../../test/find-free-port.ts';
import { lacksOpenssl, CertificateFixture } from '../../test/certificates.ts';
import { sendRequest, connect } from '../../test/stream-harness.ts';

describe('the commands of the stream', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());
  const root = fixture.createRoot('root');
  const server = root.issueServer();

  function writeConfig(port: number, more = ''): string {
    return writeAgentConfig(fixture.directory, port, server, more);
  }

  test('run streams this machine, reloads files on SIGHUP, keeps the old ones on errors, and stops on SIGTERM', async (t) => {
    const port = await findFreePort();
    const config = writeConfig(port);
    const child = spawn(process.execPath, [MAIN, 'run', '--config', config]);
    t.after(() => child.kill('SIGKILL'));
    await waitForOutput(child, /listens on 127\.0\.0\.1:\d+\./u);
    const viewer = await connect(port);
    const [hello = '', snapshot = ''] = await viewer.receive(2);
    assert.deepEqual([...Value.Errors(AgentHello, JSON.parse(hello))], []);
    assert.deepEqual([...Value.Errors(AgentSnapshotMessage, JSON.parse(snapshot))], []);

    const healthy = await runCommand('health', '--config', config);
    assert.deepEqual(healthy, { code: 0, stdout: 'OK\n', stderr: '' });
    assert.equal((await runCommand('validate', '--config', config)).code, 0);
    const other = await runAgent('run', '--config', config);
    assert.deepEqual([other.code, other.stdout], [78, '']);
    assert.match(
      other.stderr,
      /Port \d+ is in use by another program: stop it, or change listen\.\n$/u,
    );

    writeFileSync(server.certificateFile, 'junk');
    child.kill('SIGHUP');
    await waitForOutput(child, /"event":"agent\.reload_failed"/u);
    assert.equal((await sendRequest(port, '/health')).text, 'OK\n');
    writeFileSync(server.certificateFile, server.cert);
    child.kill('SIGHUP');
    assert.ok((await viewer.receive(viewer.messages.length + 1)).length > 2);

    const startedAtMs = performance.now();
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    assert.equal(code, 0);
    assert.ok(performance.now() - startedAtMs < 8000);
    assert.deepEqual(await viewer.closed, { code: 1001, reason: 'The agent stops.' });

    const ended = await runCommand('health', '--config', config);
    assert.equal(ended.code, 1);
    assert.match(
      ended.stdout,
      /^The agent does not answer on 127\.0\.0\.1:\d+: connect ECONNREFUSED/u,
    );
  });

  test('run continues when its log cannot be written', async (t) => {
    const full = openSync('/dev/full', 'w');
    t.after(() => closeSync(full));
    for (const log of ['pipe', full] as const) {
      const port = await findFreePort();
      const args = [MAIN, 'run', '--config', writeConfig(port)];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', log] });
      t.after(() => child.kill('SIGKILL'));
      child.stderr?.destroy();
      while (!(await isHealthy(port))) assert.equal(child.exitCode, null, 'it runs');
      await assert.rejects(connect(port, ['unknown']), /^Error: 400 /u);
      assert.equal(await isHealthy(port), true, 'after a log line');
    }
  });

  test('run ignores SIGHUP while it starts', async (t) => {
    const port = await findFreePort();
    const pipe = join(fixture.directory, 'config.pipe');
    execFileSync('mkfifo', [pipe]);
    const child = spawn(process.execPath, [MAIN, 'run', '--config', pipe]);
    t.after(() => child.kill('SIGKILL'));
    // Opens once the agent reads its configuration.
    const writing = await open(pipe, 'w');
    child.kill('SIGHUP');
    await writing.writeFile(readFileSync(writeConfig(port)));
    await writing.close();
    await waitForOutput(child, /listens on/u);
  });

  test('validate exits with 0 for a working configuration, and warns of unrestricted viewers', async () => {
    const config = writeConfig(await findFreePort(), 'viewers: {}\n');
    assert.deepEqual(await runCommand('validate', '--config', config), {
      code: 0,
      stdout: `! Anyone who reaches the port may watch: set viewers.certificates or viewers.tokens_file.\n✓ ${config} is valid.\n`,
      stderr: '',
    });
  });

  test('validate exits with 78, and names line and field of each mistake', async () => {
    const config = writeConfig(await findFreePort(), 'interval: 1\n');
    const { code, stdout } = await runCommand('validate', '--no-environment', '--config', config);
    assert.equal(code, 78);
    assert.equal(
      stdout,
      `✗ ${config}:6: interval is not a field here; known are listen, interval_seconds, tls, viewers, control_socket, limits\n`,
    );
  });

  test('health rejects another TLS server with its own /health', async (t) => {
    const { cert } = server;
    const key = readFileSync(server.keyFile);
    const other = createSecureServer({ cert, key }, (_request, response) => response.end('{}'));
    t.after(() => other.close());
    const port = await findFreePort();
    await once(other.listen(port, '127.0.0.1'), 'listening');
    const config = writeConfig(port);
    const { code, stdout } = await runCommand('health', '--config', config);
    assert.deepEqual([code, stdout], [1, `The program on port ${port} is not the agent.\n`]);
    assert.equal((await runCommand('validate', '--config', config)).code, 78);
  });

  test('validate exits with 78 for a wrong name, a foreign key, an outdated list and a port in use', async () => {
    const authority = fixture.createRoot('clients');
    const revocationFile = authority.writeRevocations([], 1);
    await setTimeout(2000);
    const strangeKey = join(fixture.directory, 'strange.key');
    copyFileSync(authority.own.keyFile, strangeKey);
    const busy = createServer().listen(0, '127.0.0.1');
    busy.unref();
    await once(busy, 'listening');
    const address = busy.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const viewers =
      `viewers:\n  certificates: required\n  authority_file: ${authority.own.certificateFile}\n` +
      `  revocation_file: ${revocationFile}\n`;
    const config = writeConfig(port, `  server_name: db-1.example.com\n${viewers}`);
    busy.on('connection', (socket) => socket.destroy());
    const { code, stdout } = await runCommand('validate', '--json', '--config', config);
    const { valid, problems, warnings } = JSON.parse(stdout);
    assert.deepEqual([code, valid, warnings], [78, false, []]);
    assert.equal(problems.length, 3);
    assert.equal(
      problems[0],
      `${server.certificateFile} is not for db-1.example.com (it is for DNS:localhost, IP Address:127.0.0.1): get one that is, or correct tls.server_name.`,
    );
    assert.match(
      problems[1],
      /\.crl has been out of date since .*, and all viewers are rejected: renew it, as .* refresh-list does\.$/u,
    );
    assert.equal(
      problems[2],
      `Port ${port} is in use by another program: stop it, or change listen.`,
    );
    const withStrangeKey = join(fixture.directory, 'strange.yaml');
    const tls = `tls: { certificate_file: ${server.certificateFile}, key_file: ${strangeKey} }\n`;
    writeFileSync(withStrangeKey, `listen: 127.0.0.1:${port}\n${tls}`);
    busy.close();
    const strange = await runCommand('validate', '--config', withStrangeKey);
    assert.equal(strange.code, 78);
    assert.match(strange.stdout, /✗ .*strange\.key is not the key of .*\.pem\.\n/u);
  });
});

async function isHealthy(port: number): Promise<boolean> {
  try {
    return (await sendRequest(port, '/health')).text === 'OK\n';
  } catch {
    // The agent does not listen yet, or no longer.
    return false;
  }
}
