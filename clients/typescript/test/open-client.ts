/** Opens clients of a scripted service. */
import { Latchkey, memoryStore, type Options } from '../src/index.ts';
import type { ClientProblem } from '../src/problem.ts';
import { events } from '../src/events.ts';
import { createScriptedService, json, type ScriptedService } from './scripted-service.ts';
import { ISSUER, MACHINE_ID, NOW_MS, SIGNER, signToken, type ClaimChanges } from './signer.ts';

export const KEY = 'LK-7Q2M9-X4T1C-ZB8DH-3KPNE-5WV94';

export interface OpenedClient {
  readonly client: Latchkey;
  readonly service: ScriptedService;
  readonly problems: ClientProblem[];
  /** The device's clock. */
  readonly clock: { ms: number };
  /** Closes, and opens another client with what was kept. */
  readonly reopen: (options?: Partial<Options>) => Promise<Latchkey>;
}

/** Opens a client of a machine with a clock that stands at {@link NOW_MS}. */
export async function openClient(changes: Partial<Options> = {}): Promise<OpenedClient> {
  const service = createScriptedService();
  const problems: ClientProblem[] = [];
  const clock = { ms: NOW_MS };
  const options: Options = {
    service: ISSUER,
    issuer: ISSUER,
    products: ['personal'],
    publicKeys: [SIGNER.publicKey],
    appVersion: '2.4.0',
    machine: { machine_id: MACHINE_ID },
    store: memoryStore(),
    events: events(),
    fetch: service.fetch,
    now: () => clock.ms,
    onProblem: (each) => problems.push(each),
    ...changes,
  };
  const client = await Latchkey.open(options);
  const reopen = async (others: Partial<Options> = {}): Promise<Latchkey> => {
    await client.close();
    return Latchkey.open({ ...options, ...others });
  };
  return { client, service, problems, clock, reopen };
}

/** The answer of a service that activates. */
export function activated(changes: ClaimChanges = {}): Response {
  return json({
    activation_id: '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d',
    expires_at: null,
    status: 'active',
    entitlement: signToken(changes),
  });
}

/** The answer of a service that starts a trial. */
export function trialStarted(): Response {
  return json({
    license_key: 'LK-TRIAL',
    activation_id: '0190a6b2-0000-7d32-9c41-3f5f0a1b2c3d',
    entitlement: signToken({ trial: true, tier: 'trial', features: ['history'] }),
  });
}

/** The answer of a service that validates. */
export function validated(changes: ClaimChanges = {}): Response {
  const entitlement = signToken(changes);
  return json({ valid: true, status: 'active', expires_at: null, reason: null, entitlement });
}

/** Opens a client that is activated. */
export async function openActivated(
  changes: Partial<Options> = {},
  claims: ClaimChanges = {},
): Promise<OpenedClient> {
  const opened = await openClient(changes);
  opened.service.answer(() => activated(claims));
  await opened.client.activate(KEY);
  opened.service.requests.length = 0;
  return opened;
}
