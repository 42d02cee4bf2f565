import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  LicenseActivateResponse,
  LicenseValidateResponse,
  TrialStartResponse,
} from '@latchkey/contract';
import { Parse } from 'typebox/value';

import { anyAddress } from '../http-client.ts';

/** An activation, as reported to its client. */
export interface KnownActivation {
  readonly licenseKey: string;
  readonly activationId: string;
  readonly machineId: string;
  /** `unknown`: a deactivation got no response. */
  state: 'active' | 'inactive' | 'unknown';
  /** Validations with the response `valid: true`. */
  validations: number;
  /** Validations without a response, which may have been counted. */
  unanswered: number;
}

/** A trial that a response granted. */
export interface KnownTrial {
  readonly machineId: string;
  readonly licenseKey: string;
  readonly activationId: string;
}

/** The outcome of a request. */
export interface Outcome {
  readonly operation: string;
  /** 0: no response. */
  readonly status: number;
  readonly durationMs: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

/** All responses, which must hold from then on. */
export interface Ledger {
  readonly activations: readonly KnownActivation[];
  readonly trials: readonly KnownTrial[];
  readonly outcomes: readonly Outcome[];
}

export interface RecordedLoad extends AsyncDisposable {
  readonly ledger: Ledger;
  /** Waits for that many more responses with status 200. */
  waitForAnswers(count: number): Promise<void>;
  /** Ends the load after the last request of every client. */
  stop(): Promise<Ledger>;
}

/** A slower request counts as hanging. */
const REQUEST_TIMEOUT_MS = 60_000;
const PAUSE_AFTER_FAILURE_MS = 50;

/** Limits the records, which are verified one by one later. */
const PAUSE_BETWEEN_ROUNDS_MS = 20;

const VALIDATIONS_PER_ROUND = 3;

/** Machines that a client leaves active. */
const MAX_ACTIVE_MACHINES = 2;

/** Returns the service's URL, after a restart if one is in progress. */
type FindUrl = () => Promise<string>;

interface Recording {
  readonly activations: KnownActivation[];
  readonly trials: KnownTrial[];
  readonly outcomes: Outcome[];
  stopped: boolean;
}

/**
 * Runs clients that activate, validate, start a trial and deactivate in a loop, and retry requests without a response.
 * @param licenseKeys one per client; clients may share one
 */
export function startRecordedLoad(url: FindUrl, licenseKeys: readonly string[]): RecordedLoad {
  const recording: Recording = { activations: [], trials: [], outcomes: [], stopped: false };
  const clients = Promise.all(
    licenseKeys.map((licenseKey) => runClient(url, licenseKey, recording)),
  );
  // A failed client is reported by stop().
  clients.catch(() => {});
  const countAnswers = (): number =>
    recording.outcomes.reduce((sum, { status }) => sum + (status === 200 ? 1 : 0), 0);
  return {
    ledger: recording,
    async waitForAnswers(count) {
      const goal = countAnswers() + count;
      const deadline = Date.now() + REQUEST_TIMEOUT_MS;
      while (countAnswers() < goal) {
        if (Date.now() > deadline) throw new Error(`fewer than ${count} responses`);
        await sleep(5);
      }
    },
    async stop() {
      recording.stopped = true;
      await clients;
      return recording;
    },
    async [Symbol.asyncDispose]() {
      recording.stopped = true;
      await Promise.allSettled([clients]);
    },
  };
}

async function runClient(url: FindUrl, licenseKey: string, recording: Recording): Promise<void> {
  let activeMachines = 0;
  while (!recording.stopped) {
    const machineId = `machine-${randomUUID()}`;
    const activation = await activate(url, licenseKey, machineId, recording);
    if (activation === null) {
      await pause(recording);
      continue;
    }
    for (let count = 0; count < VALIDATIONS_PER_ROUND; count += 1) {
      await validate(url, activation, recording);
    }
    await startTrial(url, machineId, recording);
    if (activeMachines < MAX_ACTIVE_MACHINES) activeMachines += 1;
    else await deactivate(url, activation, recording);
    await sleep(PAUSE_BETWEEN_ROUNDS_MS);
  }
}

/** Returns null when the license is full, or the load ends. */
async function activate(
  url: FindUrl,
  licenseKey: string,
  machineId: string,
  recording: Recording,
): Promise<KnownActivation | null> {
  const body = { license_key: licenseKey, machine_fingerprint: { machine_id: machineId } };
  const answer = await repeatUntilAnswered(url, '/api/v1/licenses/activate', body, recording);
  if (answer?.status !== 200) return null;
  const { activation_id: activationId } = Parse(LicenseActivateResponse, JSON.parse(answer.text));
  const known = { licenseKey, activationId, machineId, validations: 0, unanswered: 0 };
  const activation: KnownActivation = { ...known, state: 'active' };
  recording.activations.push(activation);
  return activation;
}

async function validate(
  url: FindUrl,
  activation: KnownActivation,
  recording: Recording,
): Promise<void> {
  const outcome = await send(await url(), '/api/v1/licenses/validate', credentials(activation));
  recording.outcomes.push(outcome);
  if (outcome.status !== 200) {
    activation.unanswered += 1;
    return pause(recording);
  }
  const { valid } = Parse(LicenseValidateResponse, JSON.parse(outcome.text));
  if (!valid) throw new Error(`invalid response for an active machine: ${outcome.text}`);
  activation.validations += 1;
}

async function startTrial(url: FindUrl, machineId: string, recording: Recording): Promise<void> {
  const body = { machine_fingerprint: { machine_id: machineId } };
  const answer = await repeatUntilAnswered(url, '/api/v1/trial/start', body, recording);
  if (answer?.status !== 200) return;
  const trial = Parse(TrialStartResponse, JSON.parse(answer.text));
  const { license_key: licenseKey, activation_id: activationId } = trial;
  recording.trials.push({ machineId, licenseKey, activationId });
}

async function deactivate(
  url: FindUrl,
  activation: KnownActivation,
  recording: Recording,
): Promise<void> {
  activation.state = 'unknown';
  const body = credentials(activation);
  const answer = await repeatUntilAnswered(url, '/api/v1/licenses/deactivate', body, recording);
  if (answer?.status === 200) activation.state = 'inactive';
}

function credentials({ licenseKey, activationId, machineId }: KnownActivation): object {
  return { license_key: licenseKey, activation_id: activationId, machine_id: machineId };
}

/** Retries after 503 and after no response; returns null when the load ends first. */
async function repeatUntilAnswered(
  url: FindUrl,
  path: string,
  body: object,
  recording: Recording,
): Promise<Outcome | null> {
  for (;;) {
    const outcome = await send(await url(), path, body);
    recording.outcomes.push(outcome);
    if (outcome.status !== 0 && outcome.status < 500) return outcome;
    if (recording.stopped) return null;
    await pause(recording);
  }
}

async function pause(recording: Recording): Promise<void> {
  if (!recording.stopped) await sleep(PAUSE_AFTER_FAILURE_MS);
}

/** Sends one request and returns its outcome, also without a response. */
export async function send(url: string, path: string, body: object): Promise<Outcome> {
  const startedAt = performance.now();
  const end = (status: number, retryAfter: string | null, text: string): Outcome => ({
    operation: path,
    status,
    durationMs: performance.now() - startedAt,
    retryAfter,
    text,
  });
  try {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': anyAddress() },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const text = await response.text();
    return end(response.status, response.headers.get('retry-after'), text);
  } catch (error) {
    return end(0, null, String(error));
  }
}
