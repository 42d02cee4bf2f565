import swagger from '@fastify/swagger';
import type { App } from '#server/http/app-instance.ts';
import { interfaceDescription } from '#server/http/docs/describe-interface.ts';
import { createTestApp } from './test-app.ts';

/** The interface document, as `openapi.json` holds it. */
export async function renderInterface(): Promise<string> {
  const prepare = (each: App): void => {
    each.register(swagger, interfaceDescription);
  };
  const app = createTestApp({ prepare });
  await app.ready();
  const document = app.swagger();
  await app.close();
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
