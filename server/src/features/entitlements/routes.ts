import { JwkSet, ref } from '@latchkey/contract';

import type { Clock } from '#server/clock.ts';
import { DEFAULT_OFFLINE_DAYS } from '#server/config/catalog-model.ts';
import type { Catalog } from '#server/config/catalog.ts';
import type { App } from '#server/http/app-instance.ts';

import { buildKeySet, type SigningKeyRing } from './key-ring.ts';

/** A client may cache the key set this long; a new key is published for longer than that before it signs. */
const MAX_AGE_SECONDS = 240;

interface KeySetDependencies {
  readonly catalog: () => Catalog;
  readonly clock: Clock;
  readonly signingKeys: SigningKeyRing;
}

/** Registers the key set with which clients verify entitlements (RFC 7517). */
export function registerKeySetRoute(app: App, deps: KeySetDependencies): void {
  app.get(
    '/.well-known/jwks.json',
    {
      schema: {
        operationId: 'getKeySet',
        tags: ['entitlements'],
        summary: 'Get the public keys that verify entitlements',
        description: 'A JSON Web Key Set; a retired key stays until its last token has expired.',
        response: { 200: ref(JwkSet, 'The public keys.') },
      },
    },
    async (_request, reply) => {
      const products = [...deps.catalog().products.values()];
      const days = products.flatMap((product) => [product.offlineDays, product.airgapDays ?? 0]);
      const maxOfflineDays = Math.max(DEFAULT_OFFLINE_DAYS, ...days);
      reply.header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`);
      return buildKeySet(deps.signingKeys.published, maxOfflineDays, deps.clock.now());
    },
  );
}
