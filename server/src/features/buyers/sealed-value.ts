import type { BuyerDependencies } from './dependencies.ts';

/** What a browser keeps, sealed under the master secret, so that the service stores nothing. */
interface Expiring {
  readonly expiresAtMs: number;
}

/** Seals a value for a browser. @param label what it is: {@link openValue} opens it only with the same one */
export function sealValue(
  { vault }: Pick<BuyerDependencies, 'vault'>,
  label: string,
  value: Readonly<Record<string, unknown>> & Expiring,
): string {
  return vault.seal(JSON.stringify(value), label).toString('base64url');
}

/**
 * Opens what a browser sent; null when it is no such value, or has expired.
 * @param parse throws for any other value
 */
export function openValue<Value extends Expiring>(
  { clock, vault }: Pick<BuyerDependencies, 'clock' | 'vault'>,
  label: string,
  parse: (value: unknown) => Value,
  sealed: string | null,
): Value | null {
  if (sealed === null) return null;
  try {
    const value = parse(JSON.parse(vault.open(Buffer.from(sealed, 'base64url'), label)));
    return value.expiresAtMs > clock.now().getTime() ? value : null;
  } catch {
    // Changed, cut, or sealed under another master secret.
    return null;
  }
}
