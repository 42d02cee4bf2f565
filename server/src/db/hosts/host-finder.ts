/** Finds the host to connect to among those of a URL. */
import { DatabaseError } from 'pg';

import { formatHost, type DatabaseHost, type SessionKind } from '#server/config/database-url.ts';
import { cacheBriefly } from '#server/lib/cache-briefly.ts';
import { messageOf } from '#server/lib/unknown-values.ts';

import { isConnectionFailure, NoHostError } from '../database-errors.ts';
import { describeState, isExclusive, isOfKind, type HostState } from './host-state.ts';

export interface HostFinderOptions {
  readonly hosts: readonly DatabaseHost[];
  readonly kind: SessionKind;
  /** Connects to a host, and returns what it allows. */
  readonly examine: (host: DatabaseHost) => Promise<HostState>;
  /** Connects to a primary, and returns its timeline, which each promotion increases. */
  readonly readTimeline: (host: DatabaseHost) => Promise<number>;
  /** Default: the time of this process. */
  readonly nowMs?: () => number;
}

/** While no host is of the kind, all are examined this often, however many requests arrive. */
const FRESH_MS = 100;

/** A host that answered, or why it did not. */
type Examined =
  | { readonly host: DatabaseHost; readonly state: HostState }
  | { readonly host: DatabaseHost; readonly error: unknown };

/** Examines the host that was used last, then all others at once. Concurrent callers share one search. */
export class HostFinder {
  readonly kind: SessionKind;
  readonly #options: HostFinderOptions;
  #last: DatabaseHost | null = null;

  /**
   * Finds a host of the kind: the first one of the URL or, if two accept writes, the one that was promoted last.
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
    const { hosts } = this.#options;
    const last = this.#last === null ? null : await this.#examine(this.#last);
    if (last !== null && this.#isWanted(last)) return last.host;
    const others = hosts.filter((host) => host !== last?.host);
    const examined = await Promise.all(others.map((host) => this.#examine(host)));
    const [wanted, ...more] = examined.filter((each) => this.#isWanted(each));
    if (wanted === undefined)
      return this.#findSecondChoice(last === null ? examined : [last, ...examined]);
    if (more.length === 0 || !isExclusive(this.kind)) return wanted.host;
    return this.#findNewest([wanted, ...more].map(({ host }) => host));
  }

  async #examine(host: DatabaseHost): Promise<Examined> {
    try {
      return { host, state: await this.#options.examine(host) };
    } catch (error) {
      return { host, error };
    }
  }

  #isWanted(examined: Examined): boolean {
    return 'state' in examined && isOfKind(this.kind, examined.state);
  }

  #findSecondChoice(examined: readonly Examined[]): DatabaseHost {
    const usable = this.kind === 'prefer-standby' && examined.find((each) => 'state' in each);
    if (usable) return usable.host;
    for (const each of examined) {
      if ('error' in each && isFinal(each.error)) throw each.error;
    }
    throw new NoHostError(examined.map(describe));
  }

  /** The primary from before a failover may be running again. */
  async #findNewest(hosts: readonly DatabaseHost[]): Promise<DatabaseHost> {
    const timelines = await Promise.all(hosts.map((host) => this.#options.readTimeline(host)));
    const newest = hosts[timelines.indexOf(Math.max(...timelines))];
    if (newest === undefined) throw new NoHostError([]);
    return newest;
  }
}

/** Whether a host rejects the user or the database: a later attempt will fail, too. */
function isFinal(error: unknown): boolean {
  return error instanceof DatabaseError && !isConnectionFailure(error);
}

function describe(examined: Examined): string {
  const name = formatHost(examined.host);
  return 'state' in examined
    ? `${name} ${describeState(examined.state)}`
    : `${name} does not answer (${messageOf(examined.error)})`;
}
