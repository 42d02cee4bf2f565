import { describeError } from './answers/causes.ts';
import type { Machines } from './answers/machine.ts';
import { isNoAnswer, OK, refuse, type Result } from './answers/results.ts';
import { check } from './calls/check.ts';
import type { PurchaseOptions } from './calls/purchase-options.ts';
import { Background } from './checks/background.ts';
import type { Trigger } from './checks/trigger.ts';
import type { EventProps } from './events/event.ts';
import type { Flushed } from './events/flushed.ts';
import type { EventTracker } from './events/tracker.ts';
import type { OfflineOrder } from './offline/order.ts';
import { callRare, loadRareCalls, type RareCalls } from './load-rare-calls.ts';
import { openSession, type Opened } from './open-session.ts';
import type { Options } from './options.ts';
import { Sequence } from './sequence.ts';
import { differs } from './state/differs.ts';
import type { LicenseState } from './state/state.ts';
import { VERSION } from './version.ts';

/** The license of a program on this machine. */
export class Latchkey {
  readonly #opened: Opened;
  readonly #calls = new Sequence();
  readonly #eventCalls = new Sequence();
  readonly #events: EventTracker | null;
  readonly #background: Background;
  readonly #listeners = new Set<(state: LicenseState) => void>();
  readonly #stopNetwork: () => void;
  /** Deletes what waits, and waits for a batch that is being sent. */
  readonly #clearEvents = (): Promise<unknown> => {
    this.#events?.clear();
    return this.#eventCalls.run(async () => OK);
  };
  #shown: LicenseState;

  /**
   * Reads what is kept. It asks no service, so that a program starts at once, with or without a network.
   * @throws TypeError when an option is wrong; nothing else of a client throws
   */
  static async open(options: Options): Promise<Latchkey> {
    return new Latchkey(await openSession(options));
  }

  private constructor(opened: Opened) {
    this.#opened = opened;
    const { session, events, network } = opened;
    this.#events = events?.connect(session) ?? null;
    this.#shown = session.state;
    this.#background = new Background({
      check: (trigger) => this.check(trigger),
      flush: () => this.flush(),
      notify: () => this.#notify(),
      isUnread: () => session.isUnread,
      now: session.parts.now,
      random: Math.random,
      network: network.describe,
    });
    this.#stopNetwork = network.onReturn(() => this.#background.noticeNetwork());
    if (opened.refreshMachine !== null) void this.#do(opened.refreshMachine);
  }

  /** What the program may do now. It is computed at each access, and needs no network. */
  get state(): LicenseState {
    return this.#opened.session.state;
  }

  /** Whether the program may run, with this feature. */
  has(feature: string): boolean {
    const { state } = this;
    return state.mayRun && state.features.includes(feature);
  }

  /** Calls a function whenever the state changes, but not during `open`. @returns a function that ends this */
  onChange(listener: (state: LicenseState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Activates this machine with a key, as a person typed or pasted it. */
  activate(key: string): Promise<Result> {
    return this.#doRare((calls, session) => calls.activate(session, key));
  }

  /** Starts the trial of this machine. Without an answer, `keepChecking` starts it later. */
  startTrial(): Promise<Result> {
    return this.#doRare((calls, session) => calls.startTrial(session));
  }

  /** Asks the service whether this machine may run. Call it on your own only if you do not call `keepChecking`. */
  check(trigger: Trigger = 'manual'): Promise<Result> {
    return this.#do((session) => check(session, trigger));
  }

  /** Checks now and from now on: daily, after sleep, when the network returns; and sends events. */
  keepChecking(): void {
    this.#background.start();
  }

  /** Call it when the program comes to the front: a check follows, at most one a minute. */
  noticeFocus(): void {
    this.#background.noticeFocus();
  }

  /** Lists the machines of the license, or of the key that was just refused because none is free. */
  machines(): Promise<Machines> {
    return this.#doRare((calls, session) => calls.listMachines(session));
  }

  /** Frees another machine of the license, and activates this one. */
  moveHere(activationId: string): Promise<Result> {
    return this.#doRare((calls, session) => calls.moveHere(session, activationId));
  }

  /** Frees this machine. Without an answer it goes on running, and the next check frees it. */
  deactivate(): Promise<Result> {
    return this.#doRare((calls, session) => calls.deactivate(session));
  }

  /** Waits for the license of a purchase, and activates it. @param transactionId that of the payment provider's checkout */
  async afterPurchase(transactionId: string, options: PurchaseOptions = {}): Promise<Result> {
    const calls = await loadRareCalls();
    const ask = (): Promise<Result> =>
      this.#doRare((rare, session) => rare.activatePurchase(session, transactionId));
    return calls === null
      ? ask()
      : calls.pollPurchase(ask, this.#opened.session.parts.now, options);
  }

  /** Creates the text of a machine without a connection, for the page for buyers. */
  offlineRequest(order: OfflineOrder): Promise<Result<{ readonly request: string }>> {
    return this.#doRare((calls, session) => calls.createOfflineRequest(session, order));
  }

  /** Accepts the answer to the last request, with any text around it. */
  acceptOffline(text: string): Promise<Result> {
    return this.#doRare((calls, session) => calls.acceptOfflineAnswer(session, text));
  }

  /** Keeps an event until it is sent. Nothing is sent before `setSharing(true)`. */
  track(name: string, props: EventProps = {}): void {
    const { kept, parts } = this.#opened.session;
    if (kept.sharing === false) return;
    try {
      this.#events?.track(name, props);
    } catch (error) {
      parts.report({ code: 'unexpected', message: describeError(error) });
    }
  }

  /** Sends the events that wait, if the user shares usage. */
  flush(): Promise<Flushed> {
    return this.#eventCalls.run(() =>
      this.#guard(async () => (await this.#events?.flush()) ?? refuse('events_off')),
    );
  }

  /** Notes whether the user shares usage; the next check reports it. Without consent, all events are deleted. */
  setSharing(sharing: boolean): Promise<Result> {
    return this.#doRare((calls, session) => calls.keepConsent(session, sharing, this.#clearEvents));
  }

  /**
   * Deletes the events and the id of this installation here, and stops sharing. Events that were sent stay with the vendor, who
   * erases them under the id that is returned.
   */
  erase(): Promise<Result<{ readonly installId: string | null }>> {
    return this.#doRare((calls, session) => calls.forgetInstall(session, this.#clearEvents));
  }

  /** Describes the license for support, without key, token and machine id. */
  async explain(): Promise<string> {
    const { service, session, platform, problems } = this.#opened;
    const explained = await this.#doRare(async (calls) => ({
      ok: true,
      text: await calls.explain(session, {
        service,
        clientVersion: VERSION,
        platform,
        eventsDropped: this.#events?.dropped ?? 0,
        problems,
      }),
    }));
    return explained.ok ? explained.text : `${JSON.stringify(session.state)}\n`;
  }

  /** Ends the checks, and waits for calls that run. Events wait for the next start. */
  async close(): Promise<void> {
    this.#background.stop();
    this.#stopNetwork();
    this.#listeners.clear();
    await Promise.all([this.#calls.run(async () => OK), this.#eventCalls.run(async () => OK)]);
  }

  /** Runs a call after all others, and shows what it changed. */
  #do<Content>(
    work: (session: Opened['session']) => Promise<Result<Content>>,
  ): Promise<Result<Content>> {
    return this.#calls.run(async () => {
      const { session } = this.#opened;
      const result = await this.#guard(async () => {
        await session.load();
        return work(session);
      });
      if (isNoAnswer(result)) this.#background.noticeFailure(result);
      this.#notify();
      return result;
    });
  }

  #doRare<Content>(
    work: (calls: RareCalls, session: Opened['session']) => Promise<Result<Content>>,
  ): Promise<Result<Content>> {
    return this.#do((session) => callRare(session, work));
  }

  async #guard<Content>(work: () => Promise<Result<Content>>): Promise<Result<Content>> {
    try {
      return await work();
    } catch (error) {
      this.#opened.session.parts.report({ code: 'unexpected', message: describeError(error) });
      return refuse('unexpected');
    }
  }

  #notify(): void {
    const { state } = this;
    if (!differs(this.#shown, state)) return;
    this.#shown = state;
    for (const listener of this.#listeners) {
      try {
        listener(state);
      } catch (error) {
        this.#opened.session.parts.report({ code: 'listener', message: describeError(error) });
      }
    }
  }
}
