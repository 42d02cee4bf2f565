/** Compiles and runs the code of the README, and the example, against the service. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { startTestService, TEST_ISSUER } from '../../../../server/test/harness.ts';
import { CLIENT, compile, runProgram, skip } from './mono.ts';

const WRITTEN_URL = 'http://127.0.0.1:8080';

const service = await startTestService({
  clock: { now: () => new Date(), set: () => undefined, advance: () => undefined },
});
const directory = await mkdtemp(join(tmpdir(), 'latchkey-csharp-'));
after(() => rm(directory, { recursive: true }));

const readme = await readFile(join(CLIENT, 'README.md'), 'utf8');

/** Returns a program with the code of the README. */
function createProgram(): string {
  const blocks = Array.from(readme.matchAll(/^```csharp\n(.*?)^```$/gms), ([, block = '']) =>
    block
      .replaceAll(`Issuer = "${WRITTEN_URL}"`, `Issuer = "${TEST_ISSUER}"`)
      .replaceAll(WRITTEN_URL, service.url),
  );
  const [imports = '', ...others] = blocks;
  return `using System;
using System.Collections.Generic;
using System.Threading.Tasks;
${imports}
internal static class Program
{
    internal static void Main(string[] arguments) { RunAsync().Wait(); }

    private static async Task RunAsync()
    {
${others.join('\n')}
    }
}
`;
}

test(
  'its program starts, activates, asks for an answer without a connection, and sends an event',
  { skip },
  async () => {
    const { licenseKey } = await service.issue();
    const source = join(directory, 'Program.cs');
    const program = join(directory, 'program.exe');
    await writeFile(source, createProgram());
    await compile(program, [source, 'test/long/RunMain.cs'], 'RunMain');
    const variables = { KEY: licenseKey.toLowerCase() };
    const printed = await runProgram(program, [], variables, directory);
    const lines = printed.split('\n');
    // The event is raised beside the call.
    assert.equal(lines.filter((line) => line === 'changed: Licensed').length, 1);
    assert.deepEqual(
      lines.filter((line) => line !== 'changed: Licensed'),
      [
        'None not_activated',
        'with the feature gpu',
        'LKR1.',
        'entitlement_malformed',
        'sent 1',
        '',
      ],
    );
  },
);

test('names all calls of a client', async () => {
  const source = await readFile(join(CLIENT, 'src', 'Latchkey.cs'), 'utf8');
  const [, client = ''] = source.split('public sealed class Latchkey :');
  const calls = client.matchAll(/^ {8}public (?!const)[\w<>. ]+? (\w+)(?:\(| =>|;)/gm);
  const names = Array.from(calls, ([, name = '']) => name);
  assert.ok(names.length >= 20, names.join(' '));
  assert.deepEqual(
    names.filter((name) => !readme.includes(name)),
    [],
  );
});

test('the example activates, lists its machine, and deactivates it', { skip }, async () => {
  const { licenseKey } = await service.issue();
  const program = join(directory, 'example.exe');
  await compile(program, ['example/Program.cs', 'test/long/RunMain.cs'], 'RunMain');
  const variables = {
    LICENSE_SERVICE: service.url,
    LICENSE_ISSUER: TEST_ISSUER,
    LICENSE_FOLDER: join(directory, 'example'),
  };
  const call = (...args: string[]) => runProgram(program, args, variables, directory);
  assert.equal(await call(), 'No license yet: activate KEY, or trial.\n');
  const licensed = 'Licensed: personal. Runs without a network for 14 days.\n';
  assert.equal(await call('activate', licenseKey), licensed);
  assert.match(await call('machines'), /^[\da-f-]{36} {2}active {2}\(this one\)\n$/);
  assert.match(await call('explain'), /^state: licensed\n/);
  assert.equal(await call('deactivate'), 'No license yet: activate KEY, or trial.\n');
  assert.equal(await call('check'), 'Refused: not_activated.\n');
  assert.match(await call('help'), /^Commands: /);
});
