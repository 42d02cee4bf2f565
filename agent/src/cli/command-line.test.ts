import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import type { Command } from 'commander';

import { version } from '../version.ts';
import { buildProgram } from './program.ts';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('the version is that of the package, for people and for programs', () => {
  assert.match(run('version').stdout, new RegExp(`^latchkey-agent ${version} \\(Node.js `));
  const printed: unknown = JSON.parse(run('version', '--json').stdout);
  assert.deepEqual(printed, {
    version,
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
  });
});

test('the help names every command and shows examples', () => {
  const { status, stdout } = run('--help');
  assert.equal(status, 0);
  assert.match(
    stdout,
    /once .*\n[^]*version .*\n[^]*Examples:\n {2}# What this machine does now\n/,
  );
  assert.match(run('once', '--help').stdout, /latchkey-agent once --json \| jq/);
});

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => void (text += part) }).outputHelp();
  return text;
}

/** Commands that do something, and not those that only hold others. */
function listCommands({ commands }: Command): Command[] {
  return commands.flatMap((each) => (each.commands.length > 0 ? listCommands(each) : each));
}

test('every command shows examples of itself', () => {
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

test('what is not understood ends with 2 and says so on standard error only, in a line or two', () => {
  for (const [args, problem] of [
    [['nonsense'], "unknown command 'nonsense'"],
    [['wacth'], "unknown command 'wacth'\n(Did you mean watch?)"],
    [['validate', '--nope'], "unknown option '--nope'"],
    [['validate', '--config'], "option '-c, --config <file>' argument missing"],
    [['watch'], "missing required argument 'address'"],
    [['once', 'more'], "too many arguments for 'once'. Expected 0 arguments but got 1: more."],
  ] as const) {
    const stderr = `error: ${problem}\nAdd --help to see what is understood.\n`;
    assert.deepEqual(run(...args), { status: 2, stdout: '', stderr });
  }
});
