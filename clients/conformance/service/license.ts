import type { ServiceClient } from './service-client.ts';

/** What changes a license in the service: the command line, and the database. */
export interface Administration {
  /** Runs `latchkey` with `--json`, and returns the output. */
  latchkey(args: readonly string[]): Promise<unknown>;
  /** Runs a statement in the database of the service. */
  query(sql: string): Promise<void>;
}

/** A license of the real service, and what may happen to it. */
export class License {
  readonly id: string;
  readonly key: string;
  readonly #admin: Administration;
  readonly #client: ServiceClient;

  constructor(id: string, key: string, admin: Administration, client: ServiceClient) {
    this.id = id;
    this.key = key;
    this.#admin = admin;
    this.#client = client;
  }

  revoke = () => this.#change('revoke');
  suspend = () => this.#change('suspend');
  reinstate = () => this.#change('reinstate');
  extend = (days: number) => this.#change('extend', '--days', String(days));
  allowMove = () => this.#change('allow-move');

  /** The payment provider reports these; the database then has the time of the report. */
  refund = () => this.#set('refunded_at = now()');
  pause = () => this.#set('paused_at = now()');
  resume = () => this.#set('paused_at = null');
  cancel = () => this.#set('canceled_at = now()');
  expire = () => this.#set("expires_at = now() - interval '1 hour'");
  endUpdates = () => this.#set("updates_until = now() - interval '1 hour'");

  /** Replaces the key, and returns the new one. Machines stay active. */
  async rekey(): Promise<string> {
    return readText(await this.#change('rekey', '--no-mail'), 'license_key');
  }

  /** The buyer frees a machine on the page for buyers. */
  async freeMachine(activationId: string): Promise<void> {
    await this.#change('free-machine', activationId);
  }

  /** Activates another machine of the customer. */
  activateOn = (machineId: string) => this.#client.activate(this.key, machineId);

  deactivate = (activationId: string, machineId: string) =>
    this.#client.deactivate(this.key, activationId, machineId);

  activateAirgapped = (request: string) => this.#client.activateAirgapped(this.key, request);

  /** Lists the active machines. */
  listActive = () => this.#client.listActive(this.key);

  #change(name: string, ...args: readonly string[]): Promise<unknown> {
    return this.#admin.latchkey(['license', name, this.id, ...args, '--reason', 'conformance']);
  }

  #set(assignment: string): Promise<void> {
    return this.#admin.query(`update licenses set ${assignment} where id = '${this.id}'`);
  }
}

/** Returns a text of a JSON object. @throws Error if there is none */
export function readText(json: unknown, name: string): string {
  const value: unknown =
    typeof json === 'object' && json !== null
      ? Object.entries(json).find(([key]) => key === name)?.[1]
      : null;
  if (typeof value === 'string') return value;
  throw new Error(`there is no text ${name} in ${JSON.stringify(json)}`);
}
