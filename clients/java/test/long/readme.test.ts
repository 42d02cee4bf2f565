/** Compiles and runs the code of the README, and the example, against the service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { findMissingNeed } from '../../../conformance/driver/clients.ts';
import {
  checkExample,
  checkNames,
  exampleVariables,
  readBlocks,
  startClientTest,
  useService,
} from '../../../conformance/programs/documented-programs.ts';

const CLIENT = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

const skip = findMissingNeed({ needs: ['javac', 'java'] }) ?? false;

const { service, directory } = await startClientTest('java');

/** Returns a program with the code of the README. */
async function createProgram(): Promise<string> {
  const blocks = await readBlocks(CLIENT, 'java');
  const [imports = '', ...others] = blocks;
  return `${imports}
public final class Program {
  public static void main(String[] arguments) throws Exception {
${useService(others.join('\n'), service)}
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
    await writeFile(path, await createProgram());
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
  await checkNames(
    CLIENT,
    Array.from(calls, ([, name = '']) => name),
    15,
  );
});

test('the example activates, lists its machine, and deactivates it', { skip }, async () => {
  const { licenseKey } = await service.issue();
  await compile(join(CLIENT, 'example', 'Example.java'));
  const variables = exampleVariables(service, directory);
  await checkExample((...args) => runClass('Example', args, variables), licenseKey);
});
