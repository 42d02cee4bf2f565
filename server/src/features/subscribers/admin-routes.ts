import {
  eraseSubscriber,
  resendConfirmation,
  showSubscriber,
  subscribers,
  unsubscribeSubscriber,
  type AdminSubscriberDetail,
} from '@latchkey/contract';

import { conflict, notFound } from '#server/errors.ts';
import type { App } from '#server/http/app-instance.ts';
import { DONE } from '#server/http/done.ts';
import { serveOperation, type OperationRequest } from '#server/http/serve-operation.ts';

import { serveList, type ListDependencies } from '../lists/serve-list.ts';
import type { ManualChange } from '../suppressions/change-address.ts';
import { subscriberSource, viewSubscriberDetail } from './list-subscribers.ts';
import * as changes from './manual-changes.ts';
import * as confirmation from './resend-confirmation.ts';
import { findSubscriberEmail, showSubscriberById } from './view-subscribers.ts';

type Dependencies = confirmation.ResendDependencies & ListDependencies;

/** Registers the operations on newsletter subscribers for operators. */
export function registerAdminSubscriberRoutes(app: App, deps: Dependencies): void {
  serveList(app, deps, subscribers, subscriberSource(deps));
  serveOperation(app, showSubscriber, ({ params }) => show(deps, params.id));
  serveOperation(app, resendConfirmation, async (request) => {
    const isQueued = await confirmation.resendConfirmation(deps, await readChange(deps, request));
    if (!isQueued) throw conflict(await show(deps, request.params.id));
    return DONE;
  });
  serveOperation(app, unsubscribeSubscriber, async (request) => {
    await changes.unsubscribeManually(deps, await readChange(deps, request));
    return show(deps, request.params.id);
  });
  serveOperation(app, eraseSubscriber, async (request) => {
    await changes.eraseSubscriber(deps, await readChange(deps, request));
    return DONE;
  });
}

async function show(deps: Dependencies, id: string): Promise<AdminSubscriberDetail> {
  const view = await showSubscriberById(deps, id);
  if (view === null) throw notFound();
  return viewSubscriberDetail(view);
}

/** @throws notFound (404) also for a subscriber without an address: nothing of it can be changed */
async function readChange(
  deps: Dependencies,
  { params, body, operator }: OperationRequest<typeof eraseSubscriber>,
): Promise<ManualChange> {
  const email = await findSubscriberEmail(deps, params.id);
  if (email === null) throw notFound();
  return { email, actor: operator.actor, reason: body.reason };
}
