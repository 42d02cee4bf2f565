/** Runs the code of the README, and the example, against the service; and builds what PyPI expects. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
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

const run = promisify(execFile);

const skip = findMissingNeed({ needs: ['python3'] }) ?? false;
const folder = join(import.meta.dirname, '..', '..');
const { service, directory } = await startClientTest('python');

async function runPython(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  const path = join(folder, 'src');
  const env = { ...process.env, PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1', ...variables };
  return (await run('python3', [...args], { cwd: directory, env })).stdout;
}

test(
  'its program starts, activates, and asks for an answer without a connection',
  { skip },
  async () => {
    const { licenseKey } = await service.issue();
    const code = (await readBlocks(folder, 'python')).join('\n');
    await writeFile(join(directory, 'program.py'), useService(code, service));
    const printed = await runPython(['program.py'], { KEY: licenseKey.toLowerCase() });
    const lines = [
      'none not_activated',
      'changed: licensed',
      'with the feature gpu',
      'LKR1.',
      'entitlement_malformed',
    ];
    assert.equal(printed, `${lines.join('\n')}\n`);
  },
);

test('names all calls of a client', { skip }, async () => {
  const script = 'import latchkey_client; print(*vars(latchkey_client.Latchkey))';
  const names = (await runPython(['-c', script])).trim().split(' ');
  await checkNames(
    folder,
    names.filter((name) => !name.startsWith('_')),
    15,
  );
});

test('the example activates, lists its machine, and deactivates it', { skip }, async () => {
  const { licenseKey } = await service.issue();
  const variables = exampleVariables(service, directory);
  const example = join(folder, 'example', 'main.py');
  await checkExample((...args) => runPython([example, ...args], variables), licenseKey);
});

/** setuptools from version 77 reads the license of `pyproject.toml`. */
const CAN_BUILD = 'import setuptools; assert int(setuptools.__version__.split(".")[0]) >= 77';
const lacksBuilder =
  spawnSync('python3', ['-c', CAN_BUILD]).status === 0 ? false : 'no setuptools 77';

const BUILD = `
import os, sys, tarfile, zipfile
from setuptools import build_meta
_, source, target = sys.argv
os.chdir(source)
wheel, archive = build_meta.build_wheel(target), build_meta.build_sdist(target)
os.chdir(target)
print(wheel, *zipfile.ZipFile(wheel).namelist(), *tarfile.open(archive).getnames(), sep="\\n", file=sys.__stderr__)
`;

const VERSION_FILE = join(folder, 'src', 'latchkey_client', '_version.py');

test('is packed with its types, and runs from the wheel', { skip: lacksBuilder }, async () => {
  const [, version] = /^__version__ = "(.+)"$/m.exec(await readFile(VERSION_FILE, 'utf8')) ?? [];
  const copy = join(directory, 'copy');
  await cp(folder, copy, { recursive: true });
  const wheels = join(directory, 'wheels');
  await mkdir(wheels);
  const { stderr } = await run('python3', ['-c', BUILD, copy, wheels]);
  const lines = stderr.trim().split('\n');
  const [name = '', ...files] = lines.slice(lines.findIndex((line) => line.endsWith('.whl')));
  assert.equal(name, `latchkey_client-${version}-py3-none-any.whl`);
  for (const file of ['', `latchkey_client-${version}/src/`]) {
    assert.ok(files.includes(`${file}latchkey_client/py.typed`), stderr);
  }
  const use =
    'import latchkey_client; print(latchkey_client.__version__, latchkey_client.__file__)';
  const wheel = join(wheels, name);
  const printed = await runPython(['-c', use], { PYTHONPATH: wheel });
  assert.equal(printed, `${version} ${join(wheel, 'latchkey_client', '__init__.py')}\n`);
});
