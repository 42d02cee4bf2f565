/** Runs the Debian packages for arm64: tested under emulation, and not on a machine with such a processor. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';

import { AgentHello, AgentSnapshotMessage } from '@latchkey/contract';
import { Value } from 'typebox/value';

import { CertificateFixture } from '../../../../agent/test/certificates.ts';
import { connect } from '../../../../agent/test/stream-harness.ts';
import { repository } from '../../../lib/steps.ts';
import { packAgentDeb } from '../../../package/agent-deb.ts';
import { packServiceDeb } from '../../../package/service/service-deb.ts';
import { readVersion } from '../../version.ts';
import { activateLicense, readKey } from '../licensed-machine.ts';
import { postTo } from '../post.ts';
import { Arm64System, findMissingEmulation } from './arm64-system.ts';

const skip = findMissingEmulation() ?? false;

const LATCHKEY = '/usr/lib/latchkey/bin/latchkey';
const AGENT = '/usr/bin/latchkey-agent';
const HOME = '/var/lib/latchkey';

const ROOT = 0;
/** The account of the service and of the agent, and its group. */
const ACCOUNT = 990;

/** What maintainer scripts do. */
const CREATE_ACCOUNT = `
  echo 'latchkey:x:${ACCOUNT}:${ACCOUNT}::${HOME}:/usr/sbin/nologin' >>/etc/passwd
  echo 'latchkey:x:${ACCOUNT}:' >>/etc/group
  install -d -o latchkey -g latchkey ${HOME} /var/cache/latchkey
  chgrp latchkey /etc/latchkey/latchkey.env`;

describe('the packages for arm64, emulated', { skip }, () => {
  const fixture = new CertificateFixture();
  let folder = '';
  let system: Arm64System;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-release-'));
    const version = await readVersion(repository);
    const packages = [
      await packServiceDeb(repository, version, 'arm64'),
      await packAgentDeb(repository, version, 'arm64'),
    ];
    for (const { name, content } of packages) await writeFile(join(folder, name), content);
    system = await Arm64System.open(packages.map(({ name }) => join(folder, name)));
    await system.run(ROOT, ['sh', '-c', CREATE_ACCOUNT]);
  });
  after(async () => {
    await system[Symbol.asyncDispose]();
    fixture[Symbol.dispose]();
    await rm(folder, { recursive: true });
  });

  function start(program: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const [command = '', ...args] = system.command(ACCOUNT, ...program);
    return spawn(command, args, {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  test('issue, activate and validate a license', async () => {
    assert.equal(await system.run(ACCOUNT, ['uname', '-m']), 'aarch64\n');
    const service = start([LATCHKEY, 'serve'], { LATCHKEY_PORT: '0' });
    const url = await findLine(service.stdout, /"url":"(?<found>[^"]+)"/);
    const issue = [LATCHKEY, 'license', 'issue', '--product=personal'];
    const key = readKey(await system.run(ACCOUNT, issue));
    const licensed = await activateLicense(postTo(url), key);
    assert.equal(await licensed.validate(), true);
  });

  test('print a snapshot, and stream to a viewer', async () => {
    assert.match(await system.run(ACCOUNT, [AGENT, 'once']), /CPU/i);
    const { cert, key } = fixture.createRoot('root').issueServer();
    const port = await findFreePort();
    const tls = `tls: { certificate_file: ${HOME}/cert.pem, key_file: ${HOME}/key.pem }`;
    await writeInside('cert.pem', cert);
    await writeInside('key.pem', key);
    await writeInside('agent.yaml', `listen: 127.0.0.1:${port}\n${tls}\n`);
    const agent = start([AGENT, 'run', '--config', `${HOME}/agent.yaml`]);
    await findLine(agent.stderr, /(?<found>listens on)/);
    const viewer = await connect(port);
    const [hello = '', snapshot = ''] = await viewer.receive(2);
    assert.ok(Value.Check(AgentHello, JSON.parse(hello)), hello);
    assert.ok(Value.Check(AgentSnapshotMessage, JSON.parse(snapshot)), snapshot);
    viewer.socket.terminate();
  });

  async function writeInside(name: string, text: string): Promise<void> {
    const write = `umask 077; printf %s "$TEXT" >${HOME}/${name}`;
    await system.run(ACCOUNT, ['sh', '-c', write], { TEXT: text });
  }
});

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Waits for a line, and returns its group `found`. The rest of the output is read, so that the program does not wait. */
async function findLine(output: Readable, pattern: RegExp): Promise<string> {
  let text = '';
  for await (const line of createInterface({ input: output })) {
    text += `${line}\n`;
    const found = pattern.exec(line)?.groups?.['found'];
    if (found !== undefined) {
      output.resume();
      return found;
    }
  }
  throw new Error(`The program ended: ${text}`);
}
