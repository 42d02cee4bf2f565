/** Checks the imports of all sources against `import-rules.ts`. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';

import { AGENT_LAYERS, FEATURES, SERVER_LAYERS, type ImportRule } from './import-rules.ts';
import { repository } from './lib/steps.ts';

interface Source {
  /** Below `server/src` or `agent/src`. */
  readonly file: string;
  readonly text: string;
  readonly imports: readonly { readonly target: string; readonly typesOnly: boolean }[];
}

const IMPORT =
  /^(?:import|export) (?<types>type )?[^;']*?from '(?<from>[^']+)'|^import '(?<bare>[^']+)'|\bimport\('(?<dynamic>[^']+)'\)/gm;

const sources = readSources('server/src');
const agentSources = readSources('agent/src');

test('the server imports only what its rules allow', () => {
  const wrong = sources.flatMap(({ file, imports }) =>
    imports
      .filter(({ target }) => /\.[cm]?[jt]s$/.test(target))
      .filter(
        ({ target }) => !isAllowed(SERVER_LAYERS, file, target) || !isKnown(FEATURES, file, target),
      )
      .map(({ target }) => `${file} imports ${target}`),
  );
  assert.deepEqual(wrong, []);
});

test('the agent imports only what its rules allow', () => {
  const wrong = agentSources.flatMap(({ file, imports }) =>
    imports
      .filter(({ target }) => /\.[cm]?[jt]s$/.test(target))
      .filter(({ target }) => !isAllowed(AGENT_LAYERS, file, target))
      .map(({ target }) => `${file} imports ${target}`),
  );
  assert.deepEqual(wrong, []);
});

test('the agent imports nothing from the server, and only types from the contract', () => {
  const wrong = agentSources.flatMap(({ file, imports }) =>
    imports
      .filter(
        ({ target }) => !(fits(file, 'watch') && target === '@latchkey/contract/agent-stream'),
      )
      .filter(({ target, typesOnly }) =>
        target === '@latchkey/contract' ? !typesOnly : /^(#server|@latchkey)/.test(target),
      )
      .map(({ target }) => `${file} imports ${target}`),
  );
  assert.deepEqual(wrong, []);
});

/** What the console loads of other packages: files without schemas and dependencies; its bundler leaves schemas out of `admin`. */
const LOADED_BY_CONSOLE =
  /^@latchkey\/(?:contract\/(?:admin\/[\w-]+|constants|fleet-lines|payment-providers|permissions)|agent\/fleet\/[\w/-]+\.(?:ts|css))$/;

test('the console imports nothing from the server, only types and plain files of the contract, and the fleet page of the agent', () => {
  const modules = readSources('console/src', /\.tsx?$/);
  assert.ok(modules.length > 40, 'the sources were not found');
  const wrong = modules.flatMap(({ file, imports }) =>
    imports
      .filter(({ target }) => !LOADED_BY_CONSOLE.test(target))
      .filter(({ target, typesOnly }) =>
        target === '@latchkey/contract'
          ? !typesOnly
          : /^(?:#server|#agent|@latchkey|node:|\.\.\/\.\.\/(?:server|agent))/.test(target),
      )
      .map(({ target }) => `${file} imports ${target}`),
  );
  assert.deepEqual(wrong, []);
  const contract = readSources('contract/src');
  for (const name of ['constants.ts', 'fleet-lines.ts', 'payment-providers.ts']) {
    assert.deepEqual(contract.find(({ file }) => file === name)?.imports, [], name);
  }
});

test('the rules name only existing paths', () => {
  assert.deepEqual(listUnknown([...SERVER_LAYERS, ...FEATURES], sources), []);
  assert.deepEqual(listUnknown(AGENT_LAYERS, agentSources), []);
});

test('the contract imports nothing of this repository', () => {
  const foreign = readSources('contract/src').flatMap(({ file, imports }) =>
    imports
      .filter(({ target }) => /^(#|@latchkey|\.\.)/.test(target))
      .map(({ target }) => `${file} imports ${target}`),
  );
  assert.deepEqual(foreign, []);
});

test('only db/ imports the driver', () => {
  const users = sources.filter(({ imports }) =>
    imports.some(({ target, typesOnly }) => target === 'pg' && !typesOnly),
  );
  assert.deepEqual(
    users.map(({ file }) => file).filter((file) => !fits(file, 'db')),
    [],
  );
});

test('rules and fingerprints use no clock and no input or output', () => {
  const pure = sources.filter(
    ({ file }) => fits(file, 'features/*/rules') || fits(file, 'features/*/fingerprint'),
  );
  assert.ok(pure.length > 10);
  const impure = pure.filter(
    ({ text, imports }) =>
      /new Date\(\)|Date\.now\(|performance\.|process\.|Math\.random/.test(text) ||
      imports.some(({ target }) => target.startsWith('node:') && target !== 'node:crypto'),
  );
  assert.deepEqual(
    impure.map(({ file }) => file),
    [],
  );
});

test('planning an installation uses no clock and no input or output', () => {
  const folders = ['plan', 'files', 'nginx', 'instructions'].map((name) => `install/${name}`);
  const pure = agentSources.filter(({ file }) => folders.some((folder) => fits(file, folder)));
  assert.ok(pure.length > 20);
  const harmless = new Set(['node:net', 'node:path']);
  const impure = pure.filter(
    ({ text, imports }) =>
      /new Date\(\)|Date\.now\(|performance\.|process\.(?:env|pid)|Math\.random/.test(text) ||
      imports.some(({ target }) => target.startsWith('node:') && !harmless.has(target)),
  );
  assert.deepEqual(
    impure.map(({ file }) => file),
    [],
  );
});

/** Whether the rule with the longest path that matches the file allows an import. */
function isAllowed(rules: readonly ImportRule[], file: string, target: string): boolean {
  const found = rules
    .flatMap((rule) => rule.from.map((path) => ({ path, rule })))
    .filter(({ path }) => fits(file, path))
    .sort((a, b) => b.path.length - a.path.length)[0];
  if (found === undefined) return true;
  const { path, rule } = found;
  const own = file.split('/', path.split('/').length).join('/');
  if (rule.not.some((each) => fits(target, each))) return false;
  return [own, ...rule.may].some((each) => fits(target, each));
}

/** Whether a feature imports itself, common code, or a feature that it may know. */
function isKnown(rules: readonly ImportRule[], file: string, target: string): boolean {
  const [feature] = /^features\/[^/]+/.exec(file) ?? [];
  if (feature === undefined || !fits(target, 'features') || fits(target, feature)) return true;
  if (fits(target, 'features/lists')) return true;
  const rule = rules.find(({ from }) => from.includes(feature));
  return rule?.may.some((path) => fits(target, path)) ?? false;
}

/** Whether a file is the path or below it; `*` matches any part of one name. */
function fits(file: string, path: string): boolean {
  const parts = file.split('/');
  return path.split('/').every((part, index) => matches(parts[index], part));
}

function matches(name: string | undefined, pattern: string): boolean {
  const [start = '', end] = pattern.split('*', 2);
  if (name === undefined || end === undefined) return name === pattern;
  const isLongEnough = name.length >= pattern.length - 1;
  return isLongEnough && name.startsWith(start) && name.endsWith(end);
}

function listUnknown(rules: readonly ImportRule[], known: readonly Source[]): string[] {
  return rules
    .flatMap(({ from, may, not }) => [...from, ...may, ...not])
    .filter((path) => !known.some(({ file }) => fits(file, path)));
}

/** Lists the sources of the product, without tests and fixtures. */
function readSources(folder: string, type = /\.ts$/): Source[] {
  const directory = join(repository, folder);
  const alias = `#${posix.dirname(folder)}/`;
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return files
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => type.test(file) && !/\.(test|fixture)\.ts$/.test(file))
    .map((file) => {
      const text = readFileSync(join(directory, file), 'utf8');
      const imports = [...text.matchAll(IMPORT)].map(({ groups = {} }) => ({
        target: resolve(file, groups['from'] ?? groups['bare'] ?? groups['dynamic'] ?? '', alias),
        typesOnly: groups['types'] !== undefined,
      }));
      return { file, text, imports };
    });
}

/** Returns a path below the folder of the sources, or the name of a package. */
function resolve(file: string, specifier: string, alias: string): string {
  if (specifier.startsWith(alias)) return specifier.slice(alias.length);
  if (!specifier.startsWith('.')) return specifier;
  return posix.join(posix.dirname(file), specifier);
}
