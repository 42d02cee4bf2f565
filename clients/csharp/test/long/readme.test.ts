/** Compiles and runs the code of the README, and the example, against the service. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  checkExample,
  checkNames,
  exampleVariables,
  readBlocks,
  startClientTest,
  useService,
} from '../../../conformance/programs/documented-programs.ts';
import { CLIENT, compile, runProgram, skip } from './mono.ts';

const { service, directory } = await startClientTest('csharp');

/** Returns a program with the code of the README. */
async function createProgram(): Promise<string> {
  const blocks = await readBlocks(CLIENT, 'csharp');
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
${useService(others.join('\n'), service)}
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
    await writeFile(source, await createProgram());
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
  await checkNames(
    CLIENT,
    Array.from(calls, ([, name = '']) => name),
    20,
  );
});

test('the example activates, lists its machine, and deactivates it', { skip }, async () => {
  const { licenseKey } = await service.issue();
  const program = join(directory, 'example.exe');
  await compile(program, ['example/Program.cs', 'test/long/RunMain.cs'], 'RunMain');
  const variables = exampleVariables(service, directory);
  await checkExample((...args) => runProgram(program, args, variables, directory), licenseKey);
});
