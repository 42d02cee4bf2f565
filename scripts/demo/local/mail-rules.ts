/** Which addresses of the demo's customers accept mail: the same in its past and at its local relay. */
import { createHash } from 'node:crypto';

export type Acceptance = 'accepted' | 'unknown_user' | 'busy';

/** About one address in sixty does not exist, and one in two hundred has a busy server. */
export function decideAcceptance(address: string): Acceptance {
  const digest = createHash('sha256').update(address.trim().toLowerCase()).digest();
  const number = digest.readUInt16BE(0) % 600;
  if (number < 10) return 'unknown_user';
  return number < 13 ? 'busy' : 'accepted';
}
