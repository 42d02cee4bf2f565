/** The payment providers, in a file without schemas, which the console would have to load. */

/** The decimals of currencies whose smallest unit is not a hundredth, by the rule that a provider follows. */
const DECIMALS = {
  /** ISO 4217. Browsers know other numbers, which are for display. */
  iso: toDecimals(
    'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
    'BHD IQD JOD KWD LYD OMR TND',
  ),
  /** ISK and UGX are in hundredths, and so are HUF and TWD outside payouts. See https://docs.stripe.com/currencies#special-cases */
  stripe: toDecimals(
    'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF',
    'BHD JOD KWD OMR TND',
  ),
} as const;

function toDecimals(zero: string, three: string): ReadonlyMap<string, number> {
  return new Map([
    ...zero.split(' ').map((currency) => [currency, 0] as const),
    ...three.split(' ').map((currency) => [currency, 3] as const),
  ]);
}

interface PaymentProviderName {
  /** As in the path of its webhooks and in the catalogue's prices. */
  readonly name: string;
  readonly label: string;
  /** The rule for the smallest unit of its amounts. */
  readonly decimals: keyof typeof DECIMALS;
}

const PROVIDERS = [
  { name: 'paddle', label: 'Paddle', decimals: 'iso' },
  { name: 'stripe', label: 'Stripe', decimals: 'stripe' },
  { name: 'lemonsqueezy', label: 'Lemon Squeezy', decimals: 'iso' },
  { name: 'polar', label: 'Polar', decimals: 'stripe' },
  { name: 'dodo', label: 'Dodo Payments', decimals: 'iso' },
  { name: 'creem', label: 'Creem', decimals: 'iso' },
  { name: 'fastspring', label: 'FastSpring', decimals: 'iso' },
  { name: 'gumroad', label: 'Gumroad', decimals: 'iso' },
  { name: 'standard', label: 'Standard Webhooks', decimals: 'iso' },
] as const satisfies readonly PaymentProviderName[];

export type PaymentProvider = (typeof PROVIDERS)[number]['name'];

export const PAYMENT_PROVIDERS: readonly PaymentProvider[] = PROVIDERS.map(({ name }) => name);

const TEST_SUFFIX = ':test';

/**
 * The source of a payment: a provider, or its test mode, whose events, customers and purchases are kept apart from real ones
 * because ids are unique within a source only.
 */
export type PaymentSource = PaymentProvider | TestSource;

export type TestSource = `${PaymentProvider}${typeof TEST_SUFFIX}`;

/** A map, because rules ask for each line of each payment. */
const PROVIDER_OF: ReadonlyMap<string, PaymentProvider> = new Map(
  PAYMENT_PROVIDERS.flatMap((provider) => [
    [provider, provider],
    [`${provider}${TEST_SUFFIX}`, provider],
  ]),
);

export const PAYMENT_SOURCES: readonly PaymentSource[] = [
  ...PAYMENT_PROVIDERS,
  ...PAYMENT_PROVIDERS.map(toTestSource),
];

/** Returns the test mode of a provider. */
export function toTestSource(source: PaymentSource): TestSource {
  return `${providerOf(source)}${TEST_SUFFIX}`;
}

/** Whether a source is the test mode of a provider. */
export function isTestSource(source: string): boolean {
  return source.endsWith(TEST_SUFFIX);
}

/** Returns the provider of a source. */
export function providerOf(source: PaymentSource): PaymentProvider {
  return PROVIDER_OF.get(source) ?? 'standard';
}

/** Returns the name of a payment source for people; that of an unknown one is returned unchanged. */
export function nameProvider(source: string): string {
  const provider = source.replace(TEST_SUFFIX, '');
  const label = PROVIDERS.find(({ name }) => name === provider)?.label;
  if (label === undefined) return source;
  return isTestSource(source) ? `${label} (test)` : label;
}

/** Returns how many decimals a currency has in a source's amounts: 2 if 1990 is 19.90. @param currency in upper case */
export function decimalsOf(source: string, currency: string): number {
  const provider = source.replace(TEST_SUFFIX, '');
  const rule = PROVIDERS.find(({ name }) => name === provider)?.decimals ?? 'iso';
  return DECIMALS[rule].get(currency) ?? 2;
}

/**
 * Writes an amount as a decimal number without rounding, such as `19.90` for 1990 with two decimals.
 * @param minorUnits an integer
 */
export function writeAmount(minorUnits: number, decimals: number): string {
  const digits = String(Math.abs(minorUnits)).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const sign = minorUnits < 0 ? '-' : '';
  return decimals === 0 ? `${sign}${whole}` : `${sign}${whole}.${digits.slice(-decimals)}`;
}

/** Creates a value for each payment provider. */
export function forEachProvider<Value>(
  create: (provider: PaymentProvider) => Value,
): Record<PaymentProvider, Value> {
  return {
    paddle: create('paddle'),
    stripe: create('stripe'),
    lemonsqueezy: create('lemonsqueezy'),
    polar: create('polar'),
    dodo: create('dodo'),
    creem: create('creem'),
    fastspring: create('fastspring'),
    gumroad: create('gumroad'),
    standard: create('standard'),
  };
}
