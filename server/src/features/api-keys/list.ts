import type { Context } from '#server/context.ts';

import { listApiKeyRecords, type ApiKeyRecord } from './queries.ts';
import { apiKeyState, type ApiKeyState } from './rules/standing.ts';

/** An API key and what it is now. */
export interface ViewedApiKey {
  readonly key: ApiKeyRecord;
  readonly state: ApiKeyState;
}

const MAX_LISTED = 1_000;

/** The newest 1,000 API keys, those that are over included. */
export async function listApiKeys(ctx: Context): Promise<ViewedApiKey[]> {
  const keys = await listApiKeyRecords(ctx.pool, MAX_LISTED);
  return keys.map((key) => viewApiKey(key, ctx.clock.now()));
}

/** Reads an API key's state at a moment. */
export function viewApiKey(key: ApiKeyRecord, now: Date): ViewedApiKey {
  return { key, state: apiKeyState(key, now) };
}
