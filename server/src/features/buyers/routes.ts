/** The pages of the feature; `dependencies.ts` describes it. */
import type { FastifyReply, FastifyRequest } from 'fastify';

import { PublicError } from '#server/errors.ts';
import type { App } from '#server/http/app-instance.ts';
import { addRawParser } from '#server/http/json-parser.ts';
import { readForm } from '#server/http/read-form.ts';
import { refuseOtherOrigins } from '#server/http/same-origin.ts';
import { showFailuresAsPages } from '#server/http/send-page.ts';
import { buyerCookie, readBuyerCookie, requireSafeTransport } from '#server/http/session-cookie.ts';

import { nameSender } from '../suppressions/page-frame.ts';
import { enterCode, requestCode } from './codes.ts';
import { receiveRequest, showAirgap, submitAirgap } from './handle-airgap.ts';
import { confirmFreeing, submitFreeing } from './handle-freeing.ts';
import { showLicense, showLicenses, submitKeys } from './handle-licenses.ts';
import { codePage, doorsPage, MAX_KEY_CHARACTERS } from './pages/doors.ts';
import { textsOf } from './pages/frame.ts';
import {
  endSignIn,
  frameOf,
  minutesOf,
  send,
  showProblems,
  SIGNED_IN_PATH,
  signedIn,
  signIn,
  type PageDependencies,
} from './handle-request.ts';
import { CODE_TERM_MS } from './rules/code.ts';
import { signInByKey, type BuyerSession } from './session.ts';

/** Pages are not part of the interface document. */
const PAGE = { schema: { hide: true } } as const;

/** Registers the pages for buyers. */
export function registerBuyerRoutes(app: App, deps: PageDependencies): void {
  app.register(async (scope: App) => {
    addRawParser(scope);
    showFailuresAsPages(scope, () => nameSender(deps));
    showProblems(scope, deps);
    const { publicUrl } = deps.config.http;
    scope.addHook('onRequest', async (request, reply) => {
      // With `no-referrer`, browsers send `Origin: null` with a form.
      reply.header('referrer-policy', 'same-origin');
      if (request.method !== 'POST') return;
      refuseOtherOrigins(request, publicUrl);
      requireSafeTransport(request.headers, publicUrl);
    });
    // A form's address that was opened again, or one that was mistyped.
    scope.get('/my/*', PAGE, (_request, reply) => reply.redirect('/my', 303));
    registerDoors(scope, deps);
    registerLicenses(scope, deps);
  });
}

/** The doors: a key, or an address and a code. */
function registerDoors(app: App, deps: PageDependencies): void {
  const { publicUrl } = deps.config.http;

  app.get('/my', PAGE, (request, reply) => showLicenses(deps, request, reply));

  app.get('/my/offline', PAGE, (request, reply) => receiveRequest(deps, request, reply));

  app.post('/my/key', PAGE, (request, reply) => submitKey(deps, request, reply));

  app.post('/my/email', PAGE, (request, reply) => submitEmail(deps, request, reply));

  app.get('/my/code', PAGE, (request, reply) => {
    if (readBuyerCookie(request.headers, publicUrl, 'code') === null) {
      return reply.redirect(SIGNED_IN_PATH, 303);
    }
    return send(reply, 200, codePage(frameOf(deps, request), null));
  });

  app.post('/my/code', PAGE, (request, reply) => submitCode(deps, request, reply));

  app.post('/my/sign-out', PAGE, (request, reply) => endSignIn(deps, request, reply));
}

async function submitKey(
  deps: PageDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const form = await readForm(request.headers['content-type'], request.body);
  const entered = form.get('key') ?? '';
  const session = await trySignIn(deps, entered, request.clientNetwork);
  if (session !== null) return signIn(deps, request, reply, session);
  const frame = frameOf(deps, request);
  const { key } = textsOf(frame).errors;
  const enteredKey = entered.length > MAX_KEY_CHARACTERS ? '' : entered;
  return send(reply, 404, doorsPage(frame, deps.mail !== null, { key, enteredKey }));
}

