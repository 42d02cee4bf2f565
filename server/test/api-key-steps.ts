import { randomBytes, randomUUID } from 'node:crypto';

import {
  createApiKey,
  type NewApiKey,
  type CreatedApiKey,
  rollApiKey,
  type RolledApiKey,
  revokeApiKey,
} from '#server/features/api-keys/manage.ts';
import { generateApiKey } from '#server/lib/api-key.ts';

import type { TestService } from './harness.ts';

type ServiceContext = Pick<TestService, 'context'>;

const change = { actor: 'test', reason: 'requested by a test' };

/** Returns a well-formed unknown API key. */
export function anyUnknownApiKey(): string {
  return generateApiKey(randomBytes);
}

/** A key in the right format with a wrong checksum. */
export const MISTYPED_API_KEY = `lk_${'0'.repeat(36)}`;

/** Creates an API key; by default with a new name, for outreach, without an expiry. */
export function createKey(
  { context }: ServiceContext,
  order: Partial<NewApiKey> = {},
): Promise<CreatedApiKey> {
  return createApiKey(
    context,
    {
      name: randomUUID().slice(9),
      scopes: ['outreach:send'],
      term: { until: null },
      ...order,
    },
    change,
  );
}

export function rollKey(
  { context }: ServiceContext,
  idOrName: string,
  overlapMs: number,
): Promise<RolledApiKey> {
  return rollApiKey(context, { ...change, idOrName, overlapMs });
}

/** Revokes keys and returns their ids. */
export async function revokeKeys({ context }: ServiceContext, idOrName: string): Promise<string[]> {
  const revoked = await revokeApiKey(context, { ...change, idOrName });
  return revoked.map(({ id }) => id);
}
