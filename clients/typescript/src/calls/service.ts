import type {
  LicenseActivate,
  LicenseDeactivate,
  LicenseValidate,
  TrialStartRequest,
} from '@latchkey/contract';

import type { Answer } from '../answers/answer.ts';
import { send, type Sender } from './send.ts';

/** The operations of the service that a client calls, with the bodies of its interface. */
export interface Service {
  activate(body: LicenseActivate): Promise<Answer>;
  validate(body: LicenseValidate): Promise<Answer>;
  deactivate(body: LicenseDeactivate): Promise<Answer>;
  startTrial(body: TrialStartRequest): Promise<Answer>;
  listMachines(key: string): Promise<Answer>;
  checkTransaction(transactionId: string): Promise<Answer>;
  sendEvents(body: object): Promise<Answer>;
  listKeys(): Promise<Answer>;
}

const LICENSES = '/api/v1/licenses';

export function createService(sender: Sender): Service {
  const get = (path: string): Promise<Answer> => send(sender, { path });
  const post = (path: string, body: object): Promise<Answer> => send(sender, { path, body });
  return {
    activate: (body) => post(`${LICENSES}/activate`, body),
    validate: (body) => post(`${LICENSES}/validate`, body),
    deactivate: (body) => post(`${LICENSES}/deactivate`, body),
    startTrial: (body) => post('/api/v1/trial/start', body),
    listMachines: (key) => get(`${LICENSES}/${encodeURIComponent(key)}/activations`),
    checkTransaction: (id) => get(`${LICENSES}/check/${encodeURIComponent(id)}`),
    sendEvents: (body) => post('/api/v1/events', body),
    listKeys: () => get('/.well-known/jwks.json'),
  };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Whether keys that arrive from an address may be trusted: https, or this computer. */
export function isTrustworthy(service: string): boolean {
  const { protocol, hostname } = new URL(service);
  return protocol === 'https:' || LOOPBACK.test(hostname);
}
