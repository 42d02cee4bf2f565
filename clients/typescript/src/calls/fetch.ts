/** The part of a response that a client reads; that of `fetch` fits. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: {
    getReader(): {
      read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
      cancel(): Promise<unknown>;
    };
  } | null;
}

/** The part of `fetch` that a client uses; those of browsers, Node.js, Deno, Bun and Electron fit. */
export type Fetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<FetchResponse>;
