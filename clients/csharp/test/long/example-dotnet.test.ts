/** Uses the program of examples/dotnet against the service. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';

import { startTestService, TEST_ISSUER } from '../../../../server/test/harness.ts';
import { readBlocks } from '../../../conformance/programs/documented-programs.ts';
import { CLIENT, compile, run, skip } from './mono.ts';

const EXAMPLE = join(CLIENT, '..', '..', 'examples', 'dotnet');

const service = await startTestService({
  clock: { now: () => new Date(), set: () => undefined, advance: () => undefined },
});
const directory = await mkdtemp(join(tmpdir(), 'latchkey-dotnet-'));
after(() => rm(directory, { recursive: true }));

const program = join(directory, 'exporter.exe');

/** Enters commands, one a line, and returns what is shown. */
async function use(folder: string, commands: readonly string[]): Promise<string> {
  const variables = {
    LICENSE_SERVICE: service.url,
    LICENSE_ISSUER: TEST_ISSUER,
    LICENSE_FOLDER: join(directory, folder),
  };
  const child = spawn('mono', [program], {
    env: { ...process.env, ...variables },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(`${commands.join('\n')}\n`);
  const [shown] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return shown;
}

test('the command of the README compiles the program', { skip }, async () => {
  const [commands = ''] = await readBlocks(EXAMPLE, 'sh');
  const [command = ''] = commands.split('\n');
  const compiled = join(directory, 'documented.exe');
  await run('sh', ['-euc', command.replace('/tmp/exporter.exe', compiled)], { cwd: EXAMPLE });
  assert.ok((await stat(compiled)).size > 0);
});

test('the program shows a trial, a wrong key, a license, and its export', { skip }, async () => {
  const files = ['LicenseView.cs', 'Program.cs'].map((name) => join(EXAMPLE, name));
  await compile(program, [...files, 'test/long/RunMain.cs'], 'RunMain');
  const { licenseKey } = await service.issue();
  const wrong = licenseKey.slice(0, -1) + (licenseKey.endsWith('7') ? '8' : '7');
  const commands = [
    'export',
    `key ${wrong}`,
    'trial',
    `key ${licenseKey}`,
    'export',
    'deactivate',
    'help',
  ];
  const none = '== No license ==\nEnter a key, or try the program for some days.\n';
  const expected = [
    none,
    `Export needs a license.\n${none}`,
    `${none}! This key has a typing error.\n`,
    '== Trial ==\n7 days left.\n',
    '== Licensed: personal ==\nRuns without a network for 14 days.\n',
    'Exported on the graphics card.\n',
    '== Licensed: personal ==\nRuns without a network for 14 days.\n',
    none,
    `Commands: key KEY, trial, check, free NUMBER, deactivate, export, quit\n${none}`,
  ];
  assert.equal(await use('first', commands), expected.join(''));
});

test(
  'the program frees another computer, and shows that a license was revoked',
  { skip },
  async () => {
    const { license, licenseKey } = await service.issue({ maxActivations: 1 });
    const other = { license_key: licenseKey, machine_fingerprint: { machine_id: 'another' } };
    assert.equal((await service.post('/api/v1/licenses/activate', other)).status, 200);
    const moved = await use('moved', [`key ${licenseKey}`, 'free 1']);
    assert.match(
      moved,
      /^! The license is in use on one computer\. Choose one to free\.\n1: unknown system, last used [\d-]{10}$/m,
    );
    assert.match(moved, /== Licensed: personal ==\nRuns without a network for 14 days\.\n$/);
    await service.setFacts(license.id, { revoked_at: new Date() });
    const shown = await use('moved', ['check']);
    assert.match(
      shown,
      /== The license was refused ==\nThe license was revoked\. Please write to us\.\n! The license/,
    );
  },
);
