/** Holds the size of the console. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { bundleConsole, type BundledFile } from '../build/bundle.ts';

/** The limits of the first load and of everything, in bytes of gzip. */
const MAX_FIRST_LOAD_BYTES = 60_000;
const MAX_ALL_BYTES = 100_000;

const { document, files } = await bundleConsole();

function sum(counted: readonly BundledFile[]): number {
  return counted.reduce((total, { gzip }) => total + gzip.length, 0);
}

test('the first load is at most 60 kB compressed', () => {
  const size = sum(files.filter(({ isFirstLoad }) => isFirstLoad)) + document.length;
  assert.ok(size <= MAX_FIRST_LOAD_BYTES, `${size} bytes`);
  assert.ok(size > 10_000, `${size} bytes: the files were not found`);
});

test('everything is at most 100 kB compressed', () => {
  const size = sum(files);
  assert.ok(size <= MAX_ALL_BYTES, `${size} bytes: ${describe(files)}`);
});

function describe(all: readonly BundledFile[]): string {
  return all.map(({ name, gzip }) => `${name} ${gzip.length}`).join(', ');
}
