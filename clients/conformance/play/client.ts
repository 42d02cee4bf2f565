import type { Answer } from '../driver/answer.ts';
import { Driver, type Command, type DriverProgram } from '../driver/driver.ts';
import type { FaultProxy } from '../proxy/fault-proxy.ts';
import { findDifference } from './difference.ts';
import { describeRequest, type Transcript } from './transcript.ts';

/** What a scene expects of an answer: parts of it, and all requests that the call caused. */
export interface Expected {
  readonly result?: object;
  readonly state?: object;
  readonly requests?: readonly string[];
}

/** A client did not do what a scene expects. */
export class DifferenceError extends Error {}

/** A client does not support a command; the scene is skipped. */
export class UnsupportedError extends Error {}

/** What every client of a scene shares. */
export interface ClientContext {
  readonly program: DriverProgram;
  readonly network: FaultProxy;
  readonly transcript: Transcript;
}

/** A client in a scene: sends commands to its driver, and compares the answers. */
export class SceneClient {
  readonly #context: ClientContext;
  readonly #driver: Driver;
  /** What the client reported through its callback for problems so far. */
  readonly problems: string[] = [];

  constructor(context: ClientContext) {
    this.#context = context;
    this.#driver = new Driver(context.program);
  }

  /** Sends a command. @throws DifferenceError if the answer is not as expected */
  do(command: Command, expected: Expected = {}): Promise<Answer> {
    return this.expectFields(command, { ...expected });
  }

  /** Sends a command of which other fields of the answer are expected than those of a call. */
  async expectFields(command: Command, expected: object): Promise<Answer> {
    const { network, transcript } = this.#context;
    const before = network.requests.length;
    const answer = await this.#driver.ask(command);
    if (answer.unsupported === true) throw new UnsupportedError(`does not support ${command.do}`);
    this.problems.push(...(answer.problems ?? []));
    const requests = network.requests.slice(before);
    transcript.add(describeCommand(command), answer, requests);
    const difference = findDifference(expected, {
      ...answer,
      requests: requests.map(describeRequest),
    });
    if (difference === null) return answer;
    throw new DifferenceError(`${describeCommand(command)}: ${difference}`);
  }

  activate(key: string, expected: Expected): Promise<Answer> {
    return this.do({ do: 'activate', key }, expected);
  }

  startTrial(expected: Expected): Promise<Answer> {
    return this.do({ do: 'trial' }, expected);
  }

  check(expected: Expected, trigger = 'manual'): Promise<Answer> {
    return this.do({ do: 'check', trigger }, expected);
  }

  machines(expected: Expected): Promise<Answer> {
    return this.do({ do: 'machines' }, expected);
  }

  moveHere(activationId: string, expected: Expected): Promise<Answer> {
    return this.do({ do: 'move_here', activation_id: activationId }, expected);
  }

  deactivate(expected: Expected): Promise<Answer> {
    return this.do({ do: 'deactivate' }, expected);
  }

  /** Creates a request for a machine without a connection, and returns its text. */
  async offlineRequest(product: string, name: string | null): Promise<string> {
    const expected = { result: { ok: true }, requests: [] };
    const { result } = await this.do({ do: 'offline_request', product, name }, expected);
    if (result?.request === undefined) throw new DifferenceError('offline_request: no request');
    return result.request;
  }

  acceptOffline(text: string, expected: Expected): Promise<Answer> {
    return this.do({ do: 'accept_offline', text }, { ...expected, requests: [] });
  }

  /** Reads the state, which never sends a request. */
  state(state: object): Promise<Answer> {
    return this.do({ do: 'state' }, { state, requests: [] });
  }

  /** Sets the clock of the device, in milliseconds since 1970. */
  setClock(nowMs: number, state: object): Promise<Answer> {
    return this.do({ do: 'clock', now_ms: Math.round(nowMs) }, { state, requests: [] });
  }

  close(): Promise<void> {
    return this.#driver.close();
  }

  kill(): Promise<void> {
    return this.#driver.kill();
  }
}

/** Returns the name of a command, and its trigger. */
function describeCommand({ do: name, trigger }: Command): string {
  return typeof trigger === 'string' ? `${name} (${trigger})` : name;
}
