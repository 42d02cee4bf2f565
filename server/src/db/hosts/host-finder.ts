/** Finds the host to connect to among those of a URL. */
import { DatabaseError } from 'pg';

import { formatHost, type DatabaseHost, type SessionKind } from '#server/config/database-url.ts';
import { cacheBriefly } from '#server/lib/cache-briefly.ts';

import { isRefusal, isTlsError, NoHostError } from '../database-errors.ts';
import { explainDatabaseFailure } from '../explain-failure.ts';
import { collectAnswers } from './collect-answers.ts';
import { describeState, isOfKind, type HostStatus } from './host-state.ts';

export interface HostFinderOptions {
  readonly hosts: readonly DatabaseHost[];
  readonly kind: SessionKind;
  /** Connects to a host, and returns its status. */
  readonly examine: (host: DatabaseHost) => Promise<HostStatus>;
  /** Default: the time of this process. */
  readonly nowMs?: () => number;
}

/** While no host is of the kind, all are examined this often, however many requests arrive. */
const FRESH_MS = 100;

/** A host that drops packets must not delay the others until its timeout; one that answers does so within milliseconds. */
const GRACE_MS = 500;

interface Answer {
  readonly host: DatabaseHost;
  readonly status: HostStatus;
}

/** A host that answered, or why it did not. */
type Examined = Answer | { readonly host: DatabaseHost; readonly error: unknown };

/** Examines the host that was used last, then all others at once. Concurrent callers share one search. */
export class HostFinder {
  readonly kind: SessionKind;
  readonly #options: HostFinderOptions;
  #last: DatabaseHost | null = null;
  /** The highest timeline of a connection. */
  #timeline = 0;

  /**
   * Finds a host of the kind: the first one of the URL or, if two accept writes, the one that was promoted last.
   * @throws NoHostError with a reason for each host; DatabaseError when each one rejects the user or the database
   */
  readonly find: () => Promise<DatabaseHost>;

  constructor(options: HostFinderOptions) {
    const { kind, nowMs = () => performance.now() } = options;
    this.#options = options;
    this.kind = kind;
    this.find = cacheBriefly(nowMs, FRESH_MS, () => this.#search());
  }

  /** Records that a host is used: it is examined first from now on. Returns the host before. */
  prefer(host: DatabaseHost, { timeline }: HostStatus): DatabaseHost | null {
    const previous = this.#last;
    this.#last = host;
    this.#timeline = Math.max(this.#timeline, timeline ?? 0);
    return previous;
  }

  /**
   * Returns why a host is not used, as a predicate; null: it is of the kind. A primary on an earlier timeline than one that
   * was used is from before a failover, and lacks changes.
   */
  findProblem({ state, timeline }: HostStatus): string | null {
    if (!isOfKind(this.kind, state)) return describeState(state);
    const isOutdated = timeline !== null && timeline < this.#timeline;
    return isOutdated ? 'is a primary from before a failover' : null;
  }

  async #search(): Promise<DatabaseHost> {
    const { hosts } = this.#options;
    const last = this.#last === null ? null : await this.#examine(this.#last);
    if (last !== null && this.#isWanted(last)) return last.host;
    const others = hosts.filter((host) => host !== last?.host);
    const calls = others.map((host) => this.#examine(host));
    const examined = await collectAnswers(calls, (each) => this.#isWanted(each), GRACE_MS);
    const newest = findNewest(examined.filter((each) => this.#isWanted(each)));
    return newest ?? this.#findSecondChoice(last === null ? examined : [last, ...examined]);
  }

  async #examine(host: DatabaseHost): Promise<Examined> {
    try {
      return { host, status: await this.#options.examine(host) };
    } catch (error) {
      return { host, error };
    }
  }

  #isWanted(examined: Examined): examined is Answer {
    return 'status' in examined && this.findProblem(examined.status) === null;
  }

  #findSecondChoice(examined: readonly Examined[]): DatabaseHost {
    const usable = this.kind === 'prefer-standby' && examined.find((each) => 'status' in each);
    if (usable) return usable.host;
    const [failed] = examined;
    if (failed !== undefined && 'error' in failed && examined.every(isFinal)) throw failed.error;
    const errors = examined.flatMap((each) => ('error' in each ? [each.error] : []));
    throw new NoHostError(
      examined.map((each) => this.#describe(each)),
      errors,
    );
  }

  #describe(examined: Examined): string {
    const name = formatHost(examined.host);
    if ('status' in examined) return `${name} ${this.findProblem(examined.status)}`;
    const { error } = examined;
    return `${name} ${describeFailure(error)} (${explainDatabaseFailure(error).problem})`;
  }
}

/** The primary from before a failover may be running again: returns the host with the highest timeline, else the first one. */
function findNewest(answers: readonly Answer[]): DatabaseHost | null {
  const timelines = answers.map(({ status }) => status.timeline ?? 0);
  return answers[timelines.indexOf(Math.max(...timelines))]?.host ?? null;
}

function describeFailure(error: unknown): string {
  if (isTlsError(error)) return 'cannot be used with TLS';
  return error instanceof DatabaseError ? 'rejects the connection' : 'does not answer';
}

function isFinal(examined: Examined): boolean {
  return 'error' in examined && isRefusal(examined.error);
}
