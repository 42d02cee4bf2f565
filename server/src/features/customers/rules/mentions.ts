import type { Person } from '../facts.ts';

/** The address and customers to search for. */
type SearchTerms = Pick<Person, 'address' | 'customers'>;

const MAX_DEPTH = 64;

/**
 * Returns whether a payment event's body mentions a person: a text contains the address as a whole word, or a field of
 * a customer id contains a customer of the same provider.
 */
export function mentionsPerson(body: Buffer, provider: string, terms: SearchTerms): boolean {
  const text = body.toString('utf8');
  const ids = terms.customers
    .filter((customer) => customer.provider === provider)
    .map(({ customerId }) => customerId);
  const spellings = new Set(terms.address.spellings);
  const parsed = parseJson(text);
  if (parsed === undefined) return containsAddress(text, spellings);
  return walk(parsed, '', { spellings, ids: new Set(ids) }, 0);
}

interface Search {
  readonly spellings: ReadonlySet<string>;
  readonly ids: ReadonlySet<string>;
}

function walk(value: unknown, key: string, search: Search, depth: number): boolean {
  if (typeof value === 'object' && value !== null) {
    // Deeper than providers nest; a body that is not fully searched counts as a mention.
    if (depth > MAX_DEPTH) return true;
    const entries = Array.isArray(value)
      ? value.map((inner: unknown) => [key, inner] as const)
      : Object.entries(value);
    return entries.some(([name, inner]) => walk(inner, name, search, depth + 1));
  }
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  const text = String(value);
  if (search.ids.has(text) && isIdOfCustomer(key, text)) return true;
  return containsAddress(text, search.spellings);
}

/** A number may be any id; `ctm_…` and `cus_…` are customers only. */
function isIdOfCustomer(key: string, id: string): boolean {
  return /customer/iu.test(key) || (/[a-z]/iu.test(id) && id.length >= 8);
}

function containsAddress(text: string, spellings: ReadonlySet<string>): boolean {
  if (!text.includes('@')) return false;
  const words = text
    .toLowerCase()
    .normalize('NFC')
    .split(/[\s<>"'(),:;[\]\\]+/u);
  return words.some((word) => spellings.has(word) || spellings.has(word.replace(/\.$/u, '')));
}

/** Parses a body; undefined if it is not JSON, because deliveries that are not JSON are stored too. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: stored nevertheless.
    return undefined;
  }
}

/**
 * Returns the texts to search for in PostgreSQL's `lower(encode(raw, 'escape'))`. They find every body that
 * {@link mentionsPerson} confirms, and more.
 */
export function listSearchTexts({ address, customers }: SearchTerms): string[] {
  const texts = [...address.spellings, ...customers.map(({ customerId }) => customerId)];
  return [...new Set(texts.flatMap(listJsonForms).map(toEscapeFormat))];
}

/** Returns a text as JSON may write it: plain, with escapes beyond ASCII, with an escaped slash. */
function listJsonForms(text: string): string[] {
  const ascii = text.replaceAll(/[^\u0020-\u007e]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
  return [text, ascii, text.replaceAll('/', '\\/'), ascii.replaceAll('/', '\\/')];
}

/** Writes a text as `encode(…, 'escape')` does: octal beyond ASCII, and two backslashes for one. */
function toEscapeFormat(text: string): string {
  return Array.from(Buffer.from(text.toLowerCase(), 'utf8'), (byte) => {
    if (byte === 0x5c) return '\\\\';
    if (byte >= 0x80 || byte === 0) return `\\${byte.toString(8).padStart(3, '0')}`;
    return String.fromCharCode(byte);
  }).join('');
}
