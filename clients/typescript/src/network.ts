/** What a client notices of the network by itself. */
export interface Network {
  /** Describes the network; another text means another one. Null: it is not known. */
  readonly describe: () => string | null;
  /** Calls a function when the network is back. @returns a function that ends this */
  readonly onReturn: (listener: () => void) => () => void;
}

/** The network as a browser reports it; other programs have no such events. */
export const browserNetwork: Network = {
  describe: () => null,
  onReturn(listener) {
    const page: unknown = globalThis;
    if (!(page instanceof EventTarget)) return () => undefined;
    page.addEventListener('online', listener);
    return () => page.removeEventListener('online', listener);
  },
};
