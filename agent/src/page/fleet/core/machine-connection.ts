import { chooseGap, isLastingGap } from './choose-gap.ts';
import { diagnoseGap, type Diagnosis } from './diagnose-gap.ts';
import { parseMachineAddress } from './machine-address.ts';
import { parseBriefMessage } from './read-brief-message.ts';
import { decideRetryDelayMs, FAR_ATTEMPT } from './retry-delay.ts';
import { SilenceWatch } from './silence-watch.ts';
import type { FleetOptions, FleetSocket, MachineState, WaitReason } from './types.ts';
import type { WatchedMachine } from './watched-machine.ts';

/** A connection of this length resets the backoff. */
const STABLE_MS = 10_000;

/** The agent sends one message in a second. More than this, at once after the page was frozen, are not read. */
const MAX_MESSAGES_PER_SECOND = 400;

/** The agent would refuse other characters, and a browser cannot send them. */
const SENDABLE_TOKEN = /^[\w.~-]{1,200}$/u;

/** Close codes of RFC 6455 that agents send. */
const CLOSED_GOING_AWAY = 1001;
const CLOSED_POLICY_VIOLATION = 1008;

const INVALID_ADDRESS: Diagnosis = { reason: 'unreachable', detail: 'The address is not valid.' };

const LIVE: MachineState = { kind: 'live' };

/** The connections of the fleet, of which a browser allows only so many. */
export interface ConnectionSlots {
  /** Calls `open` when a connection is free. */
  request(connection: MachineConnection, isFirst: boolean): void;
  /** Records that the connection is open, so that others can begin. */
  opened(connection: MachineConnection): void;
  release(connection: MachineConnection): void;
}

/** What follows when the present socket is closed. */
type AfterClose = 'fail' | 'reopen' | 'turn' | 'nothing';

/**
 * Keeps a machine connected: one socket at a time, retries with backoff, and one diagnosis after each attempt that failed.
 */
export class MachineConnection {
  readonly machine: WatchedMachine;
  readonly #options: FleetOptions;
  readonly #slots: ConnectionSlots;
  readonly #silence = new SilenceWatch();
  #token: string | null;
  #socket: FleetSocket | null = null;
  #afterClose: AfterClose = 'fail';
  /** Whether the present socket, or the last one, got its hello. */
  #isGreeted = false;
  #greetedAtMs = 0;
  /** Whether the machine has its turn and no answer since is a gap. */
  #isTrying = false;
  #hasAnswered = false;
  #attempt = 0;
  /** Diagnoses that found the agent ready since the last hello. */
  #admitted = 0;
  #messages = 0;
  #cancelRetry = (): void => undefined;
  /** Invalidates a diagnosis that is under way. */
  #diagnosis = 0;

  constructor(
    machine: WatchedMachine,
    token: string | null,
    { options, slots }: { readonly options: FleetOptions; readonly slots: ConnectionSlots },
  ) {
    this.machine = machine;
    this.#options = options;
    this.#slots = slots;
    this.#token = toSendableToken(token);
  }