/** Returns null if no license has the key, so that the buyer can correct it. @throws rateLimited (429) */
async function trySignIn(
  deps: PageDependencies,
  key: string,
  network: string,
): Promise<BuyerSession | null> {
  try {
    return await signInByKey(deps, key, network);
  } catch (error) {
    if (error instanceof PublicError && error.code === 'license_not_found') return null;
    throw error;
  }
}

async function submitEmail(
  deps: PageDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const form = await readForm(request.headers['content-type'], request.body);
  const frame = frameOf(deps, request);
  const { errors } = textsOf(frame);
  const address = form.get('email') ?? '';
  const { publicUrl } = deps.config.http;
  const requester = {
    network: request.clientNetwork,
    knownBrowser: readBuyerCookie(request.headers, publicUrl, 'known'),
  };
  const requested = await requestCode(deps, address, frame.language, requester);
  if (requested.kind === 'requested') {
    const seconds = CODE_TERM_MS / 1000;
    const cookie = buyerCookie(request.headers, publicUrl, 'code', requested.token, seconds);
    return reply.header('set-cookie', cookie).redirect('/my/code', 303);
  }
  if (requested.kind === 'address') {
    const entered = { email: errors.address, enteredEmail: address };
    return send(reply, 422, doorsPage(frame, true, entered));
  }
  const { retryAfterSeconds } = requested;
  reply.header('retry-after', retryAfterSeconds);
  return send(reply, 429, codePage(frame, errors.codeLimit(minutesOf(retryAfterSeconds))));
}

async function submitCode(
  deps: PageDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { headers } = request;
  const form = await readForm(headers['content-type'], request.body);
  const token = readBuyerCookie(headers, deps.config.http.publicUrl, 'code');
  const entry = await enterCode(deps, token, form.get('code') ?? '', request.clientNetwork);
  if (entry.kind === 'right') return signIn(deps, request, reply, entry.session);
  const frame = frameOf(deps, request);
  const { errors } = textsOf(frame);
  const error = entry.kind === 'wrong' ? errors.codeWrong(entry.triesLeft) : errors.codeOver;
  return send(reply, 403, codePage(frame, error));
}

type LicenseRequest = FastifyRequest<{ Params: { id: string } }>;
type MachineRequest = FastifyRequest<{ Params: { id: string; activation: string } }>;

/** The pages of a signed-in buyer. */
function registerLicenses(app: App, deps: PageDependencies): void {
  app.post('/my/keys', PAGE, (request, reply) =>
    signedIn(deps, request, reply, (session) => submitKeys(deps, session, reply)),
  );

  const license = '/my/licenses/:id';
  app.get(license, PAGE, (request: LicenseRequest, reply) =>
    signedIn(deps, request, reply, (session) =>
      showLicense(deps, session, request.params.id, request, reply),
    ),
  );

  const machine = `${license}/machines/:activation`;
  app.get(machine, PAGE, (request: MachineRequest, reply) =>
    signedIn(deps, request, reply, (session) =>
      confirmFreeing(deps, session, request.params, request, reply),
    ),
  );
  app.post(machine, PAGE, (request: MachineRequest, reply) =>
    signedIn(deps, request, reply, (session) =>
      submitFreeing(deps, session, request.params, request, reply),
    ),
  );

  const offline = `${license}/offline`;
  app.get(offline, PAGE, (request: LicenseRequest, reply) =>
    signedIn(deps, request, reply, (session) =>
      showAirgap(deps, session, request.params.id, request, reply),
    ),
  );
  app.post(offline, PAGE, (request: LicenseRequest, reply) =>
    signedIn(deps, request, reply, (session) =>
      submitAirgap(deps, session, request.params.id, request, reply),
    ),
  );
}
