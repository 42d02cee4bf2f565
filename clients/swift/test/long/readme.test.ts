/** Builds the programs of the README and the example with SwiftPM, and runs them against the service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
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
const skip = findMissingNeed({ needs: ['swift'], linux_headers: ['openssl/evp.h'] }) ?? false;

const { service, directory } = await startClientTest('swift');

/** Builds and runs a program of a package, and returns what it prints. */
async function runProgram(
  folder: string,
  [name, ...args]: readonly [string, ...string[]],
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const options = { cwd: directory, env: { ...process.env, ...variables } };
  const command = ['run', '--quiet', '--package-path', folder, name, ...args];
  return (await run('swift', command, options)).stdout;
}

const isSource = (path: string): boolean => !path.includes('.build');

/** Writes the program of the README as a package beside a copy of the client. */
async function writeProgram(): Promise<string> {
  const folder = join(directory, 'program');
  const sources = join(folder, 'Sources', 'my-program');
  const [manifest = '', ...blocks] = await readBlocks(CLIENT, 'swift');
  await mkdir(sources, { recursive: true });
  await writeFile(join(folder, 'Package.swift'), manifest);
  await writeFile(join(sources, 'main.swift'), useService(blocks.join('\n'), service));
  await cp(CLIENT, join(folder, 'latchkey-client'), { recursive: true, filter: isSource });
  return folder;
}

test(
  'its program starts, activates, and asks for an answer without a connection',
  { skip, timeout: 1_200_000 },
  async () => {
    const { licenseKey } = await service.issue();
    const variables = { KEY: licenseKey.toLowerCase() };
    const printed = await runProgram(await writeProgram(), ['my-program'], variables);
    const lines = printed.split('\n');
    // The change is printed beside the call.
    assert.equal(lines.filter((line) => line === 'changed: licensed').length, 1);
    assert.deepEqual(
      lines.filter((line) => line !== 'changed: licensed'),
      ['none not_activated', 'with the feature gpu', 'LKR1.', 'entitlement_malformed', ''],
    );
  },
);

test('names all calls of a client', async () => {
  const sources = join(CLIENT, 'Sources', 'LatchkeyClient');
  const files = ['Latchkey.swift', 'Background.swift'].map((name) => join(sources, name));
  const texts = await Promise.all(files.map((path) => readFile(path, 'utf8')));
  const calls = texts.join('').matchAll(/^ {2}public func (\w+)/gm);
  await checkNames(
    CLIENT,
    Array.from(calls, ([, name = '']) => name),
    14,
  );
});

test(
  'the example activates, lists its machine, and deactivates it',
  { skip, timeout: 1_200_000 },
  async () => {
    const { licenseKey } = await service.issue();
    const folder = join(directory, 'example');
    await cp(CLIENT, folder, { recursive: true, filter: isSource });
    const variables = exampleVariables(service, directory);
    const call = (...args: string[]) => runProgram(folder, ['LatchkeyExample', ...args], variables);
    await checkExample(call, licenseKey);
  },
);
