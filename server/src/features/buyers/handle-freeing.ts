import type { FastifyReply, FastifyRequest } from 'fastify';

import { DEFAULT_OFFLINE_DAYS } from '#server/config/catalog-model.ts';

import { freeOwnMachine, previewFreeing } from './free-own-machine.ts';
import { frameOf, send, type PageDependencies } from './handle-request.ts';
import { freePage, freeingError } from './pages/free-page.ts';
import type { FreeingDecision } from './rules/decide-freeing.ts';
import type { BuyerSession } from './session.ts';

interface MachinePath {
  readonly id: string;
  readonly activation: string;
}

/** Asks before a machine is freed; `GET` changes nothing. */
export async function confirmFreeing(
  deps: PageDependencies,
  session: BuyerSession,
  { id, activation }: MachinePath,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return show(deps, session, { id, activation }, request, reply, null);
}

/** Frees a machine, and shows its license. */
export async function submitFreeing(
  deps: PageDependencies,
  session: BuyerSession,
  { id, activation }: MachinePath,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const decision = await freeOwnMachine(deps, session, id, activation.toLowerCase());
  if (decision.kind === 'free' || decision.kind === 'already') {
    return reply.redirect(`/my/licenses/${id}?freed=${activation.toLowerCase()}`, 303);
  }
  return show(deps, session, { id, activation }, request, reply, decision);
}

/** @param refusal null: it was not tried */
async function show(
  deps: PageDependencies,
  session: BuyerSession,
  { id, activation }: MachinePath,
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: FreeingDecision | null,
): Promise<FastifyReply> {
  const preview = await previewFreeing(deps, session, id, activation.toLowerCase());
  const { decision, license, machine, moves } = preview;
  const frame = frameOf(deps, request);
  const product = deps.catalog().products.get(license.productId);
  const facts = {
    licenseId: license.id,
    machine,
    offlineDays: product?.offlineDays ?? DEFAULT_OFFLINE_DAYS,
    moves,
    isMailed: license.customerEmail !== null && deps.mail !== null,
  };
  const error = freeingError(frame, refusal ?? decision);
  return send(reply, refusal === null ? 200 : 409, freePage(frame, facts, error));
}
