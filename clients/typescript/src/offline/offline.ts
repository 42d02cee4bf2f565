import { learnEarliest, readClock } from '../clock/clock.ts';
import { OK, refuse, type Result } from '../answers/results.ts';
import type { Session } from '../session.ts';
import { formatTime } from '../state/state.ts';
import { encodeBase64url, encodeText } from '../tokens/base64url.ts';
import { findTimeProblem } from '../tokens/verify.ts';
import type { OfflineOrder } from './order.ts';

const NONCE_BYTES = 16;
const CHECK_CHARACTERS = 10;

/** Creates the text that a customer takes to the page for buyers; an earlier one is no longer valid. */
export async function createOfflineRequest(
  session: Session,
  { product, name = null }: OfflineOrder,
): Promise<Result<{ readonly request: string }>> {
  const nonce = encodeBase64url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
  const { cryptography, versions } = session.parts;
  const content = {
    product,
    machine_fingerprint: { ...session.machine, ...versions },
    nonce,
    name,
  };
  const text = `LKR1.${encodeText(JSON.stringify(content))}`;
  const digest = await cryptography.sha256(new TextEncoder().encode(text));
  await session.change({ request: { nonce, createdAt: formatTime(session.nowMs) } });
  return { ok: true, request: `${text}.${encodeBase64url(digest).slice(0, CHECK_CHARACTERS)}` };
}

/** Blanks, quotation marks of mail, and characters that are not seen. */
const IGNORED = /[\s>\u200B\uFEFF]/g;

/** A header begins with `{"`; a signature has 64 bytes. */
const TOKEN = /eyJ[\w-]+\.[\w-]+\.[\w-]{86}/;

/** Accepts the answer that a customer brought from the page for buyers, with any text around it. */
export async function acceptOfflineAnswer(session: Session, text: string): Promise<Result> {
  const [token] = TOKEN.exec(text.replace(IGNORED, '')) ?? [];
  if (token === undefined) return refuse('entitlement_malformed');
  const { kept, parts } = session;
  const reading = await session.verify(token, kept.keys);
  if (reading.verdict !== 'ok') return refuse(`entitlement_${reading.verdict}`);
  const { claims } = reading;
  const deviceMs = parts.now();
  const clock = learnEarliest(kept.clock, deviceMs, claims.iat * 1000);
  const problem = findTimeProblem(claims, readClock(clock, deviceMs).nowMs);
  if (problem !== null) return refuse(`entitlement_${problem}`);
  if (claims.nonce === null || claims.nonce !== kept.request?.nonce) {
    return refuse('entitlement_nonce');
  }
  await session.change({
    clock,
    entitlement: token,
    activationId: claims.activationId,
    key: claims.activationId === kept.activationId ? kept.key : null,
    refused: null,
    request: null,
    trialWanted: false,
  });
  return OK;
}
