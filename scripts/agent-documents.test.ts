/** Checks that docs/operations/agent.md documents all options, settings, paths and checks of the agent. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { buildProgram } from '../agent/src/cli/program.ts';
import { parseYaml } from '../agent/src/config/yaml-source.ts';
import { paths } from '../agent/src/install/paths.ts';
import { repository } from './lib/steps.ts';

const page = read('docs/operations/agent.md');
const program = buildProgram();

function read(path: string): string {
  return readFileSync(join(repository, path), 'utf8');
}

/** Returns the words that the page does not contain as code. */
function findUnnamed(words: readonly string[]): string[] {
  assert.ok(words.length > 2, `the list of them was not found: ${words.join(' ')}`);
  return words.filter((word) => !page.includes(`\`${word}\``));
}

function findAll(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found);
}

test('documents every variable and flag of the installation in a table', () => {
  const options = read('agent/src/install/options.ts');
  const sources = [...options.matchAll(/flag: '(--[a-z-]+)', variable: '(LATCHKEY_\w+)'/g)];
  assert.ok(sources.length > 10);
  const missing = sources.filter(
    ([, flag = '', variable = '']) =>
      !new RegExp(`^\\| \`${variable}\` +\\| \`${flag}\` +\\|`, 'm').test(page),
  );
  assert.deepEqual(missing, []);
  const install = program.commands.find((command) => command.name() === 'install');
  const flags = install?.options.map(({ long }) => long ?? '') ?? [];
  assert.deepEqual(findUnnamed(flags), []);
  const script = findAll(read('agent/install.sh'), /^# (LATCHKEY_AGENT_[A-Z0-9_]+)/gm);
  assert.deepEqual(findUnnamed(script), []);
});

test('documents every path that an installation writes', () => {
  assert.deepEqual(findUnnamed(Object.values(paths)), []);
});

test('documents every check of the doctor with a symptom', () => {
  const names = /CheckName =\n(.*?);/s.exec(read('agent/src/doctor/finding.ts'))?.[1] ?? '';
  const [, table = ''] = page.split('| Symptom');
  const missing = findAll(names, /'(\w+)'/g).filter((name) => !table.includes(`\`${name}\``));
  assert.ok(names.length > 100);
  assert.deepEqual(missing, []);
});

test('documents every event of the log in a table', () => {
  const types = read('agent/src/log.ts').split('/** The log of the agent')[0] ?? '';
  const events = findAll(types, /^ {2}\| '([\w.]+)'/gm);
  assert.ok(events.length > 10);
  const missing = events.filter((event) => !new RegExp(`^\\| \`${event}\` +\\|`, 'm').test(page));
  assert.deepEqual(missing, []);
});

test('documents every setting of the configuration', async () => {
  const { root } = await parseYaml(read('agent/agent.example.yaml'));
  assert.deepEqual(findUnnamed(listKeys(root)), []);
});

function listKeys(value: unknown, above: readonly string[] = []): string[] {
  const isInner = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isInner) return [above.join('.')];
  return Object.entries(value).flatMap(([key, below]) => listKeys(below, [...above, key]));
}

test('documents every subprotocol', () => {
  const source = read('agent/src/stream/admission.ts');
  assert.deepEqual(findUnnamed(findAll(source, /^ {2}'(latchkey\.[\w.-]+)',$/gm)), []);
});

test('the first steps describe every command of the agent', () => {
  const lines = read('docs/first-steps-agent.md').split('\n');
  const rows = lines.filter((line) => line.startsWith('| `latchkey-agent '));
  const names = program.commands.map((command) => command.name());
  assert.deepEqual(
    // Only a unit runs open-port, and the help does not list it.
    names.filter((name) => name !== 'open-port' && !hasWord(rows, name)),
    [],
  );
});

function hasWord(rows: readonly string[], name: string): boolean {
  return rows.some((row) => new RegExp(`\`(?:latchkey-agent )?${name}(?: [a-z]+)?\``).test(row));
}

test('documents only existing commands and flags of the agent', () => {
  const documents = globSync(['docs/first-steps-agent.md', 'docs/operations/*.md'], {
    cwd: repository,
  });
  const unknown = documents.flatMap((file) => {
    const calls = findAll(read(file), /latchkey-agent(?:\.mjs)? ([a-z][^`\n|;&]*)/g);
    return calls.filter((call) => !isCommand(call)).map((call) => `${file}: ${call}`);
  });
  assert.deepEqual(unknown, []);
});

/** Whether a call consists of an existing command, subcommand and flags. */
function isCommand(call: string): boolean {
  const [name = '', below = ''] = call.split(/\s+/);
  const command = program.commands.find((each) => each.name() === name);
  if (command === undefined) return false;
  const inner = command.commands.find((each) => each.name() === below);
  if (command.commands.length > 0 && below !== '' && inner === undefined) return false;
  const known = new Set((inner ?? command).options.map(({ long }) => long));
  return findAll(call, /(?<=\s)(--[a-z0-9-]+)/g).every((flag) => known.has(flag));
}
