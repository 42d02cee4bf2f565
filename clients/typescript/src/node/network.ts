import { networkInterfaces } from 'node:os';

import type { Network } from '../network.ts';

/** The addresses of this computer: a change means another network, or the return of one. */
export const nodeNetwork: Network = {
  describe() {
    try {
      return Object.values(networkInterfaces())
        .flatMap((each) => each ?? [])
        .filter(({ internal }) => !internal)
        .map(({ address }) => address)
        .toSorted()
        .join(' ');
    } catch {
      // Some sandboxes forbid it.
      return null;
    }
  },
  onReturn: () => () => undefined,
};
