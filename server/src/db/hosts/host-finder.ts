/** Finds the host to connect to among those of a URL, as libpq does. */
import { DatabaseError } from 'pg';

import { formatHost, type DatabaseHost, type SessionKind } from '#server/config/database-url.ts';
import { cacheBriefly } from '#server/lib/cache-briefly.ts';
import { messageOf } from '#server/lib/unknown-values.ts';

import { isConnectionFailure, NoHostError } from '../database-errors.ts';
import { describeState, isOfKind, type HostState } from './host-state.ts';

export interface HostFinderOptions {
  readonly hosts: readonly DatabaseHost[];
  readonly kind: SessionKind;
  /** Connects to a host, and returns what it allows. */
  readonly examine: (host: DatabaseHost) => Promise<HostState>;
  /** Default: the time of this process. */
  readonly nowMs?: () => number;
}

/** While no host is of the kind, all are examined this often, however many requests arrive. */
const FRESH_MS = 100;

/** Examines the hosts in their order, the last one that was used first. Concurrent callers share one search. */
export class HostFinder {
  readonly kind: SessionKind;
  readonly #options: HostFinderOptions;
  #last: DatabaseHost | null = null;

  /**
   * Finds a host of the kind.
   * @throws NoHostError with a reason for each host; DatabaseError when a host rejects the user or the database
   */
  readonly find: () => Promise<DatabaseHost>;

  constructor(options: HostFinderOptions) {
    const { kind, nowMs = () => performance.now() } = options;
    this.#options = options;
    this.kind = kind;
    this.find = cacheBriefly(nowMs, FRESH_MS, () => this.#search());
  }

  /**
   * Makes a host the first one to examine, so that the process stays at it, also if the previous primary is started again
   * without becoming a standby. Returns the host before.
   */
  prefer(host: DatabaseHost): DatabaseHost | null {
    const previous = this.#last;
    this.#last = host;
    return previous;
  }

  async #search(): Promise<DatabaseHost> {
    const reasons: string[] = [];
    let secondChoice: DatabaseHost | null = null;
    for (const host of this.#inOrder()) {
      const state = await this.#examine(host, reasons);
      if (state === null) continue;
      if (isOfKind(this.kind, state)) return host;
      reasons.push(`${formatHost(host)} ${describeState(state)}`);
      if (this.kind === 'prefer-standby') secondChoice ??= host;
    }
    if (secondChoice === null) throw new NoHostError(reasons);
    return secondChoice;
  }

  #inOrder(): readonly DatabaseHost[] {
    const { hosts } = this.#options;
    if (this.#last === null) return hosts;
    return [this.#last, ...hosts.filter((host) => host !== this.#last)];
  }

  /** Returns null, and adds the reason, when a host does not accept connections. */
  async #examine(host: DatabaseHost, reasons: string[]): Promise<HostState | null> {
    try {
      return await this.#options.examine(host);
    } catch (error) {
      // libpq does not try the next host, either: the same user and database apply to all.
      if (error instanceof DatabaseError && !isConnectionFailure(error)) throw error;
      reasons.push(`${formatHost(host)} does not answer (${messageOf(error)})`);
      return null;
    }
  }
}
