/** Runs the code of the README, and the example, against the service; and builds what PyPI expects. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { startTestService, TEST_ISSUER } from '../../../../server/test/harness.ts';

const WRITTEN_URL = 'http://127.0.0.1:8080';
const run = promisify(execFile);

const lacksPython = spawnSync('python3', ['--version']).status === 0 ? false : 'no python3';
const folder = fileURLToPath(new URL('../..', import.meta.url));
const directory = await mkdtemp(join(tmpdir(), 'latchkey-python-'));
after(() => rm(directory, { recursive: true }));

const service = await startTestService({
  clock: { now: () => new Date(), set: () => undefined, advance: () => undefined },
});
const readme = await readFile(join(folder, 'README.md'), 'utf8');
const blocks = Array.from(readme.matchAll(/^```python\n(.*?)^```$/gms), ([, block = '']) =>
  block
    .replaceAll(`issuer="${WRITTEN_URL}"`, `issuer="${TEST_ISSUER}"`)
    .replaceAll(WRITTEN_URL, service.url),
);

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
  { skip: lacksPython },
  async () => {
    const { licenseKey } = await service.issue();
    await writeFile(join(directory, 'program.py'), blocks.join('\n'));
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

test('names all calls of a client', { skip: lacksPython }, async () => {
  const script = 'import latchkey_client; print(*vars(latchkey_client.Latchkey))';
  const names = (await runPython(['-c', script])).trim().split(' ');
  assert.ok(names.includes('activate'));
  assert.deepEqual(
    names.filter((name) => !name.startsWith('_') && !readme.includes(name)),
    [],
  );
});

test(
  'the example activates, lists its machine, and deactivates it',
  { skip: lacksPython },
  async () => {
    const { licenseKey } = await service.issue();
    const variables = {
      LICENSE_SERVICE: service.url,
      LICENSE_ISSUER: TEST_ISSUER,
      LICENSE_FOLDER: join(directory, 'example'),
    };
    const call = (...args: string[]) =>
      runPython([join(folder, 'example', 'main.py'), ...args], variables);
    assert.equal(await call(), 'No license yet: activate KEY, or trial.\n');
    const licensed = 'Licensed: personal. Runs without a network for 14 days.\n';
    assert.equal(await call('activate', licenseKey), licensed);
    assert.match(await call('machines'), /^[\da-f-]{36} {2}active {2}\(this one\)\n$/);
    assert.match(await call('explain'), /^state: licensed$/m);
    assert.equal(await call('deactivate'), 'No license yet: activate KEY, or trial.\n');
  },
);

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

test('is packed with its types, and runs from the wheel', { skip: lacksBuilder }, async () => {
  const copy = join(directory, 'copy');
  await cp(folder, copy, { recursive: true });
  const wheels = join(directory, 'wheels');
  await mkdir(wheels);
  const { stderr } = await run('python3', ['-c', BUILD, copy, wheels]);
  const lines = stderr.trim().split('\n');
  const [name = '', ...files] = lines.slice(lines.findIndex((line) => line.endsWith('.whl')));
  assert.equal(name, 'latchkey_client-1.0.0-py3-none-any.whl');
  for (const file of ['', 'latchkey_client-1.0.0/src/']) {
    assert.ok(files.includes(`${file}latchkey_client/py.typed`), stderr);
  }
  const use =
    'import latchkey_client; print(latchkey_client.__version__, latchkey_client.__file__)';
  const wheel = join(wheels, name);
  const printed = await runPython(['-c', use], { PYTHONPATH: wheel });
  assert.equal(printed, `1.0.0 ${join(wheel, 'latchkey_client', '__init__.py')}\n`);
});
