/** `latchkey operator`: the people who use the console. */
import { OPERATOR_ROLES, type OperatorRole } from '@latchkey/contract';

import {
  changeOperatorRole,
  createOperator,
  disableOperator,
  enableOperator,
  listOperators,
  resetOperator,
  type IssuedLink,
} from '#server/features/operators/manage.ts';
import { operatorState } from '#server/features/operators/rules/operator.ts';
import { formatTimestamp } from '#server/lib/text.ts';

import { currentActor } from './actor.ts';
import { commandGroup, type Result } from './command.ts';
import { addressArgument, reasonOption, requiredReasonOption, shortText } from './options.ts';
import { paint } from './output.ts';
import { choice, option } from './parameters.ts';
import { formatRows } from './table.ts';
import { contextCommand } from './with-context.ts';

const ROLES = 'viewer: reads; support: also helps customers; admin: everything';

const createCommand = contextCommand({
  name: 'create',
  description:
    'Create an operator of the console and print a one-time link for the first sign-in. The link expires after 30 minutes.',
  examples: {
    'operator create anna@example.com': 'An administrator',
    'operator create ben@example.com --role support --name Ben': 'Someone who helps customers',
  },
  parameters: [
    addressArgument,
    choice('--role <role>', ROLES, OPERATOR_ROLES).default('admin'),
    option('--name <name>', 'name in the console (default: the address)', shortText),
    reasonOption,
  ],
  async run(context, { address: email, role, name, reason }) {
    const newOperator = { email, role, name: name ?? email };
    const link = await createOperator(context, newOperator, { actor: currentActor(), reason });
    return showLink(link, `Created ${email} as ${role}.`);
  },
});

function showLink({ operatorId, url, expiresAt }: IssuedLink, done: string): Result {
  return {
    json: { id: operatorId, url, expires_at: expiresAt },
    text: `${paint('bold', url)}\n\n${done} The link works once, until ${formatTimestamp(expiresAt)}. It cannot be shown again.`,
  };
}

const listCommand = contextCommand({
  name: 'list',
  description: 'List the operators by e-mail address.',
  examples: { 'operator list': 'Roles, states, second factors and last sign-ins' },
  async run(context) {
    const operators = (await listOperators(context)).map((operator) => ({
      id: operator.id,
      email: operator.email,
      name: operator.name,
      role: operator.role,
      state: operatorState(operator),
      totp_enabled: operator.totpEnabledAt !== null,
      passkeys: operator.passkeys,
      created_at: operator.createdAt,
      last_sign_in_at: operator.lastSignInAt,
    }));
    const text = formatRows(operators, 'No operators. Create one with latchkey operator create.', [
      ['e-mail', ({ email }) => email],
      ['name', ({ name }) => name],
      ['role', ({ role }) => role],
      ['state', ({ state }) => state],
      ['one-time codes', ({ totp_enabled: isEnabled }) => (isEnabled ? 'yes' : 'no')],
      ['passkeys', ({ passkeys }) => passkeys],
      ['last sign-in', (operator) => operator.last_sign_in_at],
    ]);
    return { json: operators, text };
  },
});

const disableCommand = contextCommand({
  name: 'disable',
  description: 'Disable an operator and end its sessions at once.',
  examples: { 'operator disable ben@example.com --reason "left the company"': 'Lock someone out' },
  parameters: [addressArgument, requiredReasonOption],
  async run(context, { address, reason }) {
    await disableOperator(context, { email: address }, { actor: currentActor(), reason });
    return { json: { email: address, state: 'disabled' }, text: `Disabled ${address}.` };
  },
});

const enableCommand = contextCommand({
  name: 'enable',
  description: 'Enable a disabled operator, who then signs in as before.',
  examples: { 'operator enable ben@example.com': 'After a leave' },
  parameters: [addressArgument, reasonOption],
  async run(context, { address, reason }) {
    await enableOperator(context, { email: address }, { actor: currentActor(), reason });
    return { json: { email: address, state: 'enabled' }, text: `Enabled ${address}.` };
  },
});

const roleCommand = contextCommand({
  name: 'role',
  description: 'Change the role of an operator; open sessions have it at once.',
  examples: { 'operator role ben@example.com --role admin': 'Promote an operator' },
  parameters: [
    addressArgument,
    choice<'--role <role>', OperatorRole>('--role <role>', ROLES, OPERATOR_ROLES).required(),
    reasonOption,
  ],
  async run(context, { address, role, reason }) {
    await changeOperatorRole(context, { email: address }, role, { actor: currentActor(), reason });
    return { json: { email: address, role }, text: `${address} is ${role} now.` };
  },
});

const resetCommand = contextCommand({
  name: 'reset',
  description:
    'Remove the credentials of an operator, end its sessions, and print a new one-time link. Use it after a lost password, phone or passkey.',
  examples: { 'operator reset anna@example.com --reason "lost phone"': 'Let an operator in again' },
  parameters: [addressArgument, reasonOption],
  async run(context, { address, reason }) {
    const link = await resetOperator(
      context,
      { email: address },
      { actor: currentActor(), reason },
    );
    return showLink(link, `Reset ${address}.`);
  },
});

export const operatorCommand = commandGroup(
  'operator',
  'Create, list, disable and reset the operators of the console.',
  [createCommand, listCommand, disableCommand, enableCommand, roleCommand, resetCommand],
);
