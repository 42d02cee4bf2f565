import { lookup as resolveBySystem, type LookupAddress, type LookupOptions } from 'node:dns';
import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { promisify } from 'node:util';

import type { Config } from '#server/config/config.ts';
import { withDeadline } from '#server/lib/deadline.ts';
import { hasCode } from '#server/lib/unknown-values.ts';

import {
  ALLOWED_NETWORKS_SETTING,
  createTargetCheck,
  type TargetCheck,
} from './rules/target-address.ts';

/** Resolves a name to all of its addresses; `dns.lookup`, which also reads the hosts file. */
export type ResolveName = (
  name: string,
  options: LookupOptions & { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** An endpoint without an address that the check accepts. The message contains no address, because it is shown to viewers. */
export class RefusedTargetError extends Error {
  constructor() {
    super(`its address is not public, and ${ALLOWED_NETWORKS_SETTING} does not allow it`);
    this.name = 'RefusedTargetError';
  }
}

/** The content of a request to an endpoint. */
export interface WebhookRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborts the exchange, including the response. */
  readonly signal: AbortSignal;
}

/** How long an unused connection is kept. */
const IDLE_MS = 4_000;

const RESOLVE_MS = 2_000;

/**
 * Sends requests to endpoints, at addresses that the check accepts. Each connection checks the addresses that its own
 * look-up returned, so that a name that resolves to another address at the next look-up (DNS rebinding) is refused. A proxy of
 * the environment is not used: it would resolve the name again.
 */
export class WebhookClient {
  readonly #isAccepted: TargetCheck;
  readonly #resolve: ResolveName;
  readonly #agents: { readonly http: HttpAgent; readonly https: HttpsAgent };

  /** @param resolve default: the resolver of the system */
  constructor(
    { allowedNetworks }: Config['outgoingWebhooks'],
    resolve: ResolveName = resolveBySystem,
  ) {
    this.#isAccepted = createTargetCheck(allowedNetworks);
    this.#resolve = resolve;
    const options = { keepAlive: true, timeout: IDLE_MS };
    this.#agents = { http: new HttpAgent(options), https: new HttpsAgent(options) };
  }

  /** Whether the host is an address that is refused, or `localhost` (RFC 6761 §6.3) where its addresses are refused. */
  isRefusedHost({ hostname }: URL): boolean {
    const host = withoutBrackets(hostname);
    if (isIP(host) > 0) return !this.#isAccepted(host);
    return /(?:^|\.)localhost\.?$/u.test(host) && !['127.0.0.1', '::1'].some(this.#isAccepted);
  }

  /** Whether a request to the URL would be refused now. A name that cannot be resolved within two seconds is not. */
  async isRefused(url: URL): Promise<boolean> {
    if (isIP(withoutBrackets(url.hostname)) > 0) return this.isRefusedHost(url);
    try {
      const resolving = promisify(this.#resolve)(url.hostname, { all: true });
      const addresses = await withDeadline(RESOLVE_MS, 'no address in time', resolving);
      return !addresses.some(({ address }) => this.#isAccepted(address));
    } catch {
      // Each attempt reports why the name cannot be resolved.
      return false;
    }
  }

  /**
   * Posts a request and returns its response, whose body is not read yet. Redirects are not followed.
   * @throws RefusedTargetError
   */
  async post(url: URL, content: WebhookRequest): Promise<IncomingMessage> {
    // A connection to an address resolves no name.
    if (isIP(withoutBrackets(url.hostname)) > 0 && this.isRefusedHost(url)) {
      throw new RefusedTargetError();
    }
    return this.#exchange(url, content);
  }

  #exchange(url: URL, content: WebhookRequest): Promise<IncomingMessage> {
    const { headers, body, signal } = content;
    const options = { method: 'POST', headers, signal, lookup: this.#lookup };
    return new Promise((resolve, reject) => {
      const request =
        url.protocol === 'https:'
          ? requestHttps(url, { ...options, agent: this.#agents.https })
          : requestHttp(url, { ...options, agent: this.#agents.http });
      request.once('response', resolve);
      request.once('error', (error) => {
        // The receiver closed an unused connection at the same time: the next one is another or a new connection.
        if (request.reusedSocket && hasCode(error, 'ECONNRESET') && !signal.aborted) {
          resolve(this.#exchange(url, content));
        } else reject(error);
      });
      request.end(body);
    });
  }

  /** The look-up of a connection: only the accepted addresses of a name, all of which the connection may try. */
  readonly #lookup = (
    name: string,
    options: LookupOptions,
    done: (
      error: NodeJS.ErrnoException | null,
      address: string | LookupAddress[],
      family?: number,
    ) => void,
  ): void => {
    this.#resolve(name, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, []);
      const accepted = addresses.filter(({ address }) => this.#isAccepted(address));
      const [first] = accepted;
      if (first === undefined) done(new RefusedTargetError(), []);
      else if (options.all === true) done(null, accepted);
      else done(null, first.address, first.family);
    });
  };
}

function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
