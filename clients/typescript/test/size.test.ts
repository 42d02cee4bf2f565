/** Holds the size of the package, and that it loads nothing else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { bundleModules, ENTRIES, listLoaded, type BundledModule } from '../build/bundle.ts';
import manifest from '../package.json' with { type: 'json' };
import { VERSION } from '../src/version.ts';

/** 8 kB, of gzip. */
const MAX_CORE_BYTES = 8_192;

const MAX_PAGE_BYTES = 12_288;

function compress(files: readonly BundledModule[]): number {
  return files.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0);
}

const modules = await bundleModules();

test('the core is at most 8 kB compressed', () => {
  const loaded = listLoaded(modules, 'index');
  const size = compress(loaded);
  assert.ok(size > 3_000, `${size} bytes: the modules were not found`);
  assert.ok(size <= MAX_CORE_BYTES, `${size} bytes`);
});

test('all calls of a page are at most 12 kB compressed', () => {
  const page = new Set([
    ...listLoaded(modules, 'index'),
    ...listLoaded(modules, 'chunks/rare-calls'),
  ]);
  assert.equal(
    page.size,
    3,
    'the entry, its core, and what is loaded by the first call of a person',
  );
  assert.ok(compress([...page]) <= MAX_PAGE_BYTES, `${compress([...page])} bytes`);
});

test('loads no other package, and the core and the preload script nothing of Node.js', () => {
  assert.ok(!('dependencies' in manifest));
  for (const entry of ENTRIES) {
    const imports = listLoaded(modules, entry).flatMap((each) => each.imports);
    const isForNode = ['node', 'electron'].includes(entry);
    const foreign = imports.filter(
      (name) => !/^(?:chunks\/|index\.js$)/.test(name) && !(isForNode && name.startsWith('node:')),
    );
    assert.deepEqual(foreign, [], entry);
  }
  for (const { file, code } of modules) {
    assert.ok(!/typebox|@latchkey\/contract/.test(code), file);
  }
});

test('states the version of the package', () => {
  assert.equal(VERSION, manifest.version);
});
