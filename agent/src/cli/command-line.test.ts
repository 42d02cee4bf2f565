import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { test } from 'node:test';

import type { Command } from 'commander';

import { MAIN, runAgent, runCommand } from '../../test/agent-program.ts';
import { version } from '../version.ts';
import { buildProgram } from './program.ts';

test('prints the version of the package as text and as JSON', async () => {
  assert.match(
    (await runAgent('version')).stdout,
    new RegExp(`^latchkey-agent ${version} \\(Node.js `),
  );
  const printed: unknown = JSON.parse((await runCommand('version', '--json')).stdout);
  assert.deepEqual(printed, {
    version,
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
  });
});

test('help lists every command and shows examples', async () => {
  const { code, stdout } = await runCommand('--help');
  assert.equal(code, 0);
  assert.match(
    stdout,
    /once .*\n[^]*version .*\n[^]*Examples:\n {2}# The present figures of this machine\n/,
  );
  assert.match((await runCommand('once', '--help')).stdout, /latchkey-agent once --json \| jq/);
});

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => void (text += part) }).outputHelp();
  return text;
}

/** Returns the commands without those that only group others. */
function listCommands({ commands }: Command): Command[] {
  return commands.flatMap((each) => (each.commands.length > 0 ? listCommands(each) : each));
}

test('help of every command shows examples', () => {
  const commands = listCommands(buildProgram());
  assert.ok(commands.length >= 7);
  const without = commands.filter((command) => {
    const [, examples = ''] = helpOf(command).split('\nExamples:\n');
    return !new RegExp(`^ {2}# .+\\n {2}latchkey-agent .*\\b${command.name()}\\b`, 'u').test(
      examples,
    );
  });
  assert.deepEqual(
    without.map((command) => command.name()),
    [],
  );
});

test('exits with 2 for an invalid command line, with two lines on standard error at most', async () => {
  for (const [args, command, problem] of [
    [['nonsense'], '', "unknown command 'nonsense'"],
    [['wacth'], '', "unknown command 'wacth'\n(Did you mean watch?)"],
    [['validate', '--nope'], ' validate', "unknown option '--nope'"],
    [['validate', '--config'], ' validate', "option '-c, --config <file>' argument missing"],
    [['watch'], ' watch', "missing required argument 'address'"],
    [
      ['once', 'more'],
      ' once',
      "too many arguments for 'once'. Expected 0 arguments but got 1: more.",
    ],
  ] as const) {
    const stderr = `error: ${problem}\nTry: latchkey-agent${command} --help\n`;
    assert.deepEqual(await runCommand(...args), { code: 2, stdout: '', stderr });
  }
});

test('exits with 0 when the reader closes the pipe', async () => {
  const child = spawn(process.execPath, [MAIN, '--help']);
  child.stdout.destroy();
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  assert.deepEqual(await once(child, 'close'), [0, null]);
  assert.equal(said, '');
});

const lacksFull = existsSync('/dev/full') ? false : '/dev/full is missing';

test('exits with 1 when the output cannot be written', { skip: lacksFull }, () => {
  const full = openSync('/dev/full', 'w');
  const stdio = ['ignore', full, 'pipe'] as const;
  const ended = spawnSync(process.execPath, [MAIN, 'version'], {
    encoding: 'utf8',
    stdio: [...stdio],
  });
  closeSync(full);
  assert.deepEqual(
    [ended.status, ended.stderr],
    [1, 'Could not write the output: ENOSPC: no space left on device, write.\n'],
  );
});
