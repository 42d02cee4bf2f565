/** The accounts of the console, for administrators. */
import {
  IssuedOperatorLink,
  Operator,
  OperatorCreate,
  OperatorDisable,
  OperatorPath,
  OperatorQuery,
  OperatorRoleChange,
  OperatorRowsQuery,
  Operators,
  OperatorStateChange,
  ref,
} from '@latchkey/contract';
import type { FastifyRequest, FastifySchema } from 'fastify';

import {
  answerPage,
  csvAnswer,
  readOrder,
  readPageRequest,
  answerCsv,
} from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { ADMIN, ADMIN_FRESH, operatorOf } from '#server/http/require-operator.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { PREFIX } from './admin-access.ts';
import { registerOperatorSessionRoutes } from './admin-operator-session-routes.ts';
import type { SessionDependencies } from './dependencies.ts';
import { exportOperators, listOperatorPage, showOperator } from './list-operators.ts';
import {
  changeOperatorRole,
  createOperator,
  disableOperator,
  enableOperator,
  resetOperator,
  type IssuedLink,
  type OperatorChange,
} from './manage.ts';
import { viewOperator } from './view-operator.ts';

const OPERATORS = `${PREFIX}/operators`;
const TAGS = ['admin: operators'];

export function registerOperatorRoutes(app: App, deps: SessionDependencies): void {
  app.get(OPERATORS, { config: ADMIN, schema: listOperation }, ({ query }) =>
    answerPage(
      readPageRequest(query, 'email'),
      (page) => listOperatorPage(deps, query, page),
      viewOperator,
    ),
  );
  app.get(
    `${OPERATORS}/export`,
    { config: ADMIN_FRESH, schema: exportOperation },
    async (request, reply) => {
      const { query } = request;
      const order = readOrder(query, 'email');
      const rows = await exportOperators(deps, query, order, operatorOf(request));
      return answerCsv(reply, 'operators', CSV_COLUMNS, rows);
    },
  );
  app.get(`${OPERATORS}/:id`, { config: ADMIN, schema: showOperation }, ({ params }) =>
    showOperator(deps, params.id),
  );
  registerChanges(app, deps);
  registerOperatorSessionRoutes(app, deps);
}

const CSV_COLUMNS: CsvColumns<Parameters<typeof viewOperator>[0]> = {
  id: (operator) => operator.id,
  email: (operator) => operator.email,
  name: (operator) => operator.name,
  role: (operator) => operator.role,
  state: (operator) => viewOperator(operator).state,
  totp_enabled: (operator) => operator.totpEnabledAt !== null,
  created_at: (operator) => operator.createdAt,
  last_sign_in_at: (operator) => operator.lastSignInAt,
  disabled_at: (operator) => operator.disabledAt,
};

function registerChanges(app: App, deps: SessionDependencies): void {
  app.post(OPERATORS, { config: ADMIN_FRESH, schema: createOperation }, (request) => {
    const { email, name = '', role } = request.body;
    const newOperator = { email, name: name.trim() || email, role };
    return createOperator(deps, newOperator, changeOf(request, request.body)).then(viewLink);
  });
  app.post(
    `${OPERATORS}/:id/role`,
    { config: ADMIN_FRESH, schema: roleOperation },
    async (request) => {
      const { params, body } = request;
      const change = changeOf(request, body);
      return viewOperator(await changeOperatorRole(deps, params, body.role, change));
    },
  );
  app.post(
    `${OPERATORS}/:id/disable`,
    { config: ADMIN_FRESH, schema: disableOperation },
    async (request) => {
      const { params, body } = request;
      return viewOperator(await disableOperator(deps, params, changeOf(request, body)));
    },
  );
  app.post(
    `${OPERATORS}/:id/enable`,
    { config: ADMIN_FRESH, schema: enableOperation },
    async (request) => {
      const { params, body } = request;
      return viewOperator(await enableOperator(deps, params, changeOf(request, body)));
    },
  );
  app.post(
    `${OPERATORS}/:id/reset`,
    { config: ADMIN_FRESH, schema: resetOperation },
    async (request) => {
      const { params, body } = request;
      return viewLink(await resetOperator(deps, params, changeOf(request, body)));
    },
  );
}

function changeOf(
  request: FastifyRequest,
  body: { readonly reason?: string; readonly expected_version?: number },
): OperatorChange {
  const { actor, kind, id } = operatorOf(request);
  return {
    actor,
    reason: body.reason ?? null,
    actorId: kind === 'session' ? id : null,
    ...(body.expected_version === undefined ? {} : { expectedVersion: body.expected_version }),
  };
}

function viewLink({ operatorId, url, expiresAt }: IssuedLink): IssuedOperatorLink {
  return { operator_id: operatorId, url, expires_at: expiresAt.toISOString() };
}

const OF_STATE = ['not_found', 'conflict', 'not_possible'] as const;

const listOperation = {
  operationId: 'listOperators',
  tags: TAGS,
  summary: 'List operators',
  querystring: OperatorQuery,
  response: { 200: ref(Operators, 'A page of operators.') },
} satisfies FastifySchema;

const exportOperation = {
  operationId: 'exportOperators',
  tags: TAGS,
  summary: 'Export operators as CSV',
  querystring: OperatorRowsQuery,
  response: csvAnswer('One line for each operator.'),
} satisfies FastifySchema;

const showOperation = {
  operationId: 'showOperator',
  tags: TAGS,
  summary: 'Show an operator',
  params: OperatorPath,
  response: { 200: ref(Operator, 'The operator.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const createOperation = {
  operationId: 'createOperator',
  tags: TAGS,
  summary: 'Create an operator',
  description:
    'The operator signs in for the first time with the one-time link, which is valid for 30 minutes, and sets a password with it.',
  body: ref(OperatorCreate),
  response: { 200: ref(IssuedOperatorLink, 'The operator is invited.') },
  problems: ['not_possible'],
} satisfies FastifySchema;

const roleOperation = {
  operationId: 'changeOperatorRole',
  tags: TAGS,
  summary: 'Change the role of an operator',
  description:
    'Open sessions have it at once. The last administrator who can sign in keeps the role.',
  params: OperatorPath,
  body: ref(OperatorRoleChange),
  response: { 200: ref(Operator, 'The operator with the new role.') },
  problems: OF_STATE,
} satisfies FastifySchema;

const disableOperation = {
  operationId: 'disableOperator',
  tags: TAGS,
  summary: 'Disable an operator',
  description:
    'Ends every session at once. Your own account and the last administrator who can sign in cannot be disabled.',
  params: OperatorPath,
  body: ref(OperatorDisable),
  response: { 200: ref(Operator, 'The disabled operator.') },
  problems: OF_STATE,
} satisfies FastifySchema;

const enableOperation = {
  operationId: 'enableOperator',
  tags: TAGS,
  summary: 'Enable an operator',
  params: OperatorPath,
  body: ref(OperatorStateChange),
  response: { 200: ref(Operator, 'The operator signs in as before.') },
  problems: OF_STATE,
} satisfies FastifySchema;

const resetOperation = {
  operationId: 'resetOperator',
  tags: TAGS,
  summary: 'Reset an operator',
  description:
    'Removes the password and the second factors, ends every session, and creates a one-time link. Your own account cannot be reset.',
  params: OperatorPath,
  body: ref(OperatorStateChange),
  response: { 200: ref(IssuedOperatorLink, 'The operator is invited again.') },
  problems: OF_STATE,
} satisfies FastifySchema;
