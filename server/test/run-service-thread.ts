/** The thread of `startServiceThread`: a complete service, and its processor time on request. */
import { parentPort } from 'node:worker_threads';

import { createKey } from './api-key-steps.ts';
import { openTestService } from './harness.ts';
import { openBrowser } from './operator-steps.ts';
import { CATALOG, testCatalog } from './test-catalog.ts';

/** Some operations end their session. */
const SESSIONS = 40;

const SCOPES = ['admin', 'outreach:send', 'metrics:read'] as const;

/** Its products also answer the programs of other systems. */
const OFFER =
  'compatible: { lemonsqueezy: { store_id: 1, product_id: 2, variant_id: 3 }, gumroad: { products: [shop] } }';

const resources = new AsyncDisposableStack();
const service = await openTestService(
  {
    catalog: testCatalog(CATALOG.replace('max_activations: 2', `max_activations: 2\n    ${OFFER}`)),
    mailFrom: 'Example Shop <shop@example.com>',
    outreachMail: {
      send: async () => ({ outcome: 'permanent', reason: 'address', reply: null }),
      close: () => {},
    },
  },
  resources,
);
const { apiKey } = await createKey(service, { scopes: [...SCOPES] });
const browsers = await Promise.all(
  Array.from({ length: SESSIONS }, () => openBrowser(service, 'admin')),
);
const { licenseKey } = await service.issue();

parentPort?.on('message', (request: unknown) => {
  if (request === 'stop') {
    parentPort?.close();
    void resources.disposeAsync();
    return;
  }
  const { user, system } = process.threadCpuUsage();
  parentPort?.postMessage((user + system) / 1_000, []);
});
const cookies = browsers.map(({ cookie }) => cookie);
parentPort?.postMessage({ url: service.url, apiKey, cookies, licenseKey }, []);
