import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { glob, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { PACKAGES } from './bundle-packages.ts';
import { speedUpImports } from './speed-up-imports.ts';
import { repository } from './steps.ts';

/** Prints the result of an expression for each item of standard input. */
const renderProgram = (expression: string): string => `
  const { readFileSync } = await import('node:fs');
  const items = JSON.parse(readFileSync(0, 'utf8'));
  const results = await Promise.all(items.map(async (item) => ${expression}));
  console.log(JSON.stringify(results));`;

describe('speedUpImports', () => {
  let directory: string;
  let option: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'latchkey-imports-'));
    // A whole test run has already written one.
    option = findOption() ?? (await speedUpImports(join(directory, 'imports')));
  });
  after(() => rm(directory, { recursive: true }));

  /** Evaluates an expression for each item, in a module of the repository with and without the option. */
  function evaluate(items: readonly unknown[], expression: string): unknown[] {
    return [[option], []].map((options) => {
      const flags = ['--experimental-import-meta-resolve', '--input-type=module', '--eval'];
      const output = execFileSync(
        process.execPath,
        [...options, ...flags, renderProgram(expression)],
        {
          cwd: repository,
          env: { ...process.env, NODE_OPTIONS: '' },
          input: JSON.stringify(items),
          encoding: 'utf8',
        },
      );
      return JSON.parse(output);
    });
  }

  test('every import within the repository leads to the same module', async () => {
    const imports = await listOwnImports();
    assert.ok(imports.length > 4_000, `only ${imports.length} imports were found`);
    const [fast, usual] = evaluate(imports, 'import.meta.resolve(item.name, item.from)');
    assert.deepEqual(fast, usual);
  });

  test('a bundle exports the names of its package', () => {
    const expression = 'Object.keys(await import(item)).toSorted()';
    const [bundled, installed] = evaluate(PACKAGES, expression);
    assert.deepEqual(bundled, installed);
  });
});

/** Returns the option with which this process runs. */
function findOption(): string | undefined {
  return /--import=\S+\/imports\/resolve\.mjs/.exec(process.env['NODE_OPTIONS'] ?? '')?.[0];
}

/** Lists the imports of this repository's modules by others. */
async function listOwnImports(): Promise<{ name: string; from: string }[]> {
  const options = { cwd: repository, exclude: ['**/node_modules/**'] };
  const files = await Array.fromAsync(glob('*/**/*.ts', options));
  const imports = files.map(async (file) => {
    const path = join(repository, file);
    const text = await readFile(path, 'utf8');
    const names = text.matchAll(/^(?:import|export|\}) (?:.* )?from '(?<name>[.#@][^']+)';$/gm);
    return Array.from(names, ({ groups }) => groups?.['name'] ?? '')
      .filter((name) => /^(?:\.|#|@latchkey)/.test(name))
      .map((name) => ({ name, from: pathToFileURL(path).href }));
  });
  return (await Promise.all(imports)).flat();
}
