import type {
  CounterStore,
  Exchange,
  ExchangeOutcome,
  LocalStore,
} from '#server/lib/shared-counters.ts';
import { isRecord } from '#server/lib/unknown-values.ts';

import type { Channel } from './channel.ts';

/** The supervisor only compares and stores; a second means that it hangs. */
const TIMEOUT_MS = 1_000;

/** More exchanges are several messages. */
const MAX_EXCHANGES = 1_000;

/** In characters. The longest name of a client has an e-mail address and a network, the longest value eight numbers. */
const MAX_KIND = 32;
const MAX_CLIENT = 512;
const MAX_VALUE = 256;

interface WaitingExchange {
  readonly exchange: Exchange;
  readonly resolve: (outcome: ExchangeOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** The counters in the supervisor, for a worker. Exchanges of one turn of the event loop are one message. */
export class ChannelStore implements CounterStore {
  readonly #channel: Pick<Channel, 'request'>;
  #waiting: WaitingExchange[] = [];

  constructor(channel: Pick<Channel, 'request'>) {
    this.#channel = channel;
  }

  exchange(exchange: Exchange): Promise<ExchangeOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<ExchangeOutcome>();
    if (this.#waiting.length === 0) setImmediate(() => this.#sendWaiting());
    this.#waiting.push({ exchange, resolve, reject });
    return promise;
  }

  #sendWaiting(): void {
    const calls = this.#waiting;
    this.#waiting = [];
    for (let first = 0; first < calls.length; first += MAX_EXCHANGES) {
      void this.#send(calls.slice(first, first + MAX_EXCHANGES));
    }
  }

  async #send(calls: readonly WaitingExchange[]): Promise<void> {
    try {
      const exchanges = calls.map(({ exchange }) => exchange);
      const answer = await this.#channel.request('exchange_counters', exchanges, TIMEOUT_MS);
      const outcomes = Array.isArray(answer) ? answer.map(readOutcome) : [];
      for (const [index, { resolve, reject }] of calls.entries()) {
        const outcome = outcomes[index] ?? null;
        if (outcome === null) reject(new Error('the supervisor sent no valid outcome'));
        else resolve(outcome);
      }
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }
}

function readOutcome(value: unknown): ExchangeOutcome | null {
  if (value === true) return true;
  if (!isRecord(value)) return null;
  const { current } = value;
  return typeof current === 'string' || current === null ? { current } : null;
}

/**
 * Executes the exchanges of a worker in the supervisor. Their size is limited, because the supervisor stores them and does not
 * trust its workers.
 * @throws {Error} when the payload is not valid
 */
export function exchangeAll(store: LocalStore, payload: unknown): readonly ExchangeOutcome[] {
  if (!Array.isArray(payload) || payload.length > MAX_EXCHANGES) {
    throw new Error('invalid exchanges');
  }
  return payload.map((each) => store.exchange(readExchange(each)));
}

function readExchange(value: unknown): Omit<Exchange, 'keepMs'> {
  if (isRecord(value)) {
    const { kind, client, expected, next } = value;
    if (isText(kind, MAX_KIND) && isText(client, MAX_CLIENT)) {
      if (isValue(expected) && isValue(next)) return { kind, client, expected, next };
    }
  }
  throw new Error('invalid exchange');
}

function isText(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value.length <= maxLength;
}

function isValue(value: unknown): value is string | null {
  return value === null || isText(value, MAX_VALUE);
}
