import type { FastifyReply, FastifyRequest } from 'fastify';

import { airgapNotOffered, type PublicError } from '#server/errors.ts';

import { activateOwnMachine } from './activate-own-machine.ts';
import { formatDate } from './format-date.ts';
import { airgapDaysOf, requireOwnLicense } from './own-licenses.ts';
import { send, viewOf, type PageDependencies } from './handle-request.ts';
import { airgapPage, entitlementPage, type AirgapPageFacts } from './pages/airgap-page.ts';
import { textsOf } from './pages/frame.ts';
import { describeStatus } from './pages/license-status.ts';
import type { LicenseView } from './pages/license-list.ts';
import type { OwnLicense } from './queries/own-licenses.ts';
import { readForm } from './read-form.ts';
import type { BuyerSession } from './session.ts';

/** Shows the form for the request of a machine without a connection. */
export async function showAirgap(
  deps: PageDependencies,
  session: BuyerSession,
  licenseId: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const license = await requireOffered(deps, session, licenseId);
  const view = viewOf(deps, request);
  return send(reply, 200, airgapPage(view.frame, factsOf(deps, view, license, ''), null));
}

/** Exchanges the request of a machine for its entitlement. */
export async function submitAirgap(
  deps: PageDependencies,
  session: BuyerSession,
  licenseId: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const license = await requireOffered(deps, session, licenseId);
  const form = await readForm(request.headers['content-type'], request.body);
  const entered = (form.get('request') ?? '').trim();
  const text = entered === '' ? (form.get('file') ?? '') : entered;
  const view = viewOf(deps, request);
  const { frame } = view;
  const facts = factsOf(deps, view, license, entered);
  const outcome = await activateOwnMachine(deps, session, license.id, text);
  switch (outcome.kind) {
    case 'problem': {
      const error = textsOf(frame).airgap.errors[outcome.problem];
      return send(reply, 422, airgapPage(frame, facts, error));
    }
    case 'refused': {
      const error = explainRefusal(view, license, outcome.error);
      return send(reply, outcome.error.status, airgapPage(frame, facts, error));
    }
    case 'activated': {
      const { activation } = outcome;
      return send(reply, 200, entitlementPage(frame, license.id, facts.product, activation));
    }
  }
}

async function requireOffered(
  deps: PageDependencies,
  session: BuyerSession,
  licenseId: string,
): Promise<OwnLicense> {
  const license = await requireOwnLicense(deps, session, licenseId);
  if (airgapDaysOf(deps, license) === null) throw airgapNotOffered();
  return license;
}

function factsOf(
  deps: PageDependencies,
  { nameProduct }: LicenseView,
  license: OwnLicense,
  entered: string,
): AirgapPageFacts {
  const airgapDays = airgapDaysOf(deps, license) ?? 0;
  const product = nameProduct(license.productId);
  return { licenseId: license.id, product, airgapDays, entered };
}

/** Returns why a license refuses a machine: a limit, another product, or its status. */
function explainRefusal(
  { frame, now }: LicenseView,
  license: OwnLicense,
  { code, members }: PublicError,
): string {
  const { errors } = textsOf(frame).airgap;
  if (code === 'airgap_product_mismatch') return errors.product;
  if (code === 'activation_limit_reached') return errors.full(license.maxActivations);
  if (code === 'move_limit_reached') {
    const { available_at: availableAt } = members;
    const from = typeof availableAt === 'string' ? new Date(availableAt) : now;
    return errors.moves(formatDate(frame.language, from));
  }
  const { advice, sentence } = describeStatus(frame.language, license, now);
  return advice === null ? sentence : `${sentence} ${advice}`;
}
