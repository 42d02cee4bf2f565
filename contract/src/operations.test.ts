import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';

import * as contract from './index.ts';
import { listResource } from './list-resource.ts';
import { isOperation } from './operation.ts';
import { permissions } from './permissions.ts';

const adminOperations = Object.values<unknown>(contract)
  .flatMap((value) => [value, ...Object.values<unknown>(Object(value))])
  .filter((value) => isOperation(value));

function findRepeated(values: readonly string[]): string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

test('each operation has a unique id and address', () => {
  assert.ok(adminOperations.length > 3);
  assert.deepEqual(findRepeated(adminOperations.map(({ id }) => id)), []);
  assert.deepEqual(
    findRepeated(adminOperations.map(({ method, path }) => `${method} ${path}`)),
    [],
  );
});

test('each permission is that of an operation', () => {
  const used = new Set(adminOperations.map(({ permission }) => permission));
  used.delete('public');
  assert.deepEqual(Object.keys(permissions).toSorted(), [...used].toSorted());
});

/** Lists the objects in a schema that take members without a name in it. */
function listOpen(schema: unknown, seen = new Set<unknown>()): unknown[] {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return [];
  seen.add(schema);
  const node: { $ref?: string; properties?: object; additionalProperties?: unknown } = schema;
  const referred = contract.namedSchemas.find((each) => `${contract.nameOf(each)}#` === node.$ref);
  const isOpen = node.properties !== undefined && node.additionalProperties === undefined;
  const inner = [referred, ...Object.values(schema), ...Object.values(node.properties ?? {})];
  return [...(isOpen ? [schema] : []), ...inner.flatMap((each) => listOpen(each, seen))];
}

test('no body of an operation takes a member that it does not name: a misspelt one is refused', () => {
  const bodies = adminOperations.flatMap(({ body }) => body ?? []);
  assert.ok(bodies.length > 70);
  assert.deepEqual(
    bodies.flatMap((body) => listOpen(body)),
    [],
  );
});

test('the columns of a list are its plain fields, also those of an object in it', () => {
  const item = Type.Object(
    {
      id: Type.String(),
      count: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
      labels: Type.Array(Type.String()),
      conversion: Type.Unsafe<object | null>({
        type: ['object', 'null'],
        properties: { license_id: { type: 'string' } },
      }),
    },
    { $id: 'ColumnTestItem' },
  );
  const { columns } = listResource({
    id: 'Items',
    name: 'item',
    title: 'items',
    path: 'items',
    item,
    sorts: ['id'],
    filters: {},
    permissions: { read: 'trials:read', export: 'trials:export' },
  });
  assert.deepEqual(columns, ['id', 'count', 'conversion.license_id']);
});
