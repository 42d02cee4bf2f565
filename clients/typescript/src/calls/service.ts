import type { Answer } from '../answers/answer.ts';
import { send, type Sender } from './send.ts';

/** Sends requests to the service. */
export interface Service {
  get(path: string): Promise<Answer>;
  post(path: string, body: object): Promise<Answer>;
}

/** The path of the operations on licenses. */
export const LICENSES = '/api/v1/licenses';

export function createService(sender: Sender): Service {
  return {
    get: (path) => send(sender, { path }),
    post: (path, body) => send(sender, { path, body }),
  };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Whether keys that arrive from an address may be trusted: https, or this computer. */
export function isTrustworthy(service: string): boolean {
  const { protocol, hostname } = new URL(service);
  return protocol === 'https:' || LOOPBACK.test(hostname);
}
