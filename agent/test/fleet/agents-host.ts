import type { TlsMaterial } from '#agent/tls/tls-files.ts';

import { startMuteServer, startPlainProxy, startSilentServer } from './faulty-servers.ts';
import type { AgentPlan, AgentTls } from './plan.ts';
import { SimulatedAgent } from './simulated-agent.ts';
import type { FleetTls } from './tls-fixture.ts';

/** Behind the proxy. */
const HIDDEN_HOST = '127.0.0.1';

/** What an order does with an agent. */
const ORDERS: Readonly<Record<string, (agent: SimulatedAgent) => Promise<void> | void>> = {
  start: async (agent) => agent.start(0),
  stop: async (agent) => agent.stop(),
  restart: async (agent) => agent.restart(),
  reboot: async (agent) => agent.reboot(),
  'forget-token': (agent) => agent.forgetToken(),
};

/** Runs the agents of a plan, and the servers in place of some, in this process. */
export class AgentsHost {
  readonly #tls: FleetTls;
  readonly #pageOrigin: string;
  readonly #agents = new Map<string, SimulatedAgent>();

  /** @param pageOrigin the origin of the page that watches */
  constructor(tls: FleetTls, pageOrigin: string) {
    this.#tls = tls;
    this.#pageOrigin = pageOrigin;
  }

  async start(plans: readonly AgentPlan[]): Promise<void> {
    for (const [index, plan] of plans.entries()) {
      await this.#startOne(plan, (1000 * index) / plans.length);
    }
  }

  /** The number of connected viewers of all agents. */
  get viewers(): number {
    return [...this.#agents.values()].reduce((sum, agent) => sum + agent.viewers, 0);
  }

  /** Executes an order such as `stop web-5`. @throws Error for an unknown order or agent */
  async execute(order: string): Promise<void> {
    const [verb = '', id = ''] = order.split(' ');
    const [act, agent] = [ORDERS[verb], this.#agents.get(id)];
    if (act === undefined || agent === undefined) throw new Error(`Unknown order: ${order}`);
    await act(agent);
  }

  async #startOne(plan: AgentPlan, phaseMs: number): Promise<void> {
    const { cert, key } = this.#tls.pair;
    if (plan.kind === 'absent') return;
    if (plan.kind === 'silent') await startSilentServer(plan);
    else if (plan.kind === 'mute') await startMuteServer(plan, { cert, key });
    else if (plan.kind === 'agent') await this.#startAgent(plan, phaseMs);
    else {
      const hidden = { ...plan, host: HIDDEN_HOST };
      await this.#startAgent(hidden, phaseMs);
      await startPlainProxy(plan, { cert, key }, hidden);
    }
  }

  async #startAgent(plan: AgentPlan, phaseMs: number): Promise<void> {
    const allowedOrigins = new Set(plan.allowsPages ? [this.#pageOrigin] : []);
    const agent = new SimulatedAgent({
      plan,
      tls: this.#chooseTls(plan.tls),
      allowedOrigins,
      phaseMs,
    });
    this.#agents.set(plan.id, agent);
    await agent.start();
  }

  #chooseTls(name: AgentTls): TlsMaterial {
    return this.#tls.materials[name];
  }
}
