import type { Secrets } from '#server/config/secrets.ts';
import { hashApiKey } from '#server/lib/api-key.ts';

import type { ApiKeyScope } from './rules/scopes.ts';

/** A key that the configuration names, of any form; it opens what it is for without the database. */
export interface ConfiguredApiKey {
  /** SHA-256 of its text in UTF-8. */
  readonly keyHash: Buffer;
  readonly scope: ApiKeyScope;
}

/** The keys among the secrets: `LATCHKEY_OUTREACH_API_KEY` and `LATCHKEY_METRICS_TOKEN`. */
export function readConfiguredKeys(
  secrets: Pick<Secrets, 'outreachApiKey' | 'metricsToken'>,
): ConfiguredApiKey[] {
  return [
    ...toKey(secrets.outreachApiKey, 'outreach:send'),
    ...toKey(secrets.metricsToken, 'metrics:read'),
  ];
}

function toKey(text: string | null, scope: ApiKeyScope): ConfiguredApiKey[] {
  return text === null ? [] : [{ keyHash: hashApiKey(text), scope }];
}
