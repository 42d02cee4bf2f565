import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { writeListFragment } from '#agent/page/fleet/core/list-fragment.ts';

import { CertificateFixture } from '../certificates.ts';
import { type AgentPlan, listMachines, planFleet, type PlanOptions } from './plan.ts';
import { authorityFile, trustArgument, writeTlsFiles } from './tls-fixture.ts';

const PROGRAM = fileURLToPath(new URL('./serve-agents.ts', import.meta.url));

/** What can be done with an agent while it is watched. */
export const VERBS = [
  'stop',
  'start',
  'reboot',
  'restart',
  'forget-token',
  'freeze',
  'thaw',
] as const;
export type Verb = (typeof VERBS)[number];

/** Agents on loopback addresses of this machine, in processes of their own. */
export class AgentFleet implements AsyncDisposable {
  readonly plans: readonly AgentPlan[];
  readonly #fixture = new CertificateFixture();
  readonly #processes = new Map<string, ChildProcess>();

  private constructor(options: PlanOptions) {
    this.plans = planFleet(options);
  }

  /** Starts a fleet, and waits until its ports are open. */
  static async start(options: PlanOptions): Promise<AgentFleet> {
    const fleet = new AgentFleet(options);
    writeTlsFiles(fleet.#fixture, fleet.plans);
    const alone = fleet.plans.filter(({ isAlone }) => isAlone).map(({ id }) => id);
    await Promise.all(['', ...alone].map((id) => fleet.#startProcess(id, options)));
    return fleet;
  }

  /** The argument with which Chromium trusts these agents. */
  get trustArgument(): string {
    return trustArgument(this.#fixture.directory);
  }

  /** The certificate to import into another browser. */
  get authorityFile(): string {
    return authorityFile(this.#fixture.directory);
  }

  /** The address of the page that an agent serves. */
  get pageUrl(): string {
    const [first] = this.plans;
    return `https://${first?.host}:${first?.port}/fleet`;
  }

  /** The address of that page with all agents in it. */
  get listUrl(): string {
    return `${this.pageUrl}${writeListFragment(listMachines(this.plans))}`;
  }

  /** Whether an agent exists and can be changed like this: only one with a process of its own can be frozen. */
  canAct(verb: Verb, id: string): boolean {
    const plan = this.plans.find((each) => each.id === id);
    if (plan === undefined || !['agent', 'no_upgrade'].includes(plan.kind)) return false;
    return plan.isAlone || (verb !== 'freeze' && verb !== 'thaw');
  }

  /** Changes an agent, and waits until it has. */
  async act(verb: Verb, id: string): Promise<void> {
    const own = this.#processes.get(id);
    if (verb === 'freeze' || verb === 'thaw') {
      own?.kill(verb === 'freeze' ? 'SIGSTOP' : 'SIGCONT');
      return;
    }
    const order = `${verb} ${id}`;
    await this.#ask(own ?? this.#processes.get(''), order, (answer) => answer === order);
  }

  /** Counts the connected viewers of all agents, without those in processes of their own. */
  async countViewers(): Promise<number> {
    const child = this.#processes.get('');
    return Number(await this.#ask(child, 'viewers', (answer) => typeof answer === 'number'));
  }

  /** Sends an order to a process, and waits for its answer. */
  async #ask(
    child: ChildProcess | undefined,
    order: string,
    isAnswer: (message: unknown) => boolean,
  ): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const listen = (message: unknown): void => {
      if (isAnswer(message)) resolve(message);
    };
    child?.on('message', listen).send(order);
    const answer = await promise;
    child?.off('message', listen);
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#processes.values()].map(endProcess));
    this.#fixture[Symbol.dispose]();
  }

  async #startProcess(alone: string, { count, port, withFaults }: PlanOptions): Promise<void> {
    const args = [count, port, withFaults ? 'yes' : 'no', this.#fixture.directory, alone];
    const child = fork(PROGRAM, args.map(String), {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    this.#processes.set(alone, child);
    // A frozen process does not notice that this one ends.
    process.once('exit', () => child.kill('SIGKILL'));
    const failed = once(child, 'exit').then(() => {
      throw new Error('The agents could not be started; see above.');
    });
    await Promise.race([once(child, 'message'), failed]);
    failed.catch(() => undefined);
  }
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  // A frozen process ends, too.
  child.kill('SIGKILL');
  await ended;
}
