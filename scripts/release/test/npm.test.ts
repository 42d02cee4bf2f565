/** Installs the npm package of the service with the oldest supported Node.js, in an empty folder. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import { readCommands } from '../../lib/document-commands.ts';
import { repository } from '../../lib/steps.ts';
import { packService } from '../../package/service/pack-npm.ts';
import { readVersion } from '../version.ts';
import { activateLicense, readKey, reportFirstValidation } from './licensed-machine.ts';
import { ownVariables } from './own-variables.ts';
import { postTo } from './post.ts';

const run = promisify(execFile);

/** The oldest Node.js of `engines`, and the npm that comes with it. */
const OLD_NODE = `node-${process.platform}-${process.arch}@18.17.1`;
const OLD_NPM = 'npm@9.6.7';

/** The commands of the document: one installs the package, one starts the service, and in a second terminal one issues a license. */
const [first = '', issue = ''] = readCommands(
  'docs/operations/packages.md',
  'The service from npm',
);
const [install = '', serve = ''] = first.split('\n');

describe('the npm package', () => {
  let folder = '';
  let environment: NodeJS.ProcessEnv = {};
  let installedInMs = 0;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-npm-'));
    // The service drops root, and its account loads the modules.
    await chmod(folder, 0o755);
    const bin = await installOldNode(folder);
    environment = { ...ownVariables(), PATH: `${bin}:/usr/bin:/bin`, LATCHKEY_PORT: '0' };
    await writeFile(join(folder, 'package.json'), '{}');
    const version = await readVersion(repository);
    const { name, content } = await packService(repository, version);
    await writeFile(join(folder, name), content);
    const startedMs = Date.now();
    await shell(install);
    installedInMs = Date.now() - startedMs;
  });
  after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

  async function shell(commands: string): Promise<string> {
    return (await run('sh', ['-euc', commands], { cwd: folder, env: environment })).stdout;
  }

  async function npm(...args: readonly string[]): Promise<string> {
    return (await run('npm', args, { cwd: folder, env: environment })).stdout;
  }

  function latchkey(...args: readonly string[]): Promise<string> {
    return npm('exec', '--', 'latchkey', ...args);
  }

  test('prints its help and its version', async () => {
    assert.match(await latchkey('--help'), /^Usage: latchkey/);
    assert.equal(await latchkey('--version'), `${await readVersion(repository)}\n`);
  });

  test('installs the locked versions, and no tools', async () => {
    const { dependencies } = JSON.parse(await npm('ls', '--all', '--json', '--omit=dev'));
    assert.deepEqual(Object.keys(dependencies), ['latchkey']);
    const tools = await run(
      'find',
      ['node_modules', '-name', 'rolldown', '-o', '-name', 'typescript'],
      {
        cwd: folder,
      },
    );
    assert.equal(tools.stdout, '');
  });

  test('issues, activates and validates a license, and serves the console', async (t) => {
    const startedMs = Date.now();
    const service = spawn('sh', ['-euc', serve], {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
      // Ctrl-C reaches every process of the terminal.
      detached: true,
    });
    const interrupt = (): void => void process.kill(-(service.pid ?? 0), 'SIGINT');
    t.after(() => {
      if (service.exitCode === null && service.signalCode === null) interrupt();
    });
    const url = await readUrl(service.stdout);

    const key = readKey(await shell(issue));
    const licensed = await activateLicense(postTo(url), key);
    assert.equal(await licensed.validate(), true);
    reportFirstValidation(t, startedMs - installedInMs);
    for (const path of ['/console', '/docs'])
      assert.equal((await fetch(`${url}${path}`)).status, 200);

    const ended = once(service, 'exit');
    interrupt();
    await ended;
  });
});

/** Puts an old Node.js and its npm into a folder of the path, which it returns. */
async function installOldNode(folder: string): Promise<string> {
  const bin = join(folder, 'bare', 'bin');
  await mkdir(bin, { recursive: true });
  for (const [name, specifier] of [
    ['node', OLD_NODE],
    ['npm', OLD_NPM],
  ] as const) {
    const target = join(folder, 'bare', name);
    await mkdir(target);
    const { stdout } = await run('npm', [
      'pack',
      specifier,
      '--silent',
      '--pack-destination',
      target,
    ]);
    await run('tar', ['-xzf', join(target, stdout.trim()), '-C', target, '--strip-components=1']);
  }
  await run('ln', ['-s', '../node/bin/node', join(bin, 'node')]);
  for (const name of ['npm', 'npx']) {
    const cli = join(folder, 'bare', 'npm', 'bin', `${name}-cli.js`);
    await writeFile(join(bin, name), `#!/bin/sh\nexec node '${cli}' "$@"\n`, { mode: 0o755 });
  }
  return bin;
}

async function readUrl(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const entry: unknown = JSON.parse(line);
    if (typeof entry === 'object' && entry !== null && 'url' in entry) return String(entry.url);
  }
  throw new Error('the service ended');
}
