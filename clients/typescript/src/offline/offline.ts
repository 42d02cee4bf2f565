import { OK, refuse, type Result } from '../answers/results.ts';
import type { Session } from '../session.ts';
import { formatTime } from '../state/state.ts';
import { encodeBase64url, encodeText } from '../tokens/base64url.ts';
import { findTimeProblem } from '../tokens/verify.ts';
import type { OfflineOrder } from './order.ts';

const NONCE_BYTES = 16;
const CHECK_CHARACTERS = 10;

/** Creates the text that a customer takes to the page for buyers; until an answer is accepted, it has the same nonce. */
export async function createOfflineRequest(
  session: Session,
  { product, name = null }: OfflineOrder,
): Promise<Result<{ readonly request: string }>> {
  const open = session.kept.request;
  const random = encodeBase64url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
  const nonce = open?.nonce ?? random;
  const { cryptography, versions } = session.parts;
  const content = {
    product,
    machine_fingerprint: { ...session.machine, ...versions },
    nonce,
    name,
  };
  const text = `LKR1.${encodeText(JSON.stringify(content))}`;
  const digest = await cryptography.sha256(new TextEncoder().encode(text));
  const createdAt = formatTime(session.nowMs);
  if (open === null) await session.change({ request: { nonce, createdAt } });
  return { ok: true, request: `${text}.${encodeBase64url(digest).slice(0, CHECK_CHARACTERS)}` };
}

/** Blanks, quotation marks of mail, and characters that are not seen. */
const IGNORED = /[\s>\u200B\uFEFF]/g;

/** A header begins with `{"`. */
const JSON_START = 'eyJ';
/** Of 64 bytes. */
const SIGNATURE = /^[\w-]{86}/;

/** Returns the first token within a text, in time that grows with the length of the text. */
function findToken(text: string): string | null {
  const parts = text.split('.');
  for (const [index, payload] of parts.entries()) {
    const before = /(?<![\w-])[\w-]+$/.exec(parts[index - 1] ?? '')?.[0] ?? '';
    const start = before.indexOf(JSON_START);
    const [signature] = SIGNATURE.exec(parts[index + 1] ?? '') ?? [];
    const isPayload = payload.startsWith(JSON_START) && /^[\w-]+$/.test(payload);
    if (start !== -1 && isPayload && signature !== undefined) {
      return `${before.slice(start)}.${payload}.${signature}`;
    }
  }
  return null;
}

/** Accepts the answer that a customer brought from the page for buyers, with any text around it. */
export async function acceptOfflineAnswer(session: Session, text: string): Promise<Result> {
  const token = findToken(text.replace(IGNORED, ''));
  if (token === null) return refuse('entitlement_malformed');
  const { kept } = session;
  const { release } = kept;
  const reading = await session.verify(token, kept.keys);
  if (reading.verdict !== 'ok') return refuse(`entitlement_${reading.verdict}`);
  const { claims } = reading;
  const problem = findTimeProblem(claims, session.nowMs);
  if (problem !== null) return refuse(`entitlement_${problem}`);
  if (claims.nonce === null || claims.nonce !== kept.request?.nonce) {
    return refuse('entitlement_nonce');
  }
  await session.change({
    entitlement: token,
    activationId: claims.activationId,
    key: claims.activationId === kept.activationId ? kept.key : null,
    refused: null,
    request: null,
    trialWanted: false,
    // The machine is wanted again.
    release: release?.activationId === claims.activationId ? null : release,
  });
  return OK;
}
