import type { Answer } from '../driver/answer.ts';
import type { RecordedRequest } from '../proxy/exchange.ts';

/** A command with its answer and the requests that it caused, without what differs from run to run. */
export interface TranscriptStep {
  readonly did: string;
  readonly answer: object;
  /** Method and path. */
  readonly requests: readonly string[];
}

const HOUR_MS = 3_600_000;
const KEY_IN_PATH = /\/licenses\/[^/]+\/activations/u;

/** Collects what a client did in a scene, so that it can be compared with what another one did. */
export class Transcript {
  readonly steps: TranscriptStep[] = [];
  readonly #startMs: number;
  readonly #activations: string[] = [];

  /** @param startMs the time from which times in answers are measured */
  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  /** Forgets the steps, for a scene in which they differ from client to client. */
  clear(): void {
    this.steps.length = 0;
  }

  add(did: string, answer: Answer, requests: readonly RecordedRequest[]): void {
    this.steps.push({
      did,
      answer: this.#normalize(answer),
      requests: requests.map(describeRequest),
    });
  }

  /** Leaves out problems, which a client may report at any step. */
  #normalize({ state, result, text, problems: _problems, ...others }: Answer): object {
    return {
      ...others,
      ...(text === undefined ? {} : { text: 'a text' }),
      ...(state === undefined
        ? {}
        : {
            state: {
              ...state,
              until: this.#hoursSinceStart(state.until),
              last_answer_at: this.#hoursSinceStart(state.last_answer_at),
            },
          }),
      ...(result === undefined ? {} : { result: this.#normalizeResult(result) }),
    };
  }

  #normalizeResult({ machines, request, available_at: availableAt, ...others }: Result): object {
    return {
      ...others,
      ...(request === undefined ? {} : { request: 'a request' }),
      ...(availableAt === undefined ? {} : { available_at: this.#hoursSinceStart(availableAt) }),
      ...(machines === undefined
        ? {}
        : {
            machines: machines.map((machine) => ({
              ...machine,
              activation_id: this.#numberOf(machine.activation_id),
            })),
          }),
    };
  }

  /** Rounded, because the service answers some seconds after the start. */
  #hoursSinceStart(time: string | null): number | null {
    if (time === null) return null;
    const hours = Math.round((Date.parse(time) - this.#startMs) / HOUR_MS);
    // Never -0, which differs from 0.
    return hours === 0 ? 0 : hours;
  }

  #numberOf(activationId: string): number {
    if (!this.#activations.includes(activationId)) this.#activations.push(activationId);
    return this.#activations.indexOf(activationId);
  }
}

type Result = NonNullable<Answer['result']>;

/** Returns method and path, with `{license_key}` for a key. */
export function describeRequest({ method, path }: RecordedRequest): string {
  return `${method} ${path.replace(KEY_IN_PATH, '/licenses/{license_key}/activations')}`;
}
