/** What scenes expect: parts of states and results, and the requests of a call. */

/** The state of a client with a license for the product `studio`, just answered by the service. */
export const LICENSED = {
  may_run: true,
  kind: 'licensed',
  reason: null,
  tier: 'personal',
  features: ['history', 'gpu'],
  days_left: 14,
  source: 'service',
  clock_went_back: false,
};

/** The same without an answer since the start, or after a question without an answer. */
export const LICENSED_KEPT = { ...LICENSED, source: 'kept' };

/** The state of a client with a license for the product `solo`. */
export const LICENSED_SOLO = { ...LICENSED, tier: 'solo', features: ['history'], days_left: 30 };

/** The state of a trial that just began. */
export const TRIAL = {
  ...LICENSED,
  kind: 'trial',
  tier: 'trial',
  features: ['history'],
  days_left: 7,
};

const NOTHING = {
  may_run: false,
  tier: null,
  features: [],
  until: null,
  days_left: null,
};

/** The state of a client that keeps no license. */
export const NOT_ACTIVATED = { ...NOTHING, kind: 'none', reason: 'not_activated' };

/** The state of a client whose entitlement is missing or cannot be verified. */
export const ENTITLEMENT_INVALID = { ...NOTHING, kind: 'none', reason: 'entitlement_invalid' };

/** The state after the service refused the license. */
export function refused(reason: string) {
  return { ...NOTHING, kind: 'refused', reason };
}

/** The state after the end of an entitlement. */
export function ended(reason: string) {
  return { may_run: false, kind: 'ended', reason, features: [], days_left: 0 };
}

/** The result of a call that worked. */
export const OK = { ok: true };

/** The result of a call that the service, or the client itself, refused. */
export function failed(code: string) {
  return { ok: false, code };
}

/** The result of a call without an answer that counts. */
export function noAnswer(cause: string) {
  return { ok: false, code: 'no_answer', cause };
}

export const ACTIVATE = 'POST /api/v1/licenses/activate';
export const VALIDATE = 'POST /api/v1/licenses/validate';
export const DEACTIVATE = 'POST /api/v1/licenses/deactivate';
export const LIST_MACHINES = 'GET /api/v1/licenses/{license_key}/activations';
export const START_TRIAL = 'POST /api/v1/trial/start';
export const KEY_SET = 'GET /.well-known/jwks.json';
