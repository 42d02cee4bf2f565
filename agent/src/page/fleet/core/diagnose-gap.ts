import { isNamedAddress, isPrivateMachineAddress } from './machine-address.ts';
import type { FleetOptions, GapReason, PrivateAccess } from './types.ts';

/** Why a machine is not seen. */
export interface Diagnosis {
  readonly reason: GapReason;
  readonly detail?: string;
}

/** The time for both requests together, so that a reason is known within 3 s of a failed attempt. */
const DEADLINE_MS = 2000;

const MAX_DETAIL_LENGTH = 300;

type Dependencies = Pick<FleetOptions, 'fetch' | 'queryPrivateAccess' | 'schedule'>;

/**
 * Finds out why a WebSocket could not be opened, which browsers do not expose. It requests `/?admission`, which the agent answers as
 * it answers the WebSocket, readable for pages of allowed origins. If that fails, a request without CORS shows whether anything
 * answers at all. At most two requests, of which none outlives the deadline.
 * @param address from `parseMachineAddress`
 * @returns null when the agent would admit this page
 */
export async function diagnoseGap(
  { fetch: request, schedule, queryPrivateAccess = unknownAccess }: Dependencies,
  address: string,
  token: string | null,
): Promise<Diagnosis | null> {
  const controller = new AbortController();
  const deadline = Promise.withResolvers<'late'>();
  const cancel = schedule(() => {
    controller.abort();
    deadline.resolve('late');
  }, DEADLINE_MS);
  const url = `https://${address}/?admission`;
  const common = { credentials: 'include', cache: 'no-store', signal: controller.signal } as const;
  const headers: Record<string, string> =
    token === null ? {} : { Authorization: `Bearer ${token}` };
  const readable = async (): Promise<Diagnosis | 'admitted'> => {
    const answer = await request(url, { ...common, mode: 'cors', redirect: 'error', headers });
    return judgeAnswer(answer.status, await answer.text());
  };
  const opaque = async (): Promise<Diagnosis> => {
    // A request without CORS follows redirects, or fails.
    await request(url, { ...common, mode: 'no-cors', redirect: 'follow', headers: {} });
    return { reason: 'origin' };
  };
  try {
    const found = await orLate(readable, deadline.promise);
    if (found === 'late') return { reason: 'no_answer' };
    if (found !== 'failed') return found === 'admitted' ? null : found;
    const answered = await orLate(opaque, deadline.promise);
    if (answered === 'late') return { reason: 'no_answer' };
    if (answered !== 'failed') return answered;
    return await nameFailure(address, queryPrivateAccess);
  } finally {
    cancel();
  }
}

/** Waits for a step until the deadline. */
async function orLate<T>(
  step: () => Promise<T>,
  deadline: Promise<'late'>,
): Promise<T | 'failed' | 'late'> {
  // A refused request and one that the deadline aborted both reject; the deadline is known first.
  return Promise.race([deadline, step().catch((): 'failed' => 'failed')]);
}

function judgeAnswer(status: number, text: string): Diagnosis | 'admitted' {
  const sentence = text.trim().slice(0, MAX_DETAIL_LENGTH);
  const detail = sentence === '' ? {} : { detail: sentence };
  if (status === 401) return { reason: 'token', ...detail };
  if (status === 403) return { reason: 'certificate_required', ...detail };
  if (status >= 200 && status < 300) return 'admitted';
  // What a proxy answers for an agent that it does not reach.
  if (status >= 502 && status <= 504) return { reason: 'unreachable' };
  return { reason: 'refused', ...detail };
}

/** A page cannot look a name up. */
const MAYBE_PRIVATE =
  'if its address is private, this browser forbids it to this page; else it is off, or its certificate is not trusted.';

/**
 * A browser that may not connect to private addresses fails as if nothing answered. Before a person has decided (`prompt`), it asks, and
 * on a page that has a private address itself it never does, so only a denial is a reason.
 */
async function nameFailure(
  address: string,
  queryAccess: (address: string) => Promise<PrivateAccess>,
): Promise<Diagnosis> {
  const isPrivate = isPrivateMachineAddress(address);
  if (!isPrivate && !isNamedAddress(address)) return { reason: 'unreachable' };
  const access = await queryAccess(address).catch(() => null);
  if (access !== 'denied') return { reason: 'unreachable' };
  return isPrivate
    ? { reason: 'private_address' }
    : { reason: 'unreachable', detail: MAYBE_PRIVATE };
}

async function unknownAccess(): Promise<null> {
  return null;
}
