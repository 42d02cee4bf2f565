/** Runs the code of the README, and the example, against the service. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
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
const skip = findMissingNeed({ needs: ['go', 'gofmt'] }) ?? false;

const { service, directory } = await startClientTest('go');

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
  { skip },
  async () => {
    const { licenseKey } = await service.issue();
    const written = (await readBlocks(CLIENT, 'go')).join('\n');
    const formatted = spawnSync('gofmt', { input: written, encoding: 'utf8' }).stdout;
    assert.equal(formatted, written, 'the code of the README is not formatted');
    await writeFile(join(directory, 'main.go'), useService(written, service));
    const module = ['module example.com/program', 'go 1.19', 'require latchkey.dev/client v0.0.0'];
    const lines = [...module, `replace latchkey.dev/client => ${CLIENT}`];
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
  const names = (await readdir(CLIENT)).filter((name) => /^[a-z]+\.go$/.test(name));
  const sources = await Promise.all(names.map((name) => readFile(join(CLIENT, name), 'utf8')));
  const calls = sources.join('').matchAll(/^func \(c \*Client\) ([A-Z]\w+)/gm);
  await checkNames(
    CLIENT,
    Array.from(calls, ([, name = '']) => name),
    15,
  );
});

test('the example activates, lists its machine, and deactivates it', { skip }, async () => {
  const { licenseKey } = await service.issue();
  const example = await build(join(CLIENT, 'example'), 'example');
  const variables = exampleVariables(service, directory);
  await checkExample((...args) => runProgram(example, variables, ...args), licenseKey);
});
