import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fastify, type RouteOptions } from 'fastify';

import { createTestApp } from '../../test/test-app.ts';
import { compileSerializer, compileValidator } from './compile-schemas.ts';

test('the schemas of all operations can be compiled', async () => {
  const routes: RouteOptions[] = [];
  const app = createTestApp({
    prepare: (each) => void each.addHook('onRoute', (route) => void routes.push(route)),
  });
  await app.ready();
  await app.close();
  const withSchema = routes.filter(({ method, schema }) => schema && method !== 'HEAD');
  assert.ok(withSchema.length > 150, `only ${withSchema.length} operations have schemas`);

  // Fastify compiles every schema before it is ready.
  const eager = fastify({ exposeHeadRoutes: false });
  eager.setValidatorCompiler(compileValidator);
  eager.setSerializerCompiler(compileSerializer);
  for (const { method, schema = {}, url } of withSchema)
    eager.route({ method, schema, url, handler: () => null });
  await eager.ready();
  await eager.close();
});
