import { PAYMENT_PROVIDERS, nameProvider, type PaymentProvider } from '@latchkey/contract';

import { secretList, standardSecretList, type Parse } from './env-values.ts';

/** What the settings, the catalogue and its check know of a payment provider. */
export interface ProviderSettings {
  /** The variable with the secrets of its webhooks. */
  readonly secretsVariable: string;
  readonly readSecrets: Parse<readonly string[]>;
  /** The page for operators, below `docs/integrations/payments`. */
  readonly page: string;
  readonly prices: PriceForm;
  /** What an id is, by its prefix. */
  readonly idKinds: Readonly<Record<string, string>>;
}

/** The form of the ids that the catalogue names as prices. */
interface PriceForm {
  readonly pattern: RegExp;
  /** Completes a sentence about an id of another form. */
  readonly wanted: string;
  /** Whether ids without a known prefix are prices, too. */
  readonly allowsOthers?: boolean;
}

/** In characters. Generated secrets are longer; the operator chooses that of Lemon Squeezy, up to 40. */
const MIN_WEBHOOK_SECRET = 16;

/** Begins a secret that signs events of the test mode, for providers that do not mark them in the event. */
const TEST_PREFIX = 'test:';

/** Reads secrets, each of which may be one of the test mode. */
function withTestSecrets(parse: Parse<readonly string[]>): Parse<readonly string[]> {
  return (text) => {
    const entries = text.split(',').map((entry) => entry.trim());
    const parsed = parse(entries.map(withoutTestPrefix).join(','));
    return 'value' in parsed ? { value: entries } : parsed;
  };
}

function withoutTestPrefix(secret: string): string {
  return isTestSecret(secret) ? secret.slice(TEST_PREFIX.length) : secret;
}

/** Separates the secrets of a provider from those of its test mode. */
export function separateTestSecrets(secrets: readonly string[]): {
  readonly real: readonly string[];
  readonly test: readonly string[];
} {
  return {
    real: secrets.filter((secret) => !isTestSecret(secret)),
    test: secrets.filter(isTestSecret).map(withoutTestPrefix),
  };
}

function isTestSecret(secret: string): boolean {
  return secret.startsWith(TEST_PREFIX);
}

const textSecrets = withTestSecrets(secretList(MIN_WEBHOOK_SECRET));
const standardSecrets = withTestSecrets(standardSecretList);

