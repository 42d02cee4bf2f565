/** What a client, a program and an operator have of the data of a release: later releases must accept it. */
import { LicenseActivateResponse, TrialStartResponse } from '@latchkey/contract';
import { type Static, type TSchema, Type } from 'typebox';
import { Parse } from 'typebox/value';

import { PASSWORD } from '../../demo/past/operators.ts';
import { ADMIN } from '../../demo/past/people.ts';
import type { FixtureManifest } from './fixture.ts';

/** Runs a command with `--json` and returns its output. */
export type RunJson = (...args: readonly string[]) => Promise<unknown>;

type Known = Omit<FixtureManifest, 'version' | 'tables' | 'master_secret'>;

const MACHINE_ID = '4c4c4544-0044-upgrade';
const LICENSE_URL = '/api/v1/licenses/activate';
const TRIAL_URL = '/api/v1/trial/start';

const Issued = Type.Object({ license_key: Type.String() });
const Key = Type.Object({ api_key: Type.String() });
const Endpoint = Type.Object({ secret: Type.String() });
const Verified = Type.Object({
  head: Type.Object({ sequence: Type.Integer(), hash: Type.String() }),
});
const Report = Type.Object({
  rows: Type.Array(Type.Object({ day: Type.String(), machines: Type.Integer() })),
});

/**
 * Creates a license, a trial, API keys, a link for an operator and an endpoint with a running service.
 * @param receiverUrl nothing listens there yet, so the next release sends what is created
 */
export async function createKnown(url: string, run: RunJson, receiverUrl: string): Promise<Known> {
  const endpoint = `${receiverUrl}/upgrade`;
  const { secret } = Parse(Endpoint, await run('endpoint', 'add', endpoint));
  const issued = await run('license', 'issue', '--product', 'home');
  const { license_key } = Parse(Issued, issued);
  const fingerprint = { machine_fingerprint: { machine_id: MACHINE_ID } };
  const order = { license_key, ...fingerprint };
  const activated = await post(LicenseActivateResponse, url + LICENSE_URL, order);
  const trial = await post(TrialStartResponse, url + TRIAL_URL, fingerprint);
  const keys = await createApiKeys(run);
  await run('operator', 'create', 'invited@contour.example', '--role', 'viewer');
  const report = await readReport(run, new Date());
  const { head } = Parse(Verified, await run('audit', 'verify'));
  return {
    license_key,
    activation_id: activated.activation_id,
    entitlement: activated.entitlement ?? '',
    trial_license_key: trial.license_key,
    machine_id: MACHINE_ID,
    ...keys,
    operator: { email: ADMIN.email, password: PASSWORD },
    audit_head: `${head.sequence}:${head.hash}`,
    endpoint: { url: endpoint, secret },
    report,
  };
}

async function createApiKeys(run: RunJson) {
  const create = async (name: string, scope: string): Promise<string> =>
    Parse(Key, await run('key', 'create', '--name', name, '--scope', scope)).api_key;
  return {
    admin_api_key: await create('upgrade of operators', 'admin:read'),
    metrics_api_key: await create('upgrade of metrics', 'metrics:read'),
  };
}

const DAY_MS = 86_400_000;

/** Days that are final are not computed again. */
async function readReport(run: RunJson, now: Date): Promise<FixtureManifest['report']> {
  const dayBefore = (days: number): string =>
    new Date(now.getTime() - days * DAY_MS).toISOString().slice(0, 10);
  const [from, to] = [dayBefore(30), dayBefore(4)];
  const { rows } = Parse(Report, await run('report', 'machines', '--from', from, '--to', to));
  return { from, to, rows };
}

async function post<Shape extends TSchema>(
  shape: Shape,
  url: string,
  body: object,
): Promise<Static<Shape>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return Parse(shape, await response.json());
}
