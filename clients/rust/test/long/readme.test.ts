/** Packs the crate, and runs the code of its README and its example against the service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import {
  checkExample,
  checkNames,
  exampleVariables,
  readBlocks,
  startClientTest,
  useService,
} from '../../../conformance/programs/documented-programs.ts';
import { CRATE, runCargo, WITHOUT_CARGO } from '../cargo.ts';

const run = promisify(execFile);

const { service, directory } = await startClientTest('rust-readme');

/** Returns the code of the README as one program, for the service of the test. */
async function readProgram(): Promise<string> {
  const code = useService((await readBlocks(CRATE, 'rust')).join('\n'), service);
  return `fn main() -> Result<(), Box<dyn std::error::Error>> {\n${code}\nOk(())\n}\n`;
}

/** Packs the crate as it is published, and returns the folder of its files. */
async function packCrate(): Promise<string> {
  const target = join(directory, 'target');
  const flags = ['--quiet', '--locked', '--allow-dirty', '--no-verify', '--target-dir', target];
  await runCargo(['package', ...flags]);
  const manifest = await readFile(join(CRATE, 'Cargo.toml'), 'utf8');
  const [, version] = /^version = "(.+)"$/m.exec(manifest) ?? [];
  const name = `latchkey-client-${version}`;
  await run('tar', ['-xzf', join(target, 'package', `${name}.crate`), '-C', directory]);
  return join(directory, name);
}

/** Creates a crate that uses the packed one: the README and the example are its programs. */
async function createPrograms(): Promise<string> {
  const packed = await packCrate();
  const folder = join(directory, 'programs');
  await mkdir(join(folder, 'src', 'bin'), { recursive: true });
  const manifest = `[package]\nname = "programs"\nversion = "0.0.0"\nedition = "2024"\n
[dependencies]\nlatchkey-client = { path = '${packed}' }\n`;
  await writeFile(join(folder, 'Cargo.toml'), manifest);
  await copyFile(join(packed, 'Cargo.lock'), join(folder, 'Cargo.lock'));
  await writeFile(join(folder, 'src', 'bin', 'readme.rs'), await readProgram());
  const example = join(packed, 'examples', 'terminal.rs');
  await copyFile(example, join(folder, 'src', 'bin', 'terminal.rs'));
  return folder;
}

test(
  'the packed crate runs the code of the README and the example',
  { skip: WITHOUT_CARGO },
  async () => {
    const folder = await createPrograms();
    // What was compiled for the crate before is used again.
    const target = { CARGO_TARGET_DIR: process.env['CARGO_TARGET_DIR'] ?? join(CRATE, 'target') };
    const runProgram = (args: readonly string[], variables: Record<string, string>) =>
      runCargo(['run', '--quiet', '--bin', ...args], folder, { ...target, ...variables });
    const bought = await service.issue();
    const printed = await runProgram(['readme'], { KEY: bought.licenseKey.toLowerCase() });
    assert.equal(
      printed,
      [
        'none not_activated',
        'changed: licensed',
        'with the feature gpu: true',
        'LKR1.',
        'entitlement_malformed',
        'sent 1',
        '',
      ].join('\n'),
    );
    const other = await service.issue();
    const variables = exampleVariables(service, directory);
    const call = (...args: string[]) => runProgram(['terminal', '--', ...args], variables);
    await checkExample(call, other.licenseKey);
  },
);

test('the README names all calls of a client', async () => {
  const source = await readFile(join(CRATE, 'src', 'lib.rs'), 'utf8');
  const calls = source.slice(source.indexOf('impl Latchkey {'));
  await checkNames(
    CRATE,
    Array.from(calls.matchAll(/^ {4}pub fn (\w+)/gm), ([, name = '']) => name),
    19,
  );
});
