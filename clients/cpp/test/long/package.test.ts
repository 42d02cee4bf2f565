/** Installs the library, and runs the code of its README and its example against the service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
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

const FOLDER = join(import.meta.dirname, '..', '..');

const skip =
  findMissingNeed({
    needs: ['cmake', 'c++', 'make'],
    linux_headers: ['openssl/evp.h', 'curl/curl.h'],
  }) ?? false;
const run = promisify(execFile);

const { service, directory } = await startClientTest('cpp-package');

const at = (name: string): string => join(directory, name);

/** Returns the code of a language in the README, for the service of the test. */
async function readCode(language: string): Promise<string> {
  return useService((await readBlocks(FOLDER, language)).join('\n'), service);
}

async function cmake(...args: string[]): Promise<void> {
  await run('cmake', args, { env: { ...process.env, CMAKE_BUILD_PARALLEL_LEVEL: '2' } });
}

/** Installs the library in a folder of the test. */
async function install(): Promise<void> {
  await cmake('-S', FOLDER, '-B', at('library'), '-DLATCHKEY_BUILD_TESTS=OFF');
  await cmake('--build', at('library'));
  await cmake('--install', at('library'), '--prefix', at('installed'));
}

/** Builds the program of the README, and the example, with the installed library. */
async function buildPrograms(): Promise<void> {
  await mkdir(at('program'));
  const example =
    'add_executable(terminal terminal.cpp)\ntarget_link_libraries(terminal latchkey::latchkey)\n';
  await writeFile(join(at('program'), 'CMakeLists.txt'), (await readCode('cmake')) + example);
  const includes = ['cstdlib', 'iostream', 'latchkey/latchkey.hpp'].map(
    (name) => `#include <${name}>\n`,
  );
  const main = `${includes.join('')}int main() {\n${await readCode('cpp')}}\n`;
  await writeFile(join(at('program'), 'main.cpp'), main);
  await copyFile(join(FOLDER, 'example', 'terminal.cpp'), join(at('program'), 'terminal.cpp'));
  await cmake('-S', at('program'), '-B', at('built'), `-DCMAKE_PREFIX_PATH=${at('installed')}`);
  await cmake('--build', at('built'));
}

async function call(name: string, args: readonly string[], variables: Record<string, string>) {
  const options = { cwd: directory, env: { ...process.env, ...variables } };
  const { stdout } = await run(join(at('built'), name), args, options);
  return stdout;
}

test('the installed library runs the code of the README and the example', { skip }, async () => {
  await install();
  await buildPrograms();
  const bought = await service.issue();
  assert.equal(
    await call('my-program', [], { KEY: bought.licenseKey.toLowerCase() }),
    [
      'none not_activated',
      'changed: licensed',
      'with the feature gpu',
      'LKR1.',
      'entitlement_malformed',
      '',
    ].join('\n'),
  );
  const other = await service.issue();
  const variables = exampleVariables(service, directory);
  await checkExample((...args) => call('terminal', args, variables), other.licenseKey);
});

test('the README names all calls of a client', async () => {
  const header = await readFile(join(FOLDER, 'include', 'latchkey', 'latchkey.hpp'), 'utf8');
  const calls = header.slice(header.indexOf('class Latchkey {'));
  await checkNames(
    FOLDER,
    Array.from(calls.matchAll(/^ {2}[\w:<>]+ (\w+)\(/gm), ([, name = '']) => name),
    16,
  );
});