export const PROVIDER_SETTINGS: Readonly<Record<PaymentProvider, ProviderSettings>> = {
  paddle: {
    secretsVariable: 'LATCHKEY_BILLING_SECRETS',
    readSecrets: textSecrets,
    page: 'paddle.md',
    prices: { pattern: /^pri_/u, wanted: "a price's id begins with pri_" },
    idKinds: {
      pri_: 'price',
      pro_: 'product',
      txn_: 'transaction',
      ctm_: 'customer',
      sub_: 'subscription',
      dsc_: 'discount',
      adj_: 'adjustment',
    },
  },
  stripe: {
    secretsVariable: 'LATCHKEY_STRIPE_SECRETS',
    readSecrets: textSecrets,
    page: 'stripe.md',
    // Plans from before 2018 may have any id.
    prices: {
      pattern: /^(?:price|plan)_/u,
      wanted: "a price's id begins with price_ or plan_",
      allowsOthers: true,
    },
    idKinds: {
      price_: 'price',
      plan_: 'plan',
      prod_: 'product',
      plink_: 'payment link',
      cs_: 'checkout session',
      si_: 'subscription item',
      in_: 'invoice',
      cus_: 'customer',
      sub_: 'subscription',
    },
  },
  lemonsqueezy: {
    secretsVariable: 'LATCHKEY_LEMON_SQUEEZY_SECRETS',
    readSecrets: textSecrets,
    page: 'lemon-squeezy.md',
    prices: {
      pattern: /^(?:once:)?\d+$/u,
      wanted: 'it is the number of a variant, with once: before it for a one-time purchase',
    },
    idKinds: {},
  },
  polar: {
    secretsVariable: 'LATCHKEY_POLAR_SECRETS',
    readSecrets: textSecrets,
    page: 'polar.md',
    prices: {
      pattern: /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/u,
      wanted: 'it is the id of a product, a UUID',
    },
    idKinds: { polar_cl_: 'checkout link', polar_c_: 'checkout' },
  },
  dodo: {
    secretsVariable: 'LATCHKEY_DODO_SECRETS',
    readSecrets: standardSecrets,
    page: 'dodo.md',
    prices: { pattern: /^pdt_/u, wanted: "a product's id begins with pdt_" },
    idKinds: {
      pdt_: 'product',
      pay_: 'payment',
      cus_: 'customer',
      sub_: 'subscription',
      adn_: 'add-on',
    },
  },
  creem: {
    secretsVariable: 'LATCHKEY_CREEM_SECRETS',
    readSecrets: textSecrets,
    page: 'creem.md',
    prices: { pattern: /^prod_/u, wanted: "a product's id begins with prod_" },
    idKinds: {
      prod_: 'product',
      pprice_: 'price',
      ord_: 'order',
      ch_: 'checkout',
      tran_: 'transaction',
      cust_: 'customer',
      sub_: 'subscription',
      sitem_: 'subscription item',
    },
  },
  fastspring: {
    secretsVariable: 'LATCHKEY_FASTSPRING_SECRETS',
    readSecrets: textSecrets,
    page: 'fastspring.md',
    prices: {
      pattern: /^[a-z\d][a-z\d-]*$/u,
      wanted: "it is a product's path: small letters, digits and hyphens",
    },
    idKinds: {},
  },
  gumroad: {
    secretsVariable: 'LATCHKEY_GUMROAD_SECRETS',
    readSecrets: textSecrets,
    page: 'gumroad.md',
    prices: {
      pattern: /^[\w-]{20,30}={1,2}(?::[\w.!~*'()%-]{1,100}){0,10}$/u,
      wanted: "it is a product's id, which ends with =, and a colon with each chosen option",
    },
    idKinds: {},
  },
  standard: {
    secretsVariable: 'LATCHKEY_STANDARD_WEBHOOKS_SECRETS',
    readSecrets: standardSecrets,
    page: 'own-shop.md',
    // Own shops choose their ids.
    prices: { pattern: /^/u, wanted: '' },
    idKinds: {},
  },
};

/** Whether an id has the form of a provider's prices. */
export function isPriceId(provider: PaymentProvider, id: string): boolean {
  const { pattern, allowsOthers = false } = PROVIDER_SETTINGS[provider].prices;
  return pattern.test(id) || (allowsOthers && describeId(id, provider) === null);
}

/**
 * Returns what an id is by its prefix, such as `a price of Stripe`, or null if no provider is known to have such ids.
 * @param provider decides when several providers have the same prefix
 */
export function describeId(id: string, provider: PaymentProvider): string | null {
  const own = findIdKind(id, provider);
  if (own !== null) return `${withArticle(own)} of ${nameProvider(provider)}`;
  const kinds = PAYMENT_PROVIDERS.map((each) => ({ each, kind: findIdKind(id, each) }));
  const [first] = kinds.flatMap(({ kind }) => (kind === null ? [] : [kind]));
  if (first === undefined) return null;
  const owners = kinds.filter(({ kind }) => kind === first).map(({ each }) => nameProvider(each));
  return `${withArticle(first)} of ${owners.join(' or ')}`;
}

function findIdKind(id: string, provider: PaymentProvider): string | null {
  const kinds = Object.entries(PROVIDER_SETTINGS[provider].idKinds);
  return kinds.find(([prefix]) => id.startsWith(prefix))?.[1] ?? null;
}

function withArticle(noun: string): string {
  return /^[aeiou]/u.test(noun) ? `an ${noun}` : `a ${noun}`;
}
