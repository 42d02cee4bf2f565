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
    if (this.#waiting.length === 0) setImmediate(() => void this.#send());
    this.#waiting.push({ exchange, resolve, reject });
    return promise;
  }

  async #send(): Promise<void> {
    const calls = this.#waiting;
    this.#waiting = [];
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
 * Executes the exchanges of a worker in the supervisor.
 * @throws {Error} when the payload is not valid
 */
export function exchangeAll(store: LocalStore, payload: unknown): readonly ExchangeOutcome[] {
  if (!Array.isArray(payload)) throw new Error('invalid exchanges');
  return payload.map((each) => store.exchange(readExchange(each)));
}

function readExchange(value: unknown): Omit<Exchange, 'keepMs'> {
  if (isRecord(value)) {
    const { kind, client, expected, next } = value;
    if (typeof kind === 'string' && typeof client === 'string') {
      if (isText(expected) && isText(next)) return { kind, client, expected, next };
    }
  }
  throw new Error('invalid exchange');
}

function isText(value: unknown): value is string | null {
  return typeof value === 'string' || value === null;
}
