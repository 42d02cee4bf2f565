/** The keys that sign entitlements, for administrators. */
import {
  KeyRevocation,
  ref,
  SigningKeyPath,
  SigningKeyRotation,
  SigningKeys,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import { noSuch, notPossible } from '#server/errors.ts';
import { answerCsv, csvAnswer } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { ADMIN, ADMIN_FRESH, operatorOf } from '#server/http/require-operator.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import {
  revokeSigningKey,
  rotateSigningKey,
  type SigningKeyDependencies,
} from './rotate-signing-key.ts';
import { exportSigningKeys, viewSigningKeys, type ViewedSigningKey } from './view-signing-keys.ts';

const SIGNING_KEYS = '/api/v1/admin/signing-keys';
const TAGS = ['admin: keys'];

export function registerSigningKeyRoutes(app: App, deps: SigningKeyDependencies): void {
  app.get(SIGNING_KEYS, { config: ADMIN, schema: listOperation }, () => listKeys(deps));
  app.get(
    `${SIGNING_KEYS}/export`,
    { config: ADMIN_FRESH, schema: exportOperation },
    async (request, reply) => {
      const keys = await exportSigningKeys(deps, operatorOf(request).actor);
      return answerCsv(reply, 'signing-keys', CSV_COLUMNS, keys);
    },
  );
  app.post(
    `${SIGNING_KEYS}/rotate`,
    { config: ADMIN_FRESH, schema: rotateOperation },
    async (request) => {
      const { immediately = false, reason } = request.body;
      await rotateSigningKey(deps, { immediately }, { actor: operatorOf(request).actor, reason });
      return listKeys(deps);
    },
  );
  app.post(
    `${SIGNING_KEYS}/:kid/revoke`,
    { config: ADMIN_FRESH, schema: revokeOperation },
    async (request) => {
      const { kid } = request.params;
      const change = { actor: operatorOf(request).actor, reason: request.body.reason };
      if (await revokeSigningKey(deps, kid, change)) return listKeys(deps);
      const isKnown = (await viewSigningKeys(deps)).some(({ record }) => record.kid === kid);
      if (!isKnown) throw noSuch('There is no such signing key.');
      throw notPossible('Only a retired key can be revoked: rotate the keys immediately first.');
    },
  );
}

async function listKeys(deps: SigningKeyDependencies): Promise<SigningKeys> {
  const keys = await viewSigningKeys(deps);
  return {
    items: keys.map(({ record, state }) => ({
      kid: record.kid,
      state,
      active_from: record.activeFrom.toISOString(),
      retired_at: record.retiredAt?.toISOString() ?? null,
      created_at: record.createdAt.toISOString(),
    })),
  };
}

const CSV_COLUMNS: CsvColumns<ViewedSigningKey> = {
  kid: ({ record }) => record.kid,
  state: ({ state }) => state,
  active_from: ({ record }) => record.activeFrom,
  retired_at: ({ record }) => record.retiredAt,
  created_at: ({ record }) => record.createdAt,
};

const exportOperation = {
  operationId: 'exportSigningKeys',
  tags: TAGS,
  summary: 'Export the keys that sign entitlements as CSV',
  description: 'Without the private keys. The audit log records it.',
  response: csvAnswer('One line for each key.'),
} satisfies FastifySchema;

const listOperation = {
  operationId: 'listSigningKeys',
  tags: TAGS,
  summary: 'List the keys that sign entitlements',
  response: { 200: ref(SigningKeys, 'All signing keys.') },
} satisfies FastifySchema;

const rotateOperation = {
  operationId: 'rotateSigningKey',
  tags: TAGS,
  summary: 'Create a new key to sign entitlements with',
  description: 'Older keys stay published until their last token expires.',
  body: ref(SigningKeyRotation),
  response: { 200: ref(SigningKeys, 'All signing keys, with the new one.') },
} satisfies FastifySchema;

const revokeOperation = {
  operationId: 'revokeSigningKey',
  tags: TAGS,
  summary: 'Remove a retired key that leaked from the key set',
  description: 'Every process removes it within a minute. Clients then refuse its tokens.',
  params: SigningKeyPath,
  body: ref(KeyRevocation),
  response: { 200: ref(SigningKeys, 'All signing keys, without the revoked one in the key set.') },
  problems: ['not_found', 'not_possible'],
} satisfies FastifySchema;
