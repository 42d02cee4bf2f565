/** Installs the library, and runs the code of its README and its example against the service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';

import { startTestService, TEST_ISSUER } from '../../../../server/test/harness.ts';
import { findMissingProgram } from '../../../conformance/driver/clients.ts';

const WRITTEN_URL = 'http://127.0.0.1:8080';
const FOLDER = join(import.meta.dirname, '..', '..');

// Debian's development package of libcurl has curl-config.
const skip = findMissingProgram({ needs: ['cmake', 'c++', 'make', 'curl-config'] }) ?? false;
const run = promisify(execFile);

const service = await startTestService({
  clock: { now: () => new Date(), set: () => undefined, advance: () => undefined },
});
const directory = await mkdtemp(join(tmpdir(), 'latchkey-cpp-package-'));
after(() => rm(directory, { recursive: true }));

const readme = await readFile(join(FOLDER, 'README.md'), 'utf8');
const at = (name: string): string => join(directory, name);

/** Returns the blocks of a language in the README, for the service of the test. */
function readBlocks(language: string): string {
  const pattern = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms');
  return Array.from(readme.matchAll(pattern), ([, block = '']) => block)
    .join('\n')
    .replaceAll(`issuer = "${WRITTEN_URL}"`, `issuer = "${TEST_ISSUER}"`)
    .replaceAll(WRITTEN_URL, service.url);
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
  await writeFile(join(at('program'), 'CMakeLists.txt'), readBlocks('cmake') + example);
  const includes = ['cstdlib', 'iostream', 'latchkey/latchkey.hpp'].map(
    (name) => `#include <${name}>\n`,
  );
  const main = `${includes.join('')}int main() {\n${readBlocks('cpp')}}\n`;
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
  const variables = {
    LICENSE_SERVICE: service.url,
    LICENSE_ISSUER: TEST_ISSUER,
    LICENSE_FOLDER: at('example'),
  };
  const terminal = (...args: string[]) => call('terminal', args, variables);
  assert.equal(await terminal(), 'No license yet: activate KEY, or trial.\n');
  const licensed = 'Licensed: personal. Runs without a network for 14 days.\n';
  assert.equal(await terminal('activate', other.licenseKey), licensed);
  assert.match(await terminal('machines'), /^[\da-f-]{36} {2}active {2}\(this one\)\n$/);
  assert.match(await terminal('explain'), /^state: licensed$/m);
  assert.equal(await terminal('deactivate'), 'No license yet: activate KEY, or trial.\n');
});

test('the README names all calls of a client', async () => {
  const header = await readFile(join(FOLDER, 'include', 'latchkey', 'latchkey.hpp'), 'utf8');
  const calls = header.slice(header.indexOf('class Latchkey {'));
  const names = Array.from(calls.matchAll(/^ {2}[\w:<>]+ (\w+)\(/gm), ([, name = '']) => name);
  assert.ok(names.length > 15);
  assert.deepEqual(
    names.filter((name) => !readme.includes(name)),
    [],
  );
});
