import type { FastifyReply, FastifyRequest } from 'fastify';

import { airgapNotOffered, type PublicError } from '#server/errors.ts';
import { readForm } from '#server/http/read-form.ts';
import { buyerCookie, readBuyerCookie } from '#server/http/session-cookie.ts';

import { readMachineRequest } from '../licenses/activate-airgapped.ts';
import { activateOwnMachine } from './activate-own-machine.ts';
import { formatDate } from '#server/pages/format-date.ts';
import { airgapDaysOf, listOwnLicenses, requireOwnLicense } from './own-licenses.ts';
import {
  frameOf,
  readQuery,
  send,
  sessionOf,
  viewOf,
  type PageDependencies,
} from './handle-request.ts';
import { airgapPage, entitlementPage, type AirgapPageFacts } from './pages/airgap-page.ts';
import { doorsPage } from './pages/doors.ts';
import { textsOf } from './pages/frame.ts';
import { licenseListPage, type LicenseView } from './pages/license-list.ts';
import { describeStatus } from './pages/license-status.ts';
import type { OwnLicense } from './queries/own-licenses.ts';
import { readScannedRequest } from './scanned-request.ts';
import { SESSION_TERM_MS, type BuyerSession } from './session.ts';

/**
 * Takes the request of a machine from the address in its QR code, which a telephone opens. It is kept in the browser until
 * the buyer signs in; `GET` changes nothing.
 */
export async function receiveRequest(
  deps: PageDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const opened = readQuery(request, 'request');
  const text = readScannedRequest(opened ?? keptRequestOf(deps, request));
  const reading = text === null ? 'damaged' : readMachineRequest(deps, text);
  if (opened === null && typeof reading === 'string') return reply.redirect('/my', 303);
  const frame = frameOf(deps, request);
  const { airgap } = textsOf(frame);
  if (text === null || typeof reading === 'string') {
    const general = airgap.errors[typeof reading === 'string' ? reading : 'damaged'];
    return send(reply, 422, doorsPage(frame, deps.mail !== null, { general }));
  }
  if (opened !== null) keepRequest(deps, request, reply, text);
  const session = await sessionOf(deps, request);
  if (session === null) {
    return send(reply, 200, doorsPage(frame, deps.mail !== null, { notice: airgap.received }));
  }
  return chooseLicense(deps, session, reading.request.product, request, reply);
}

/** Shows the licenses by which a request can be answered; a single one at once. */
async function chooseLicense(
  deps: PageDependencies,
  session: BuyerSession,
  productId: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const licenses = await listOwnLicenses(deps, session);
  const offered = licenses.filter(
    (license) => license.productId === productId && airgapDaysOf(deps, license) !== null,
  );
  const [only] = offered;
  if (only !== undefined && offered.length === 1) {
    return reply.redirect(`/my/licenses/${only.id}/offline`, 303);
  }
  const view = viewOf(deps, request);
  const { choose, none } = textsOf(view.frame).airgap;
  const ids = new Set(offered.map(({ id }) => id));
  const isProblem = ids.size === 0;
  const notice = { sentence: isProblem ? none : choose, isProblem };
  return send(reply, 200, licenseListPage(view, licenses, notice, ids));
}

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
  const entered = keptRequestOf(deps, request) ?? '';
  return send(reply, 200, airgapPage(view.frame, factsOf(deps, view, license, entered), null));
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
      // It may have changed since it was read.
      const current = await requireOffered(deps, session, license.id);
      const error = explainRefusal(view, current, outcome.error);
      return send(reply, outcome.error.status, airgapPage(frame, facts, error));
    }
    case 'activated': {
      const { activation } = outcome;
      forgetRequest(deps, request, reply);
      return send(reply, 200, entitlementPage(frame, license.id, facts.product, activation));
    }
  }
}

/** Returns the request that the browser keeps; null: none. */
function keptRequestOf({ config }: PageDependencies, { headers }: FastifyRequest): string | null {
  return readScannedRequest(readBuyerCookie(headers, config.http.publicUrl, 'request'));
}

function keepRequest(
  { config }: PageDependencies,
  { headers }: FastifyRequest,
  reply: FastifyReply,
  text: string,
): void {
  const seconds = SESSION_TERM_MS / 1000;
  const cookie = buyerCookie(headers, config.http.publicUrl, 'request', text, seconds);
  reply.header('set-cookie', cookie);
}

function forgetRequest(
  { config }: PageDependencies,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): void {
  reply.header('set-cookie', buyerCookie(headers, config.http.publicUrl, 'request', '', 0));
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
