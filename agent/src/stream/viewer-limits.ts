import { isLoopback, toVisitor } from './addresses.ts';

/**
 * Counts the viewers of each client behind a proxy, all of whose connections come from the proxy's address. Clients on this
 * machine are not counted.
 */
export class ViewerLimits {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  constructor(maxPerAddress: number) {
    this.#max = maxPerAddress;
  }

  /** @returns what releases the viewer, once; null when the client has as many viewers as it may have */
  add(address: string | undefined): (() => void) | null {
    if (isLoopback(address)) return () => undefined;
    const visitor = toVisitor(address);
    const count = this.#counts.get(visitor) ?? 0;
    if (count >= this.#max) return null;
    this.#counts.set(visitor, count + 1);
    return () => this.#release(visitor);
  }

  #release(visitor: string): void {
    const count = (this.#counts.get(visitor) ?? 1) - 1;
    if (count > 0) this.#counts.set(visitor, count);
    else this.#counts.delete(visitor);
  }
}
