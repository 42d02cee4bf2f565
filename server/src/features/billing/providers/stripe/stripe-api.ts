import { Type } from 'typebox';

import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import type { Secrets } from '#server/config/secrets.ts';

import type { BillingLine } from '../../facts.ts';
import { getJson, type ProviderApiOptions } from '../provider-api.ts';
import { readLineItems } from './lines.ts';

/** A client of Stripe's API, for data that its webhooks lack. */
export interface StripeApi {
  /**
   * Returns what a checkout session sold, or null if the account has no such session.
   * @throws ProviderApiError
   */
  listLineItems(checkoutId: string, signal?: AbortSignal): Promise<readonly BillingLine[] | null>;
}

interface StripeApiOptions extends Pick<ProviderApiOptions, 'url' | 'clock' | 'timeoutMs'> {
  readonly apiKey: string;
}

const PAGE_SIZE = 100;
const MAX_PAGES = 5;

const LineItems = Type.Object({
  data: Type.Array(Type.Object({ id: Type.String() }), { maxItems: PAGE_SIZE }),
  has_more: Type.Optional(Type.Boolean()),
});

/** Creates the client from the settings; null without an API key. */
export function openStripeApi(
  { billing }: Pick<Config, 'billing'>,
  { stripeApiKey: apiKey }: Pick<Secrets, 'stripeApiKey'>,
  clock: Clock,
): StripeApi | null {
  return apiKey === null ? null : createStripeApi({ url: billing.stripeApiUrl, apiKey, clock });
}

export function createStripeApi({ apiKey, ...options }: StripeApiOptions): StripeApi {
  const headers = { authorization: `Bearer ${apiKey}` };
  const api: ProviderApiOptions = { name: 'Stripe', headers, ...options };
  return {
    async listLineItems(checkoutId, signal) {
      // The id becomes part of a path, and a key of one mode does not know the sessions of the other.
      if (!/^cs_[\w-]{1,200}$/u.test(checkoutId) || isOtherMode(apiKey, checkoutId)) return null;
      const lines: BillingLine[] = [];
      let after = '';
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
        if (after !== '') query.set('starting_after', after);
        const path = `/v1/checkout/sessions/${checkoutId}/line_items?${query.toString()}`;
        const response = await getJson(api, path, LineItems, signal);
        if (response === null) return null;
        lines.push(...readLineItems(response));
        after = response.data.at(-1)?.id ?? '';
        if (response.has_more !== true || after === '') break;
      }
      return lines;
    },
  };
}

function isOtherMode(apiKey: string, checkoutId: string): boolean {
  const isTest = checkoutId.startsWith('cs_test_');
  if (/^[rs]k_test_/u.test(apiKey)) return !isTest;
  return /^[rs]k_live_/u.test(apiKey) && isTest;
}
