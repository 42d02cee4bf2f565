/** The operations of the page for buyers, for pages that vendors write themselves. */
import {
  BuyerAirgapActivate,
  BuyerCodeRequest,
  BuyerCodeRequested,
  BuyerHeaders,
  BuyerKeysSent,
  BuyerLicensePath,
  BuyerLicenses,
  BuyerMachinePath,
  BuyerMachines,
  BuyerMachinesQuery,
  BuyerSignedIn,
  BuyerSignIn,
  Done,
  LicenseAirgapActivateResponse,
  ref,
} from '@latchkey/contract';
import type { FastifyRequest } from 'fastify';

import { buyerSessionInvalid, codeInvalid, invalidRequest, rateLimited } from '#server/errors.ts';
import type { App } from '#server/http/app-instance.ts';
import { DONE } from '#server/http/done.ts';

import { AIRGAP_PROBLEMS } from '../licenses/activate-airgapped.ts';
import { enterCode, requestCode } from './codes.ts';
import type { BuyerDependencies } from './dependencies.ts';
import { CODE_TERM_MS } from './rules/code.ts';
import { sendOwnKeys } from './send-own-keys.ts';
import { openSession, sealSession, signOut, type BuyerSession } from './session.ts';
import { requireActivated, requireFreed, viewOwnLicenses, viewOwnMachines } from './view-own.ts';

const TAGS = { tags: ['buyers'] };

/** Registers the operations. */
export function registerBuyerInterface(app: App, deps: BuyerDependencies): void {
  registerSignIn(app, deps);
  registerSignOut(app, deps);
  registerOwnLicenses(app, deps);
  registerOwnChanges(app, deps);
}

function registerSignIn(app: App, deps: BuyerDependencies): void {
  app.post(
    '/api/v1/buyers/codes',
    {
      schema: {
        ...TAGS,
        operationId: 'requestBuyerCode',
        summary: 'Mail a code to the buyer of licenses',
        description:
          'The answer is the same for every address, whether or not it has licenses. For an address, a network gets five ' +
          'codes at once and then one in 12 minutes, all together 20 in an hour. The code works for 15 minutes, once, with five tries.',
        body: ref(BuyerCodeRequest),
        response: {
          200: ref(BuyerCodeRequested, 'The code is mailed if a license has the address.'),
        },
        problems: ['rate_limited', 'mail_not_configured'],
      },
    },
    async ({ body, clientNetwork }) => {
      const requestedAt = deps.clock.now().getTime();
      const { email, language = 'en' } = body;
      const requester = { network: clientNetwork, knownBrowser: null };
      const requested = await requestCode(deps, email, language, requester);
      if (requested.kind === 'limit') throw rateLimited(requested.retryAfterSeconds);
      if (requested.kind === 'address') throw new Error('the schema accepted an invalid address');
      return {
        request_token: requested.token,
        expires_at: new Date(requestedAt + CODE_TERM_MS).toISOString(),
      };
    },
  );

  app.post(
    '/api/v1/buyers/sessions',
    {
      schema: {
        ...TAGS,
        operationId: 'signInBuyer',
        summary: 'Exchange the code of the e-mail for a session',
        body: ref(BuyerSignIn),
        response: { 200: ref(BuyerSignedIn, 'The session.') },
        problems: ['code_invalid', 'rate_limited'],
      },
    },
    async ({ body, clientNetwork }) => {
      const entry = await enterCode(deps, body.request_token, body.code, clientNetwork);
      if (entry.kind !== 'right') throw codeInvalid(entry.kind === 'wrong' ? entry.triesLeft : 0);
      const { session } = entry;
      return {
        session: sealSession(deps, session),
        expires_at: new Date(session.expiresAtMs).toISOString(),
      };
    },
  );
}

function registerSignOut(app: App, deps: BuyerDependencies): void {
  app.post(
    '/api/v1/buyers/sign-out',
    {
      schema: {
        ...SIGNED_IN,
        operationId: 'signOutBuyer',
        summary: 'End the session of a buyer',
        description: 'Copies of it no longer work, either.',
        response: { 200: ref(Done, 'The session has ended.') },
        problems: ['buyer_session_invalid'],
      },
    },
    (request) =>
      withSession(deps, request, async (session) => {
        await signOut(deps, session);
        return DONE;
      }),
  );
}

const SIGNED_IN = { ...TAGS, headers: BuyerHeaders };

const LICENSE = '/api/v1/buyers/licenses/:license_id';

