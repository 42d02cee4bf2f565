/** The interface document says of each operation who may call it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

interface Described {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly 'x-permission'?: string;
  readonly parameters?: readonly { readonly in: string; readonly name?: string }[];
}

const file = new URL('../../../openapi.json', import.meta.url);
const { paths }: { paths: Record<string, Record<string, Described>> } = JSON.parse(
  await readFile(file, 'utf8'),
);
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.values(methods).map((operation) => ({ path, ...operation })),
);

function securityOf(id: string): readonly object[] {
  return operations.find(({ operationId }) => operationId === id)?.security ?? [];
}

test('an operation of operators takes an API key or a session', () => {
  const operator = [{ apiKey: [] }, { bearer: [] }, { session: [] }];
  assert.deepEqual(securityOf('listTrials'), operator);
  const admin = operations.filter(({ path }) => path.startsWith('/api/v1/admin/'));
  const open = admin.filter(({ security }) => security === undefined);
  assert.ok(admin.length > 150);
  // Signing in.
  assert.ok(open.length > 3 && open.every(({ path }) => path.startsWith('/api/v1/admin/session')));
});

test('an operation states its permission', () => {
  const trials = operations.find(({ operationId }) => operationId === 'exportTrials');
  assert.equal(trials?.['x-permission'], 'trials:export');
});

test('other credentials are requirements, and no arguments', () => {
  assert.deepEqual(securityOf('sendOutreach'), [{ apiKey: [] }, { bearer: [] }]);
  assert.deepEqual(securityOf('subscribe'), [{}, { apiKey: [] }]);
  const headers = operations.flatMap(({ parameters = [] }) =>
    parameters.filter((each) => each.in === 'header').map(({ name }) => name),
  );
  assert.deepEqual(
    headers.filter((name) => name === 'X-API-Key' || name === 'X-Buyer-Session'),
    [],
  );
});
