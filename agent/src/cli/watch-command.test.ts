import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { createServer as createPlainServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, describe, test, type TestContext } from 'node:test';

import { WebSocketServer } from 'ws';

import { MAIN, runCommand } from '../../test/agent-program.ts';
import { lacksOpenssl, CertificateFixture } from '../../test/certificates.ts';
import { exampleHost, exampleSnapshot } from '../../test/example-snapshot.ts';
import { waitFor } from '../../test/wait.ts';
import { openStream, type Stream } from '../../test/stream-harness.ts';
import { readTlsMaterial } from '../tls/tls-files.ts';

const lacksScript =
  lacksOpenssl ||
  (spawnSync('script', ['--version']).status === 0
    ? false
    : 'script, which creates the terminal, is not installed');

/** Opens a stream with a snapshot every 50 ms. */
async function openTicking(...args: Parameters<typeof openStream>): Promise<Stream> {
  const stream = await openStream(...args);
  const ticks = setInterval(() => stream.hub.tick(), 50);
  return {
    ...stream,
    async [Symbol.asyncDispose]() {
      clearInterval(ticks);
      await stream[Symbol.asyncDispose]();
    },
  };
}

function readTokenRules() {
  return {
    isToken: (token: string) => token === 'a-good-token',
    allowedOrigins: new Set<string>(),
  };
}

/** Returns the exit code and the standard error of a failed command. */
async function fail(...args: readonly string[]): Promise<[number, string]> {
  const { code, stdout, stderr } = await runCommand('watch', ...args);
  assert.equal(stdout, '');
  return [code, stderr];
}

async function listen(
  t: TestContext,
  { cert, key }: { cert: string; key: string },
  answer?: Parameters<Server['on']>[1],
): Promise<number> {
  const httpServer = createServer({ cert, key });
  if (answer !== undefined)
    httpServer.on('request', answer).on('upgrade', (_request, socket) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nHello');
    });
  httpServer.listen(0);
  t.after(() => httpServer.close());
  await once(httpServer, 'listening');
  return portOf(httpServer.address());
}

