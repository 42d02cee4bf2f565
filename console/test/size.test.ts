/** Holds the size of the console. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { bundleConsole, type BundledFile } from '../build/bundle.ts';

/** The limits of the first load, of everything else, and of the fleet page, which is the one of the agent, in bytes of gzip. */
const MAX_FIRST_LOAD_BYTES = 60_000;
const MAX_ALL_BYTES = 100_000;
const MAX_FLEET_BYTES = 40_000;

const { document, files } = await bundleConsole();

function sum(counted: readonly BundledFile[]): number {
  return counted.reduce((total, { gzip }) => total + gzip.length, 0);
}

test('the first load is at most 60 kB compressed', () => {
  const size = sum(files.filter(({ isFirstLoad }) => isFirstLoad)) + document.length;
  assert.ok(size <= MAX_FIRST_LOAD_BYTES, `${size} bytes`);
  assert.ok(size > 10_000, `${size} bytes: the files were not found`);
});

const isFleet = ({ name }: BundledFile) => name.startsWith('fleet-');

test('everything but the fleet page is at most 100 kB compressed', () => {
  const others = files.filter((file) => !isFleet(file));
  const size = sum(others);
  assert.ok(size <= MAX_ALL_BYTES, `${size} bytes: ${describe(others)}`);
});

test('the fleet page is one file of at most 40 kB compressed, which other pages do not load', () => {
  const fleet = files.filter(isFleet);
  assert.equal(fleet.length, 1);
  const [file] = fleet;
  assert.ok(file && file.gzip.length <= MAX_FLEET_BYTES, describe(fleet));
  assert.equal(file.isFirstLoad, false);
});

function describe(all: readonly BundledFile[]): string {
  return all.map(({ name, gzip }) => `${name} ${gzip.length}`).join(', ');
}
