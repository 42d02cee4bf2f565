/** Finds exports that could be private, and those that only tests use. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';

import { repository } from './lib/steps.ts';

/** Exports that only the tests of documents and `openapi.json` use, and those that nothing needs yet. */
const ALLOWED = new Set([
  // The bundler of the console uses it.
  'contract/src/operation.ts: isOperation',
  'contract/src/payment-providers.ts: decimalsOf',
  'agent/src/roots.ts: rootsBelow',
  'server/src/features/analytics/queries/roll-up-usage.ts: CONVERSION_DAYS',
  'server/src/features/analytics/remove-old-data.ts: EVENT_IDS_KEPT_DAYS',
  'server/src/features/analytics/rules/select-events.ts: DROP_REASONS',
  'server/src/features/analytics/rules/rollup-marks.ts: isSettled',
  'server/src/http/docs/describe-interface.ts: interfaceDescription',
]);

/** Also matches `await import(…)`, and `* as`, which imports every name. */
const IMPORT =
  /(?:\{(?<names>[^{}]*)\}|\* as \w+)(?: from |\s*=\s*await import\()'(?<from>[^']+)'/g;
/** `(await import('…')).name` */
const MEMBER = /\(await import\('(?<from>[^']+)'\)\)\.(?<names>\w+)/g;
const EXPORT = /^export (?:async )?(?:const|function\*?|class) (?<name>\w+)/gm;
const PRODUCT = /^(?:agent|server|contract)\/src\/(?!.*\.(?:test|fixture)\.ts$)/;

const sources = readdirSync(repository, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name))
  .flatMap(({ name }) => listFiles(name))
  .map((file) => ({ file, text: readFileSync(join(repository, file), 'utf8') }));

test('every export is used by another source, or by its own file and a test', () => {
  const products = sources.filter(({ file }) => PRODUCT.test(file));
  const usedByProduct = new Set(products.flatMap(listImports));
  const used = new Set(sources.flatMap(listImports));
  assert.ok(usedByProduct.size > 1_000, 'the imports were not found');
  const unused = products.flatMap(({ file, text }) =>
    Array.from(text.matchAll(EXPORT), ({ groups }) => groups?.['name'] ?? '')
      // A schema has the same name as its type, which is exported for users of its values.
      .filter((name) => !text.includes(`export type ${name} `))
      .filter((name) => {
        const keys = namesOf(file).flatMap((from) => [keyOf(from, name), keyOf(from, '*')]);
        const isUsedHere = text.split(new RegExp(`\\b${name}\\b`)).length > 2;
        return !keys.some((key) => usedByProduct.has(key) || (isUsedHere && used.has(key)));
      })
      .map((name) => `${file}: ${name}`),
  );
  assert.deepEqual(
    unused.filter((each) => !ALLOWED.has(each)),
    [],
  );
});

/** Returns the names under which a file is imported. */
function namesOf(file: string): string[] {
  if (!file.startsWith('contract/')) return [file];
  return [file, file.replace(/\.ts$/, ''), '@latchkey/contract'];
}

/** Lists sources below a folder, without following links: those of fixtures of /sys are circular. */
function listFiles(folder: string): string[] {
  return readdirSync(join(repository, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : listFiles(path);
    return /\.m?ts$/.test(entry.name) ? [path] : [];
  });
}

/** Lists the names that a file imports, each with its file. */
function listImports({ text }: { readonly text: string }): string[] {
  const imports = [...text.matchAll(IMPORT), ...text.matchAll(MEMBER)];
  return imports.flatMap(({ groups: { names = '*', from = '' } = {} }) =>
    names.split(',').map((name) => keyOf(from, name)),
  );
}

function keyOf(from: string, name: string): string {
  return `${basename(from)} ${/^\s*(?:type )?(?<own>[\w*]*)/.exec(name)?.groups?.['own'] ?? ''}`;
}
