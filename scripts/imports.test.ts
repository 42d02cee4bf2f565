/** Checks the imports of all sources against the tables of ARCHITECTURE.md. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';

import { repository } from './lib/steps.ts';

interface Source {
  /** Below `server/src` or `agent/src`. */
  readonly file: string;
  readonly text: string;
  readonly imports: readonly { readonly target: string; readonly typesOnly: boolean }[];
}

interface Row {
  readonly from: readonly string[];
  readonly allowed: readonly string[];
  readonly forbidden: readonly string[];
}

const IMPORT =
  /^(?:import|export) (?<types>type )?[^;']*?from '(?<from>[^']+)'|^import '(?<bare>[^']+)'|\bimport\('(?<dynamic>[^']+)'\)/gm;

const sources = readSources('server/src');
const agentSources = readSources('agent/src');
const document = readFileSync(join(repository, 'ARCHITECTURE.md'), 'utf8');

test('imports only what the tables of ARCHITECTURE.md allow', () => {
  const rows = readTable('From');
  const between = readTable('Feature');
  assert.ok(rows.length >= 8 && between.length >= 3, 'the tables were not found');
  const wrong = sources.flatMap(({ file, imports }) =>
    imports
      .filter(({ target }) => /\.[cm]?[jt]s$/.test(target))
      .filter(({ target }) => !isAllowed(rows, file, target) || !isKnown(between, file, target))
      .map(({ target }) => `${file} imports ${target}`),
  );
  assert.deepEqual(wrong, []);
});

test('the agent imports only what its table allows', () => {
  const rows = readTable('In the agent');
  assert.ok(rows.length >= 3, 'the table was not found');
  const wrong = agentSources.flatMap(({ file, imports }) =>
    imports
      .filter(({ target }) => /\.[cm]?[jt]s$/.test(target))
      .filter(({ target }) => !isAllowed(rows, file, target))
      .map(({ target }) => `${file} imports ${target}`),
  );
  assert.deepEqual(wrong, []);
  const missing = rows
    .flatMap(({ from, allowed, forbidden }) => [...from, ...allowed, ...forbidden])
    .filter((path) => !agentSources.some(({ file }) => fits(file, path)));
  assert.deepEqual(missing, []);
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

/** What the console loads of other packages: files without schemas and dependencies. */
const LOADED_BY_CONSOLE =
  /^@latchkey\/(?:contract\/(?:constants|fleet-lines|payment-providers)|agent\/fleet\/[\w/-]+\.(?:ts|css))$/;

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

test('the tables contain only existing paths', () => {
  const named = ['From', 'Feature'].flatMap(readTable);
  const paths = named.flatMap(({ from, allowed, forbidden }) => [
    ...from,
    ...allowed,
    ...forbidden,
  ]);
  const missing = paths.filter((path) => !sources.some(({ file }) => fits(file, path)));
  assert.deepEqual(missing, []);
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

/** Returns the row with the longest path that matches the file. */
function isAllowed(rows: readonly Row[], file: string, target: string): boolean {
  const found = rows
    .flatMap((row) => row.from.map((path) => ({ path, row })))
    .filter(({ path }) => fits(file, path))
    .sort((a, b) => b.path.length - a.path.length)[0];
  if (found === undefined) return true;
  const { path, row } = found;
  const own = file.split('/', path.split('/').length).join('/');
  if (row.forbidden.some((each) => fits(target, each))) return false;
  return [own, ...row.allowed].some((each) => fits(target, each));
}

/** Whether a feature imports itself, common code, or a feature in its row. */
function isKnown(rows: readonly Row[], file: string, target: string): boolean {
  const [feature] = /^features\/[^/]+/.exec(file) ?? [];
  if (feature === undefined || !fits(target, 'features') || fits(target, feature)) return true;
  const row = rows.find(({ from }) => from.includes(feature));
  return row?.allowed.some((path) => fits(target, path)) ?? false;
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

/** Returns the rows of the table with this first heading; text in backquotes is a path. */
function readTable(heading: string): Row[] {
  const [, body = ''] =
    new RegExp(`^\\| ${heading} .*\\n\\| -.*\\n((?:\\|.*\\n)+)`, 'm').exec(document) ?? [];
  return body
    .trimEnd()
    .split('\n')
    .map((line) => line.split('|').slice(1, -1))
    .map(([from, allowed, forbidden]) => ({
      from: readPaths(from),
      allowed: readPaths(allowed),
      forbidden: readPaths(forbidden),
    }));
}

function readPaths(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
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
