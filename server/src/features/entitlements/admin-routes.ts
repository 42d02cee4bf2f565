/** The keys that sign entitlements, for administrators. */
import {
  revokeSigningKey,
  rotateSigningKey,
  signingKeys,
  type SigningKeyView,
} from '@latchkey/contract';

import { noSuch, notPossible } from '#server/errors.ts';
import type { App } from '#server/http/app-instance.ts';
import { serveOperation } from '#server/http/serve-operation.ts';

import { serveCollection } from '../lists/serve-list.ts';
import * as rotation from './rotate-signing-key.ts';
import { viewSigningKeys } from './view-signing-keys.ts';

type Dependencies = rotation.SigningKeyDependencies;

export function registerSigningKeyRoutes(app: App, deps: Dependencies): void {
  const listKeys = () => listSigningKeys(deps);
  serveCollection(app, deps, signingKeys, listKeys);
  serveOperation(app, rotateSigningKey, async ({ body, operator }) => {
    const { immediately = false, reason } = body;
    await rotation.rotateSigningKey(deps, { immediately }, { actor: operator.actor, reason });
    return { items: await listKeys() };
  });
  serveOperation(app, revokeSigningKey, async ({ params, body, operator }) => {
    const change = { actor: operator.actor, reason: body.reason };
    if (await rotation.revokeSigningKey(deps, params.kid, change)) {
      return { items: await listKeys() };
    }
    const isKnown = (await listKeys()).some(({ kid }) => kid === params.kid);
    if (!isKnown) throw noSuch('There is no such signing key.');
    throw notPossible('Only a retired key can be revoked: rotate the keys immediately first.');
  });
}

/** The oldest first. */
async function listSigningKeys(deps: Dependencies): Promise<SigningKeyView[]> {
  const keys = await viewSigningKeys(deps);
  return keys.map(({ record, state }) => ({
    kid: record.kid,
    state,
    active_from: record.activeFrom.toISOString(),
    retired_at: record.retiredAt?.toISOString() ?? null,
    created_at: record.createdAt.toISOString(),
  }));
}
