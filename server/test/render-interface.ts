import swagger from '@fastify/swagger';
import type { App } from '#server/http/app-instance.ts';
import { interfaceDescription } from '#server/http/docs/describe-interface.ts';
import { createTestApp } from './test-app.ts';

/** Renders the interface document, as in `openapi.json`. */
export async function renderInterface(): Promise<string> {
  const app = createTestApp({ prepare: watchRoutes });
  await app.ready();
  const document = app.swagger();
  await app.close();
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function watchRoutes(app: App): void {
  app.register(swagger, interfaceDescription);
}
