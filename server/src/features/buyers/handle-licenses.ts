import type { FastifyReply, FastifyRequest } from 'fastify';

import { isUsable, licenseStatus } from '../licenses/rules/status.ts';
import { airgapDaysOf, findPortal, listOwnLicenses, listOwnMachines } from './own-licenses.ts';
import { doorsPage } from './pages/doors.ts';
import { textsOf, type Notice } from './pages/frame.ts';
import { licenseListPage } from './pages/license-list.ts';
import { licensePage } from './pages/license-page.ts';
import {
  frameOf,
  readQuery,
  send,
  sessionOf,
  showSignedOut,
  viewOf,
  type PageDependencies,
} from './handle-request.ts';
import { sendOwnKeys } from './send-own-keys.ts';
import type { BuyerSession } from './session.ts';

/** Shows the doors, or to a signed-in buyer all licenses; a single one at once. */
export async function showLicenses(
  deps: PageDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const session = await sessionOf(deps, request);
  if (session === null) {
    if (readQuery(request, 'signed-in') !== null) return showSignedOut(deps, request, reply);
    return send(reply, 200, doorsPage(frameOf(deps, request), deps.mail !== null));
  }
  const licenses = await listOwnLicenses(deps, session);
  const [only] = licenses;
  if (only !== undefined && licenses.length === 1) {
    return reply.redirect(`/my/licenses/${only.id}${keysQueryOf(request)}`, 303);
  }
  const view = viewOf(deps, request);
  if (only === undefined && session.door === 'key') {
    // An operator replaced the key after the sign-in.
    const { key } = textsOf(view.frame).errors;
    return send(reply, 200, doorsPage(view.frame, view.hasMail, { key }));
  }
  return send(reply, 200, licenseListPage(view, licenses, keysNotice(deps, request)));
}

/** Shows a license with its machines. */
export async function showLicense(
  deps: PageDependencies,
  session: BuyerSession,
  licenseId: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const page = Number.parseInt(readQuery(request, 'page') ?? '1', 10);
  const number = Number.isSafeInteger(page) && page > 0 ? page : 1;
  const machines = await listOwnMachines(deps, session, licenseId, number);
  const view = viewOf(deps, request);
  const options = {
    hasOthers: session.door === 'email',
    portal: findPortal(deps, machines),
    offersAirgap:
      airgapDaysOf(deps, machines.license) !== null &&
      isUsable(licenseStatus(machines.license, view.now)),
    freedId: readQuery(request, 'freed'),
    notice: keysNotice(deps, request),
  };
  return send(reply, 200, licensePage(view, machines, options));
}

/** E-mails the keys of all licenses of a session. */
export async function submitKeys(
  deps: PageDependencies,
  session: BuyerSession,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const isQueued = await sendOwnKeys(deps, session);
  return reply.redirect(`/my?keys=${isQueued ? 'sent' : 'none'}`, 303);
}

function keysQueryOf(request: FastifyRequest): string {
  const keys = readQuery(request, 'keys');
  return keys === 'sent' || keys === 'none' ? `?keys=${keys}` : '';
}

function keysNotice(deps: PageDependencies, request: FastifyRequest): Notice | null {
  const { list } = textsOf(frameOf(deps, request));
  const keys = readQuery(request, 'keys');
  if (keys === 'sent') return { sentence: list.keysSent, isProblem: false };
  return keys === 'none' ? { sentence: list.noKeys, isProblem: true } : null;
}
