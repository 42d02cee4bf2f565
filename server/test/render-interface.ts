import swagger from '@fastify/swagger';
import { interfaceDescription } from '#server/http/docs/describe-interface.ts';
import { createTestApp } from './test-app.ts';

/** The interface document, as `openapi.json` holds it. */
export async function renderInterface(): Promise<string> {
  const app = createTestApp({ prepare: (each) => each.register(swagger, interfaceDescription) });
  await app.ready();
  const document = app.swagger();
  await app.close();
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
