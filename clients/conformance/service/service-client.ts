import { Type } from 'typebox';
import { Parse } from 'typebox/schema';

const Activated = Type.Object({
  activation_id: Type.String(),
  entitlement: Type.Union([Type.String(), Type.Null()]),
});

const Machines = Type.Array(
  Type.Object({
    activation_id: Type.String(),
    machine_id: Type.String(),
    is_active: Type.Boolean(),
  }),
);

const KeySet = Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.String())) });

/** An address of its own, so that its failed requests do not count for the clients. */
const HEADERS = { 'content-type': 'application/json', 'x-forwarded-for': '10.255.255.1' };

/** Calls the service directly, as other machines of a customer do. */
export class ServiceClient {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async activate(key: string, machineId: string) {
    const machine = { machine_id: machineId };
    const body = { license_key: key, machine_fingerprint: machine };
    return Parse(Activated, await this.#post('/api/v1/licenses/activate', body));
  }

  async deactivate(key: string, activationId: string, machineId: string): Promise<void> {
    const body = { license_key: key, activation_id: activationId, machine_id: machineId };
    await this.#post('/api/v1/licenses/deactivate', body);
  }

  /** Activates a machine without a connection by its request, and returns the entitlement. */
  async activateAirgapped(key: string, request: string): Promise<string> {
    const body = { license_key: key, request };
    const answer = await this.#post('/api/v1/licenses/activate-airgapped', body);
    return Parse(Activated, answer).entitlement ?? '';
  }

  /** Lists the machines of a license that are active. */
  async listActive(key: string) {
    const path = `/api/v1/licenses/${encodeURIComponent(key)}/activations`;
    const machines = Parse(Machines, await this.#read(path));
    return machines.filter((machine) => machine.is_active);
  }

  /** Returns the public keys that the service publishes. */
  async listPublicKeys(): Promise<readonly Readonly<Record<string, string>>[]> {
    return Parse(KeySet, await this.#read('/.well-known/jwks.json')).keys;
  }

  #post(path: string, body: object): Promise<unknown> {
    return this.#send(path, { method: 'POST', body: JSON.stringify(body) });
  }

  #read(path: string): Promise<unknown> {
    return this.#send(path, {});
  }

  async #send(path: string, options: RequestInit): Promise<unknown> {
    const response = await fetch(this.#url + path, { ...options, headers: HEADERS });
    if (response.status === 200) return response.json();
    throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`);
  }
}
