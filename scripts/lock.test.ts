/** Checks that `npm ci` installs only locked packages and runs no install script. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { repository } from './lib/steps.ts';

const Lock = Type.Object({
  lockfileVersion: Type.Literal(3),
  packages: Type.Record(
    Type.String(),
    Type.Object({
      version: Type.Optional(Type.String()),
      integrity: Type.Optional(Type.String()),
      resolved: Type.Optional(Type.String()),
      link: Type.Optional(Type.Boolean()),
      os: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
    }),
  ),
});

const lock = Parse(Lock, JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')));

const fetched = Object.entries(lock.packages).filter(
  ([path, entry]) => path.includes('node_modules/') && entry.link !== true,
);

test('every package of every platform has a SHA-512 integrity', () => {
  assert.ok(fetched.length > 200, 'the packages were not found');
  const without = fetched.filter(
    ([, { integrity }]) => !/^sha512-[A-Za-z\d+/]{86}==$/u.test(integrity ?? ''),
  );
  assert.deepEqual(
    without.map(([path]) => path),
    [],
  );
});

test('the lock file contains no registry URL', () => {
  const named = fetched.filter(([, { resolved }]) => resolved !== undefined);
  assert.deepEqual(
    named.map(([path]) => path),
    [],
  );
});

test('the check tools are locked for every supported platform', () => {
  for (const tool of ['@oxfmt/binding-', '@oxlint/binding-', '@oxlint-tsgolint/']) {
    const systems = new Set(
      fetched
        .filter(([path]) => path.includes(`node_modules/${tool}`))
        .flatMap(([, { os }]) => os ?? []),
    );
    for (const system of ['darwin', 'linux', 'win32']) assert.ok(systems.has(system), tool);
  }
});

test('npm runs no install script', () => {
  const settings = readFileSync(join(repository, '.npmrc'), 'utf8').split('\n');
  assert.ok(settings.includes('ignore-scripts=true'));
});