  /** Connects as soon as a connection is free. @param isFirst before machines that wait for their turn */
  connect(isFirst = false): void {
    this.#cancelWork();
    if (this.machine.state.kind === 'waiting') this.#wait('first_answer');
    if (this.#socket === null) this.#slots.request(this, isFirst);
    else if (this.#afterClose !== 'fail') this.#afterClose = 'reopen';
  }

  /** Opens a socket: a connection is free. */
  open(): void {
    const nowMs = this.#options.now();
    const address = parseMachineAddress(this.machine.listed.address);
    this.#isGreeted = false;
    this.#isTrying = true;
    this.#afterClose = 'fail';
    this.#silence.open(nowMs, this.machine.state.kind === 'live');
    if (this.machine.state.kind === 'waiting' && !this.#hasAnswered) this.#wait('first_answer');
    const socket = address === null ? null : this.#createSocket(address);
    if (socket === null) {
      this.#slots.release(this);
      this.#startDiagnosis();
      return;
    }
    this.#socket = socket;
    socket.addEventListener('open', () => this.#slots.opened(this));
    socket.addEventListener('message', ({ data }) => {
      if (this.#socket === socket && this.#afterClose === 'fail') this.#receive(data);
    });
    socket.addEventListener('close', ({ code, reason }) => this.#onClose(code, reason));
    // A close event follows, with as little information.
    socket.addEventListener('error', () => undefined);
  }

  /** Ends the turn: others wait for a connection. */
  endTurn(): void {
    this.#closeSocket('turn');
  }

  /** Closes for a hidden page; `connect` resumes. */
  pause(): void {
    this.stop();
    if (this.machine.state.kind !== 'gap') this.#wait('paused');
  }

  /** Closes for good. */
  stop(): void {
    this.#cancelWork();
    this.#isTrying = false;
    if (this.#socket === null) this.#slots.release(this);
    else this.#closeSocket('nothing');
  }

  /** Connects now if a retry or diagnosis is pending, or if the socket is silent. */
  retry(): void {
    if (!this.#isTrying) return;
    if (this.#socket === null) this.connect(true);
    else if (this.#silence.isSilent(this.#options.now())) this.#closeSocket('reopen');
  }

  /** Uses another token from now on. @param isConnecting false while paused */
  setToken(token: string | null, isConnecting: boolean): void {
    const isSame = this.#token === toSendableToken(token);
    this.#token = toSendableToken(token);
    if (!isConnecting || (isSame && this.machine.state.kind === 'live')) return;
    this.#attempt = 0;
    if (this.#socket === null) this.connect(true);
    else this.#closeSocket('reopen');
  }

  /** Records that the machine waits for others, unless it shows a gap. */
  waitForTurn(): void {
    const { state } = this.machine;
    if (state.kind === 'waiting' && state.for !== 'turn' && !this.#isTrying) this.#wait('turn');
  }

  /** Reports a gap when no message has arrived for too long, and gives the socket up when that lasts. */
  checkSilence(nowMs: number): void {
    this.#messages = Math.max(0, this.#messages - MAX_MESSAGES_PER_SECOND / 4);
    if (!this.#isTrying) return;
    if (this.machine.state.kind !== 'gap' && this.#silence.isSilent(nowMs)) {
      this.#showGap({ reason: 'no_answer' });
    }
    const isOpen = this.#socket !== null && this.#afterClose === 'fail';
    if (isOpen && this.#silence.isDead(nowMs)) this.#socket?.close();
  }

  /** Follows this page's clock, which was set. */
  shiftClock(ms: number): void {
    this.#silence.shiftClock(ms);
    this.#greetedAtMs += ms;
  }

  #createSocket(address: string): FleetSocket | null {
    const offer = this.#token === null ? [] : [`latchkey.token.${this.#token}`];
    try {
      return new this.#options.WebSocket(`wss://${address}/`, ['latchkey.brief.v1', ...offer]);
    } catch {
      // A policy of the page or browser forbids it; the diagnosis reports what can be known.
      return null;
    }
  }

  #receive(data: unknown): void {
    this.#messages += 1;
    const message = this.#messages > MAX_MESSAGES_PER_SECOND ? null : parseBriefMessage(data);
    if (message === null) return;
    const nowMs = this.#options.now();
    if (message['type'] === 'points' && this.#isGreeted) {
      const points = this.machine.acceptPoints(message, nowMs);
      if (points > 0) this.#silence.hear(nowMs, points, this.machine.intervalSeconds);
    } else if (message['type'] === 'hello' && this.machine.acceptHello(message, nowMs)) {
      this.#isGreeted = true;
      this.#hasAnswered = true;
      this.#greetedAtMs = nowMs;
      this.#admitted = 0;
      this.#silence.greet(nowMs, this.machine.intervalSeconds);
    } else return;
    if (this.machine.state.kind !== 'live') this.machine.setState(LIVE);
  }

  #onClose(code: number, reason: string): void {
    const after = this.#afterClose;
    this.#socket = null;
    this.#slots.release(this);
    if (after === 'nothing') return;
    const isStable = this.#isGreeted && this.#options.now() - this.#greetedAtMs >= STABLE_MS;
    if (isStable) this.#attempt = 0;
    if (after === 'turn' || after === 'reopen') {
      this.#isTrying = false;
      if (after === 'turn' && this.machine.state.kind !== 'gap') this.#wait('turn');
      this.#slots.request(this, after === 'reopen');
      return;
    }
    const detail = reason === '' ? {} : { detail: reason };
    if (code === CLOSED_POLICY_VIOLATION) this.#showGap({ reason: 'refused', ...detail });
    else if (code === CLOSED_GOING_AWAY) this.#showGap({ reason: 'stopped', ...detail });
    // A lost connection often works again at once; until then silence counts.
    if (this.#isGreeted) this.#scheduleRetry();
    else this.#startDiagnosis();
  }

  #startDiagnosis(): void {
    this.#diagnosis += 1;
    void this.#diagnose(this.#diagnosis);
  }

  async #diagnose(id: number): Promise<void> {
    const address = parseMachineAddress(this.machine.listed.address);
    const found =
      address === null ? INVALID_ADDRESS : await diagnoseGap(this.#options, address, this.#token);
    if (id !== this.#diagnosis) return;
    if (found === null) this.#admitted += 1;
    // The agent may have become ready just after the attempt; twice means that WebSockets do not pass.
    const diagnosis = this.#admitted >= 2 ? ({ reason: 'no_upgrade' } as const) : found;
    if (diagnosis !== null) {
      this.#showGap(diagnosis);
      if (isLastingGap(diagnosis.reason)) this.#attempt = Math.max(this.#attempt, FAR_ATTEMPT);
    }
    this.#scheduleRetry();
  }

  #scheduleRetry(): void {
    const isQuick = this.#attempt === 0;
    const delayMs = decideRetryDelayMs(this.#attempt, this.#options.random());
    this.#attempt += 1;
    this.#cancelRetry = this.#options.schedule(() => this.#slots.request(this, isQuick), delayMs);
  }

  #showGap(diagnosis: Diagnosis): void {
    const { state } = this.machine;
    const facts = { hasAnswered: this.#hasAnswered, since: this.#silence.sinceMs };
    const next = chooseGap(state, diagnosis, facts);
    if (next !== state) this.machine.setState(next);
  }

  #wait(reason: WaitReason): void {
    const { state } = this.machine;
    if (state.kind === 'waiting' && state.for === reason) return;
    this.machine.setState({ kind: 'waiting', for: reason });
  }

  #closeSocket(after: AfterClose): void {
    this.#afterClose = after;
    this.#socket?.close();
  }

  #cancelWork(): void {
    this.#cancelRetry();
    this.#diagnosis += 1;
  }
}

function toSendableToken(token: string | null): string | null {
  return token !== null && SENDABLE_TOKEN.test(token) ? token : null;
}
