/** Compiles and runs the code of the README, and the example, against the service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';

import { startTestService, TEST_ISSUER } from '../../../../server/test/harness.ts';
import { findMissingProgram } from '../../../conformance/driver/clients.ts';

const WRITTEN_URL = 'http://127.0.0.1:8080';
const CLIENT = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

const missing = findMissingProgram({ needs: ['javac', 'java'] });
const skip = missing ?? false;

const service = await startTestService({
  clock: { now: () => new Date(), set: () => undefined, advance: () => undefined },
});
const directory = await mkdtemp(join(tmpdir(), 'latchkey-java-'));
after(() => rm(directory, { recursive: true }));

const readme = await readFile(join(CLIENT, 'README.md'), 'utf8');

/** Returns a program with the code of the README. */
function createProgram(): string {
  const blocks = Array.from(readme.matchAll(/^```java\n(.*?)^```$/gms), ([, block = '']) =>
    block
      .replaceAll(`issuer("${WRITTEN_URL}")`, `issuer("${TEST_ISSUER}")`)
      .replaceAll(WRITTEN_URL, service.url),
  );
  const [imports = '', ...others] = blocks;
  return `${imports}
public final class Program {
  public static void main(String[] arguments) throws Exception {
${others.join('\n')}
  }
}
`;
}

async function compile(file: string): Promise<void> {
  const sources = join(CLIENT, 'src', 'main', 'java');
  const options = ['-Xlint:all', '-Werror', '--release', '17', '--source-path', sources];
  await run('javac', [...options, '-d', directory, file]);
}

async function runClass(
  name: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const options = { cwd: directory, env: { ...process.env, ...variables } };
  const { stdout } = await run('java', ['-cp', directory, name, ...args], options);
  return stdout;
}

test(
  'its program starts, activates, and asks for an answer without a connection',
  { skip },
  async () => {
    const { licenseKey } = await service.issue();
    const path = join(directory, 'Program.java');
    await writeFile(path, createProgram());
    await compile(path);
    const printed = await runClass('Program', [], { KEY: licenseKey.toLowerCase() });
    const expected = ['NONE not_activated', 'changed: LICENSED', 'with the feature gpu', 'LKR1.'];
    assert.equal(printed, [...expected, 'entitlement_malformed', ''].join('\n'));
  },
);

test('names all calls of a client', async () => {
  const path = join(CLIENT, 'src', 'main', 'java', 'dev', 'latchkey', 'Latchkey.java');
  const source = await readFile(path, 'utf8');
  const calls = source.matchAll(/^ {4}public (?!static|record|enum)[\w<>]+ (\w+)\(/gm);
  const names = Array.from(calls, ([, name = '']) => name);
  assert.ok(names.length >= 15, names.join(' '));
  assert.deepEqual(
    names.filter((name) => !readme.includes(name)),
    [],
  );
});

test('the example activates, lists its machine, and deactivates it', { skip }, async () => {
  const { licenseKey } = await service.issue();
  await compile(join(CLIENT, 'example', 'Example.java'));
  const variables = {
    LICENSE_SERVICE: service.url,
    LICENSE_ISSUER: TEST_ISSUER,
    LICENSE_FOLDER: join(directory, 'example'),
  };
  const call = (...args: string[]) => runClass('Example', args, variables);
  assert.equal(await call(), 'No license yet: activate KEY, or trial.\n');
  const licensed = 'Licensed: personal. Runs without a network for 14 days.\n';
  assert.equal(await call('activate', licenseKey), licensed);
  assert.match(await call('machines'), /^[\da-f-]{36} {2}active {2}\(this one\)\n$/);
  assert.match(await call('explain'), /^state: licensed\n/);
  assert.equal(await call('deactivate'), 'No license yet: activate KEY, or trial.\n');
  assert.equal(await call('check'), 'Refused: not_activated.\n');
  assert.match(await call('help'), /^Commands: /);
});
