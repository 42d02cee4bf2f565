import { RootResponse, ref } from '@latchkey/contract';
import type { App } from './app-instance.ts';

/** The version of the interface, which is not the program's. */
export const INTERFACE_VERSION = '1.0.0';

/** `GET /`: what this is, and where to go from here. */
export function registerRootRoute(app: App): void {
  const root: RootResponse = {
    name: 'Latchkey',
    version: INTERFACE_VERSION,
    description: 'Licensing, trials, usage and analytics for desktop software.',
    links: { documentation: '/docs', openapi: '/openapi.json', health: '/api/v1/health' },
  };
  app.get(
    '/',
    {
      schema: {
        operationId: 'getRoot',
        tags: ['service'],
        summary: 'Get the name and version of the service',
        response: { 200: ref(RootResponse, 'Name, version and links.') },
      },
    },
    async () => root,
  );
}