function registerOwnLicenses(app: App, deps: BuyerDependencies): void {
  app.get(
    '/api/v1/buyers/licenses',
    {
      schema: {
        ...SIGNED_IN,
        operationId: 'listBuyerLicenses',
        summary: 'List the licenses of a buyer',
        response: { 200: ref(BuyerLicenses, 'The licenses.') },
        problems: ['buyer_session_invalid'],
      },
    },
    (request) => withSession(deps, request, (session) => viewOwnLicenses(deps, session)),
  );

  app.get(
    `${LICENSE}/machines`,
    {
      schema: {
        ...SIGNED_IN,
        operationId: 'listBuyerMachines',
        summary: 'List the active machines of a license of a buyer',
        params: BuyerLicensePath,
        querystring: BuyerMachinesQuery,
        response: { 200: ref(BuyerMachines, 'A page of machines; past the end, the last one.') },
        problems: ['buyer_session_invalid', 'license_not_found'],
      },
    },
    async (request) => {
      const session = await requireSession(deps, request);
      const page = readPage(request.query.page);
      return viewOwnMachines(deps, session, request.params.license_id, page);
    },
  );
}

function registerOwnChanges(app: App, deps: BuyerDependencies): void {
  app.post(
    `${LICENSE}/machines/:activation_id/free`,
    {
      schema: {
        ...SIGNED_IN,
        operationId: 'freeBuyerMachine',
        summary: 'Deactivate a machine of a license of a buyer',
        description:
          'Without the software on the machine, for example a lost one. Limited as moves are, and the owner of the license ' +
          'gets an e-mail. Repeating it changes nothing.',
        params: BuyerMachinePath,
        response: { 200: ref(Done, 'The machine is inactive.') },
        problems: [
          'buyer_session_invalid',
          'license_not_found',
          'activation_not_found',
          'machine_airgapped',
          'freeing_limit_reached',
        ],
      },
    },
    async (request) => {
      const session = await requireSession(deps, request);
      const { license_id: licenseId, activation_id: activationId } = request.params;
      await requireFreed(deps, session, licenseId, activationId.toLowerCase());
      return DONE;
    },
  );

  app.post(
    `${LICENSE}/activate-airgapped`,
    {
      schema: {
        ...SIGNED_IN,
        operationId: 'activateBuyerAirgapped',
        summary: 'Activate a machine without a connection by a license of a buyer',
        params: BuyerLicensePath,
        body: ref(BuyerAirgapActivate),
        response: { 200: ref(LicenseAirgapActivateResponse, 'The activation.') },
        problems: ['buyer_session_invalid', ...AIRGAP_PROBLEMS],
      },
    },
    async (request) => {
      const session = await requireSession(deps, request);
      return requireActivated(deps, session, request.params.license_id, request.body.request);
    },
  );

  app.post(
    '/api/v1/buyers/keys',
    {
      schema: {
        ...SIGNED_IN,
        operationId: 'sendBuyerKeys',
        summary: 'Mail the keys of a buyer',
        description:
          'To the owner of each license that works; three times an hour, and ten times a day for each license.',
        response: { 200: ref(BuyerKeysSent, 'Whether an e-mail is queued.') },
        problems: ['buyer_session_invalid', 'rate_limited'],
      },
    },
    (request) =>
      withSession(deps, request, async (session) => ({ queued: await sendOwnKeys(deps, session) })),
  );
}

/** Runs an operation with the session of a request. @throws buyerSessionInvalid (401) */
async function withSession<Result>(
  deps: BuyerDependencies,
  request: FastifyRequest,
  operate: (session: BuyerSession) => Promise<Result>,
): Promise<Result> {
  return operate(await requireSession(deps, request));
}

/** @throws buyerSessionInvalid (401) */
async function requireSession(
  deps: BuyerDependencies,
  { headers }: FastifyRequest,
): Promise<BuyerSession> {
  const presented = headers['x-buyer-session'];
  const session = await openSession(deps, typeof presented === 'string' ? presented : null);
  if (session === null) throw buyerSessionInvalid();
  return session;
}

/** @throws InvalidRequestError (422) */
function readPage(text: string | undefined): number {
  if (text === undefined) return 1;
  if (/^[1-9]\d*$/u.test(text)) return Number(text);
  const msg = 'page must be a whole number from 1';
  throw invalidRequest([{ loc: ['query', 'page'], msg, type: 'value_error' }]);
}
