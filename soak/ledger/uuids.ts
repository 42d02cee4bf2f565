import { hash } from 'node:crypto';

const BYTES = 16;

/** A column of UUIDs, 16 bytes each; those that were not set are null. */
export class UuidColumn {
  readonly #bytes: Buffer;

  constructor(size: number) {
    this.#bytes = Buffer.alloc(size * BYTES);
  }

  get size(): number {
    return this.#bytes.length / BYTES;
  }

  set(index: number, uuid: string): void {
    this.#bytes.write(uuid.replaceAll('-', ''), index * BYTES, 'hex');
  }

  get(index: number): string | null {
    const hex = this.#bytes.toString('hex', index * BYTES, (index + 1) * BYTES);
    if (/^0*$/u.test(hex)) return null;
    return formatUuid(hex);
  }
}

function formatUuid(hex: string): string {
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-');
}

/** Returns the first 16 bytes of the SHA-256 of a license key, as a UUID: a column stores it instead of the key. */
export function hashKey(licenseKey: string): string {
  return formatUuid(hash('sha256', licenseKey).slice(0, 2 * BYTES));
}
