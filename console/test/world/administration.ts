import { createApiKey, rollApiKey } from '../../../server/src/features/api-keys/manage.ts';
import { rotateSigningKey } from '../../../server/src/features/entitlements/rotate-signing-key.ts';
import { createOperator, disableOperator } from '../../../server/src/features/operators/manage.ts';

import { openBrowser } from '../../../server/test/operator-steps.ts';
import type { Seed } from './create-world.ts';
import { HOSTILE } from './sales.ts';

/** What a client may send as its User-Agent, as long as the service stores it. */
const HOSTILE_USER_AGENT = HOSTILE.slice(0, 500);

const CHANGE = { actor: 'cli:root sudo:grace', reason: 'set up the shop' };

/** Operators of each state, API keys and signing keys. */
export const seedAdministration: Seed = async (service) => {
  const { context } = service;
  const names = [
    ['Grace Hopper', 'grace@example.com', 'support'],
    ['Александра Васильева', 'aleksandra@example.com', 'viewer'],
    ['مريم الأسطرلابي', 'mariam@example.com', 'admin'],
  ] as const;
  const [invited] = await Promise.all(
    names.map(([name, email, role]) => createOperator(context, { name, email, role }, CHANGE)),
  );
  const former = await openBrowser(service, 'viewer');
  const left = { ...CHANGE, reason: 'left the company' };
  await disableOperator(context, { id: former.operatorId }, left);
  await openBrowser(service, 'support');
  const operatorId = invited?.operatorId ?? '';
  const sessions = `insert into operator_sessions
    select gen_random_uuid(), $1, sha256(n::text::bytea), $2, $2, $2, '198.18.0.1', $3 from generate_series(1, 2) n`;
  await service.pool.query(sessions, [operatorId, service.clock.now(), HOSTILE_USER_AGENT]);
  const key = { scopes: ['subscribers:write'], term: { until: null } } as const;
  await createApiKey(context, { ...key, name: 'newsletter form' }, CHANGE);
  await createApiKey(
    context,
    { name: 'prometheus', scopes: ['metrics:read'], term: { days: 365 } },
    CHANGE,
  );
  await rollApiKey(context, { ...CHANGE, idOrName: 'prometheus', overlapMs: 86_400_000 });
  await rotateSigningKey(context, { immediately: true }, CHANGE);
  await rotateSigningKey(context, { immediately: false }, { ...CHANGE, reason: 'yearly' });
  return { operatorId, hostileUserAgent: HOSTILE_USER_AGENT };
};
