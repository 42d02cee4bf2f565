import { addSuppression, removeSuppression, suppressions } from '@latchkey/contract';

import { notFound } from '#server/errors.ts';
import type { App } from '#server/http/app-instance.ts';
import { DONE } from '#server/http/done.ts';
import { serveOperation } from '#server/http/serve-operation.ts';

import { serveList, type ListDependencies } from '../lists/serve-list.ts';
import { suppressionSource } from './list-suppressions.ts';
import { liftByHash, suppressManually } from './manual-changes.ts';

/** Registers the operations on suppressed addresses for operators. */
export function registerAdminSuppressionRoutes(
  app: App,
  deps: Parameters<typeof liftByHash>[0] & ListDependencies,
): void {
  serveList(app, deps, suppressions, suppressionSource(deps));
  serveOperation(app, addSuppression, async ({ body, operator }) => {
    await suppressManually(deps, { ...body, actor: operator.actor });
    return DONE;
  });
  serveOperation(app, removeSuppression, async ({ body, operator }) => {
    const { address_hash: hash, reason } = body;
    if (!/^[\da-f]{64}$/u.test(hash)) throw notFound();
    const lifted = await liftByHash(deps, hash, { reason, actor: operator.actor });
    if (!lifted) throw notFound();
    return DONE;
  });
}
