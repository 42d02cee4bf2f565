import type { ApiKeyScope } from '@latchkey/contract';

import { createApiKey, revokeApiKey, rollApiKey } from '#server/features/api-keys/manage.ts';
import { beginTotp, confirmTotp, redeemLink } from '#server/features/operators/credentials.ts';
import { createOperator, disableOperator } from '#server/features/operators/manage.ts';
import { totpCode, totpStep } from '#server/features/operators/rules/totp.ts';
import { signIn } from '#server/features/operators/sign-in.ts';
import { rotateSigningKey } from '#server/features/entitlements/rotate-signing-key.ts';

import { DAY_MS, HOUR_MS, MINUTE_MS, pastClock, startOfDay } from '../time.ts';
import { ADMIN, FORMER, OPERATORS, SECOND_ADMIN, SHELL, type DemoOperator } from './people.ts';
import type { Action, World } from './world.ts';

/** Of all operators: the demo listens on this machine only. */
export const PASSWORD = 'demo of contour';

const BROWSERS = [
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
] as const;

/** Filled while the past runs. */
export interface TotpSecret {
  value: string | null;
}

/** The accounts of operators, their sign-ins, and the keys of programs. */
export function listAccountActions(world: World, totp: TotpSecret): Action[] {
  return [...listOperators(world, totp), ...listSignIns(world, totp), ...listApiKeys(world)];
}

function listOperators({ context, nowMs }: World, totp: TotpSecret): Action[] {
  const created = [...OPERATORS, FORMER].map((operator, index) => ({
    atMs: nowMs - (530 - index * 70) * DAY_MS,
    run: () => createAccount(context, operator, operator === SECOND_ADMIN ? totp : null),
  }));
  const change = { actor: ADMIN.actor, reason: 'Left the company' };
  const left = () => disableOperator(context, { email: FORMER.email }, change);
  return [...created, { atMs: nowMs - 41.3 * DAY_MS, run: left }];
}

async function createAccount(
  context: World['context'],
  operator: DemoOperator,
  totp: TotpSecret | null,
): Promise<void> {
  const { email, name, role } = operator;
  const actor = operator === ADMIN ? SHELL : ADMIN.actor;
  const link = await createOperator(context, { email, name, role }, { actor, reason: null });
  const token = new URL(link.url).hash.slice(1);
  const client = { network: '198.51.100.24', userAgent: BROWSERS[0] };
  const { current } = await redeemLink(context, { token, password: PASSWORD }, client);
  if (totp === null) return;
  const sender = {
    kind: 'session' as const,
    id: link.operatorId,
    name,
    email,
    role,
    actor: operator.actor,
    sessionId: current.session_id,
    freshUntil: null,
  };
  const { secret } = await beginTotp(context, sender);
  await confirmTotp(context, sender, totpCode(secret, totpStep(pastClock.now())));
  totp.value = secret;
}

/** The last sign-ins, whose sessions are still open. */
function listSignIns({ context, nowMs }: World, totp: TotpSecret): Action[] {
  return OPERATORS.flatMap((operator, index) =>
    [19, 6, 1].map((daysAgo, visit) => ({
      atMs: startOfDay(nowMs - daysAgo * DAY_MS) + (7.6 + index * 0.37 + visit * 0.21) * HOUR_MS,
      run: async () => {
        const userAgent = BROWSERS[(index + visit) % BROWSERS.length] ?? BROWSERS[0];
        const client = { network: `198.51.100.${24 + index}`, userAgent };
        const { email } = operator;
        const code =
          operator === SECOND_ADMIN && totp.value !== null
            ? totpCode(totp.value, totpStep(pastClock.now()))
            : null;
        await signIn(context, { email, password: PASSWORD, code }, client);
      },
    })),
  );
}

function listApiKeys({ context, nowMs }: World): Action[] {
  const change = { actor: ADMIN.actor, reason: null };
  const ago = (days: number): number => nowMs - days * DAY_MS;
  const create = (
    daysAgo: number,
    name: string,
    scope: ApiKeyScope,
    days: number | null,
  ): Action => ({
    atMs: ago(daysAgo),
    run: () => {
      const term = days === null ? { until: null } : { days };
      return createApiKey(context, { name, scopes: [scope], term }, change);
    },
  });
  return [
    create(520, 'prometheus', 'metrics:read', null),
    create(410, 'spreadsheet', 'outreach:send', null),
    create(300, 'website', 'subscribers:write', 730),
    create(200, 'year-end report', 'admin:read', 60),
    create(120, 'help desk', 'admin:support', null),
    create(88, 'migration', 'admin', null),
    {
      atMs: ago(80),
      run: () => {
        const revocation = { idOrName: 'migration', ...change, reason: 'The move is complete' };
        return revokeApiKey(context, revocation);
      },
    },
    {
      atMs: ago(0.6),
      run: () => {
        const roll = { idOrName: 'website', overlapMs: 2 * DAY_MS, ...change };
        return rollApiKey(context, { ...roll, reason: 'Seen in a log of the web server' });
      },
    },
    {
      atMs: ago(38),
      run: () => {
        const rotation = { actor: SHELL, reason: 'Yearly rotation' };
        return rotateSigningKey(context, { immediately: false }, rotation);
      },
    },
  ];
}

/** Records when programs used their keys last. */
export async function useApiKeys({ context, nowMs }: World): Promise<void> {
  await context.pool.query(
    `update api_keys set last_used_at = $1::timestamptz - ago * interval '1 ms'
     from unnest($2::text[], $3::bigint[]) as used (name, ago)
     where api_keys.name = used.name and created_at < $1::timestamptz - ago * interval '1 ms'`,
    [new Date(nowMs), [...LAST_USES.keys()], [...LAST_USES.values()]],
  );
}

/** How long ago, by the name of the key. */
const LAST_USES = new Map([
  ['prometheus', MINUTE_MS],
  ['help desk', 47 * MINUTE_MS],
  ['website', 3 * HOUR_MS],
  ['spreadsheet', 12 * DAY_MS],
  ['year-end report', 150 * DAY_MS],
  ['migration', 82 * DAY_MS],
]);
