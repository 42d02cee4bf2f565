/** Runs the code of the README, and the example, against the service. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { startTestService, TEST_ISSUER } from '../../../../server/test/harness.ts';

const WRITTEN_URL = 'http://127.0.0.1:8080';
const run = promisify(execFile);

const lacksGo = spawnSync('go', ['version']).status === 0 ? false : 'no go';
const folder = fileURLToPath(new URL('../..', import.meta.url));
const directory = await mkdtemp(join(tmpdir(), 'latchkey-go-'));
after(() => rm(directory, { recursive: true }));

const service = await startTestService({
  clock: { now: () => new Date(), set: () => undefined, advance: () => undefined },
});
const readme = await readFile(join(folder, 'README.md'), 'utf8');
const blocks = Array.from(readme.matchAll(/^```go\n(.*?)^```$/gms), ([, block = '']) => block);

/** Builds a program. @returns its path */
async function build(from: string, name: string): Promise<string> {
  const program = join(directory, name);
  await run('go', ['build', '-o', program, '.'], { cwd: from });
  return program;
}

async function runProgram(
  program: string,
  variables: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<string> {
  const env = { ...process.env, ...variables };
  return (await run(program, [...args], { cwd: directory, env })).stdout;
}

test(
  'its program starts, activates, and asks for an answer without a connection',
  { skip: lacksGo },
  async () => {
    const { licenseKey } = await service.issue();
    const written = blocks.join('\n');
    const formatted = spawnSync('gofmt', { input: written, encoding: 'utf8' }).stdout;
    assert.equal(formatted, written, 'the code of the README is not formatted');
    const program = written
      .replace(/(Issuer: +)"[^"]+"/, `$1"${TEST_ISSUER}"`)
      .replaceAll(WRITTEN_URL, service.url);
    await writeFile(join(directory, 'main.go'), program);
    const module = ['module example.com/program', 'go 1.19', 'require latchkey.dev/client v0.0.0'];
    const lines = [...module, `replace latchkey.dev/client => ${folder}`];
    await writeFile(join(directory, 'go.mod'), lines.join('\n'));
    const built = await build(directory, 'program');
    assert.equal(
      await runProgram(built, { KEY: licenseKey.toLowerCase() }),
      [
        'none not_activated',
        'changed: licensed',
        'with the feature gpu',
        'LKR1.',
        'entitlement_malformed',
        '',
      ].join('\n'),
    );
  },
);

test('names all calls of a client', async () => {
  const names = (await readdir(folder)).filter((name) => /^[a-z]+\.go$/.test(name));
  const sources = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const calls = Array.from(sources.join('').matchAll(/^func \(c \*Client\) ([A-Z]\w+)/gm), (each) =>
    String(each[1]),
  );
  assert.ok(calls.includes('Activate'));
  assert.deepEqual(
    calls.filter((name) => !readme.includes(name)),
    [],
  );
});

test(
  'the example activates, lists its machine, and deactivates it',
  { skip: lacksGo },
  async () => {
    const { licenseKey } = await service.issue();
    const example = await build(join(folder, 'example'), 'example');
    const variables = {
      LICENSE_SERVICE: service.url,
      LICENSE_ISSUER: TEST_ISSUER,
      LICENSE_FOLDER: join(directory, 'kept'),
    };
    const call = (...args: string[]) => runProgram(example, variables, ...args);
    assert.equal(await call(), 'No license yet: activate KEY, or trial.\n');
    const licensed = 'Licensed: personal. Runs without a network for 14 days.\n';
    assert.equal(await call('activate', licenseKey), licensed);
    assert.match(await call('machines'), /^[\da-f-]{36} {2}active {2}\(this one\)\n$/);
    assert.match(await call('explain'), /^state: licensed$/m);
    assert.equal(await call('deactivate'), 'No license yet: activate KEY, or trial.\n');
  },
);