describe('watch', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());
  const root = fixture.createRoot('root');
  const server = root.issueServer();
  const ca = ['--ca', root.own.certificateFile];
  const readTls = (authority = root) =>
    readTlsMaterial({
      ...server,
      clients: { authorityFile: authority.own.certificateFile, revocationFile: null },
    });

  function issueServer(name: string, extensions: string, days: number) {
    return fixture.read(fixture.sign(root.own, name, { extensions, days }));
  }

  function write(name: string, text: string): string {
    const path = join(fixture.directory, name);
    writeFileSync(path, text);
    return path;
  }

  test('--once prints a table and --json the snapshot, both with a token', async () => {
    await using stream = await openTicking({
      tls: readTlsMaterial({ ...server, clients: null }),
      readRules: readTokenRules,
    });
    const address = `wss://localhost:${stream.port}`;
    const token = ['--token-file', write('token', '# mine\na-good-token\n')];
    const table = await runCommand('watch', address, ...ca, ...token, '--once');
    assert.match(table.stdout, /^db-1 {2}Debian GNU\/Linux 12.*\n\nProcessor \(1\) +25 %/u);
    assert.deepEqual([table.code, table.stderr], [0, '']);
    const json = await runCommand('watch', address, ...ca, ...token, '--once', '--json');
    assert.deepEqual({ ...JSON.parse(json.stdout), time: '' }, { ...exampleSnapshot, time: '' });
    const wrong = ['--token-file', write('wrong', 'another-token\n')];
    assert.deepEqual(await fail(address, ...ca, ...wrong), [
      77,
      `localhost:${stream.port} refuses (401). The access token is not known. Use --token-file.\n`,
    ]);
  });

  test('sends client certificates as PEM and as PKCS#12, and is refused without one or with a foreign one', async () => {
    await using stream = await openTicking({ tls: readTls() });
    const address = `wss://localhost:${stream.port}`;
    const client = root.issueClient('ada');
    const pem = ['--certificate', client.certificateFile, '--key', client.keyFile];
    assert.equal((await runCommand('watch', address, ...ca, ...pem, '--once')).code, 0);
    const files = `-in ${client.certificateFile} -inkey ${client.keyFile}`;
    fixture.openssl(`pkcs12 -export ${files} -passout pass:secret -out ada.p12`);
    const pkcs12 = ['--pkcs12', join(fixture.directory, 'ada.p12')];
    const passphrase = ['--passphrase-file', write('passphrase', 'secret\n')];
    const withPkcs12 = await runCommand(
      'watch',
      address,
      ...ca,
      ...pkcs12,
      ...passphrase,
      '--once',
    );
    assert.deepEqual([withPkcs12.code, withPkcs12.stderr], [0, '']);
    const refuses = `localhost:${stream.port} refuses (403).`;
    assert.deepEqual(await fail(address, ...ca), [
      77,
      `${refuses} A client certificate is needed, and none was sent.\n`,
    ]);
    const { certificateFile, keyFile } = fixture.createRoot('other').issueClient('eve');
    const strange = ['--certificate', certificateFile, '--key', keyFile];
    assert.deepEqual(await fail(address, ...ca, ...strange), [
      77,
      `${refuses} The client certificate is not from an authority of this agent.\n`,
    ]);
    assert.deepEqual(await fail(address, ...ca, ...pkcs12), [
      2,
      'The passphrase of the client certificate is missing or wrong: use --passphrase-file.\n',
    ]);
  });

  test('explains a refusal in the handshake', async () => {
    await using stream = await openTicking({ tls: readTls(), refusesInHandshake: true });
    assert.deepEqual(await fail(`wss://localhost:${stream.port}`, ...ca), [
      77,
      `localhost:${stream.port} requires a client certificate: use --certificate and --key.\n`,
    ]);
  });

  test('trusts an authority or one fingerprint only', async () => {
    await using stream = await openTicking({
      tls: readTlsMaterial({ ...server, clients: null }),
    });
    const address = `wss://localhost:${stream.port}`;
    const shown = new X509Certificate(server.cert).fingerprint256;
    const digits = shown.replaceAll(':', '').toLowerCase();
    const [code, text] = await fail(address);
    assert.equal(code, 76);
    assert.match(text, /^No known authority signed .* --ca FILE .*\n$/u);
    assert.ok(text.endsWith(`--fingerprint sha256:${digits}\n`));
    const pinned = await runCommand('watch', address, '--fingerprint', `sha256:${shown}`, '--once');
    assert.deepEqual([pinned.code, pinned.stderr], [0, '']);
    assert.deepEqual(await fail(address, '--fingerprint', `sha256:${'0'.repeat(64)}`), [
      76,
      `localhost:${stream.port} has another certificate than expected: its fingerprint is sha256:${digits}.\n`,
    ]);
  });

  test('explains an expired certificate and one for another name', async (t) => {
    const expired = issueServer('expired', 'subjectAltName=DNS:localhost\n', -1);
    const other = issueServer('other', 'subjectAltName=DNS:db-2.example.com\n', 30);
    const [expiredPort, otherPort] = [await listen(t, expired), await listen(t, other)];
    const [code, text] = await fail(`wss://localhost:${expiredPort}`, ...ca);
    assert.equal(code, 76);
    assert.match(text, /^The certificate of localhost:\d+, or one above it, has expired /u);
    assert.deepEqual(await fail(`wss://localhost:${otherPort}`, ...ca), [
      76,
      `The certificate of localhost:${otherPort} is not for localhost but for DNS:db-2.example.com: use one of these names.\n`,
    ]);
  });

  test('explains an unreachable host, a server without TLS, and one that is not an agent', async (t) => {
    const plain = createPlainServer().listen(0, '127.0.0.1');
    await once(plain, 'listening');
    const plainPort = portOf(plain.address());
    assert.deepEqual(await fail(`wss://127.0.0.1:${plainPort}`, ...ca), [
      76,
      `The server at 127.0.0.1:${plainPort} does not use TLS, so it is not an agent.\n`,
    ]);
    plain.close();
    await once(plain, 'close');
    assert.deepEqual(await fail(`wss://127.0.0.1:${plainPort}`, ...ca), [
      69,
      `Nothing listens on 127.0.0.1:${plainPort}.\n`,
    ]);
    const port = await listen(t, server, (_request, response) => response.end('Hello'));
    assert.deepEqual(await fail(`wss://localhost:${port}`, ...ca), [
      76,
      `The server at localhost:${port} is not an agent: 200 (Hello).\n`,
    ]);
  });

  test('disconnects from a server with invalid or too large messages', async (t) => {
    for (const message of ['hello', `"${'x'.repeat(3 * 1024 * 1024)}"`]) {
      const port = await serveMessages(t, [message]);
      assert.deepEqual(await fail(`wss://localhost:${port}`, ...ca), [
        76,
        `The server at localhost:${port} does not send the messages of an agent of this version.\n`,
      ]);
    }
  });

  test('exits with 2 and one sentence for invalid options', async () => {
    assert.deepEqual(await fail('ws://localhost'), [
      2,
      "address 'ws://localhost' is invalid: agents use TLS only: it must begin with wss://.\n",
    ]);
    const lonely = await fail('wss://localhost', '--certificate', server.certificateFile);
    assert.deepEqual(lonely, [
      2,
      'A client certificate needs two files: use both --certificate and --key.\n',
    ]);
    const [code, text] = await fail('wss://localhost', '--ca', '/nowhere/ca.pem');
    assert.equal(code, 2);
    assert.match(text, /^\/nowhere\/ca\.pem cannot be read: /u);
  });

  test('prints lines into a pipe, reports a lost connection once, and reconnects', async (t) => {
    const tls = readTlsMaterial({ ...server, clients: null });
    const stream = await openTicking({ tls });
    t.after(() => stream[Symbol.asyncDispose]());
    const child = spawn(process.execPath, [MAIN, 'watch', `wss://localhost:${stream.port}`, ...ca]);
    t.after(() => child.kill('SIGKILL'));
    const said = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
    await waitFor(() => said.out.includes('\n'));
    assert.match(
      said.out,
      /^\S+Z {2}cpu 25 % {2}load 0\.50 {2}memory 38 % {2}swap 25 % {2}received 2\.05 kB\/s {2}sent 4\.10 kB\/s {2}read 512 B\/s {2}written 1\.02 kB\/s {2}\/ 42 %\n/u,
    );
    const { port } = stream;
    await stream[Symbol.asyncDispose]();
    await waitFor(() => said.err.includes('\n'));
    said.out = '';
    const again = await openTicking({ tls }, port);
    t.after(() => again[Symbol.asyncDispose]());
    await waitFor(() => said.out.includes('\n'));
    assert.match(said.err, /^The agent stops\.\n(?:Nothing listens on localhost:\d+\.\n)?$/u);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  test(
    'draws on a terminal, replaces control characters, and restores the terminal',
    { skip: lacksScript },
    async (t) => {
      const evil = '\u001b]0;owned\u0007\u001b[31m\u009b2J';
      const host = { ...exampleHost, hostname: `db-1${evil}` };
      const hello = { type: 'hello', schema_version: 1, agent_version: evil, interval_seconds: 1 };
      const snapshot = { ...exampleSnapshot, units: { failed: [evil] } };
      const port = await serveMessages(t, [
        JSON.stringify({ ...hello, host, history: [] }),
        JSON.stringify({ type: 'snapshot', snapshot }),
      ]);
      const command = `stty cols 80 rows 24; '${process.execPath}' '${MAIN}' watch wss://localhost:${port} ${ca.join(' ')}`;
      const child = spawn('script', ['-qec', command, '/dev/null'], {
        env: { ...process.env, TERM: 'xterm-256color', NO_COLOR: '1' },
      });
      t.after(() => child.kill('SIGKILL'));
      let screen = '';
      child.stdout.on('data', (chunk: Buffer) => (screen += chunk.toString()));
      await waitFor(() => screen.includes('Failed'));
      child.stdin.write('q');
      assert.deepEqual(await once(child, 'exit'), [0, null]);
      const drawn = screen.slice(screen.indexOf('\u001b[?1049h'));
      assert.ok(drawn.startsWith('\u001b[?1049h\u001b[?25l\u001b[?7l'));
      assert.ok(drawn.endsWith('\u001b[?7h\u001b[?25h\u001b[?1049l'));
      const picture = drawn.split('\u001b[H').find((each) => each.includes('Failed')) ?? '';
      const lines = (picture.split('\u001b[?2026l')[0] ?? '').split(/\r+\n/u);
      assert.equal(lines.length, 24);
      assert.match(lines[0] ?? '', /^db-1·\]0;owned··\[31m·2J {2}up 1 d 2 h .* ● live$/u);
      assert.deepEqual(
        lines.filter((line) => /\p{Cc}/u.test(line)),
        [],
      );
    },
  );

  /** Starts a server that sends the same messages to every client. */
  async function serveMessages(t: TestContext, messages: readonly string[]): Promise<number> {
    const { cert, key } = server;
    const httpServer = createServer({ cert, key }).listen(0);
    const webSockets = new WebSocketServer({ server: httpServer });
    webSockets.on('connection', (socket) => {
      socket.on('error', () => socket.terminate());
      for (const message of messages) socket.send(message);
    });
    t.after(() => httpServer.close().closeAllConnections());
    await once(httpServer, 'listening');
    return portOf(httpServer.address());
  }
});

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
