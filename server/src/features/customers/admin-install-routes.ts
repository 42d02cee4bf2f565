/** Installs and machines, for operators. */
import {
  Install,
  InstallErased,
  InstallEvents,
  InstallEventsQuery,
  InstallPath,
  Machine,
  MachineErase,
  MachineErased,
  MachineQuery,
  ReasonedChange,
  ref,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import { answerCsv, answerJsonFile, csvAnswer, jsonFileAnswer } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { ADMIN_FRESH, SUPPORT_FRESH, VIEWER, operatorOf } from '#server/http/require-operator.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

import { eraseInstall, eraseMachine } from '../analytics/installs/erase.ts';
import { listArchives } from '../analytics/installs/list-archives.ts';
import { listInstallEvents } from '../analytics/installs/list-events.ts';
import {
  downloadInstall,
  exportInstallEvents,
  viewInstall,
} from '../analytics/installs/read-install.ts';
import type { LicenseChangeDependencies } from '../licenses/dependencies.ts';
import { showMachine } from './show-machine.ts';

const INSTALL = '/api/v1/admin/installs/:id';
const MACHINE = '/api/v1/admin/machine';

export const TAGS = ['admin: customers'];

/** The dependencies of showing, exporting and erasing personal data. */
export interface PersonalDataDependencies extends LicenseChangeDependencies {
  readonly databaseLimiter: ConcurrencyLimiter;
}

/**
 * Registers the operations on installs and machines.
 * @param longWork limits the reads of whole tables
 */
export function registerInstallRoutes(
  app: App,
  deps: PersonalDataDependencies,
  longWork: ConcurrencyLimiter,
): void {
  app.get(INSTALL, { config: VIEWER, schema: showOperation }, ({ params }) =>
    viewInstall(deps, params.id),
  );
  app.get(`${INSTALL}/events`, { config: VIEWER, schema: eventsOperation }, ({ params, query }) =>
    listInstallEvents(deps, params.id, query.cursor ?? null),
  );
  app.get(
    `${INSTALL}/events/export`,
    { config: SUPPORT_FRESH, schema: exportEventsOperation },
    async (request, reply) => {
      const { actor } = operatorOf(request);
      const { columns, rows } = await exportInstallEvents(deps, request.params.id, actor);
      return answerCsv(reply, 'install-events', columns, rows);
    },
  );
  app.post(
    `${INSTALL}/export`,
    { config: SUPPORT_FRESH, schema: exportOperation },
    async (request, reply) => {
      const { actor } = operatorOf(request);
      const { id } = request.params;
      const pieces = await downloadInstall(deps, { id, actor, reason: request.body.reason });
      return answerJsonFile(reply, 'install', pieces);
    },
  );
  app.post(
    `${INSTALL}/erase`,
    { config: { ...ADMIN_FRESH, ...OWN_SLOTS }, schema: eraseOperation },
    (request) =>
      longWork.run(async () => {
        const { actor } = operatorOf(request);
        const { id } = request.params;
        const events = await eraseInstall(deps, { id, actor, reason: request.body.reason });
        return { erased_events: events, archives: await listArchives(deps) };
      }),
  );
  app.get(MACHINE, { config: VIEWER, schema: showMachineOperation }, ({ query }) =>
    showMachine(deps, query.id),
  );
  app.post(
    `${MACHINE}/erase`,
    { config: ADMIN_FRESH, schema: eraseMachineOperation },
    async (request) => {
      const { id, reason } = request.body;
      const days = await eraseMachine(deps, { id, reason, actor: operatorOf(request).actor });
      return { erased_days: days };
    },
  );
}

const showOperation = {
  operationId: 'showInstall',
  tags: TAGS,
  summary: 'Show an install and its activations',
  description: 'An install without an activation is answered too: it may have sent events.',
  params: InstallPath,
  response: { 200: ref(Install, 'The install.') },
} satisfies FastifySchema;

const eventsOperation = {
  operationId: 'listInstallEvents',
  tags: TAGS,
  summary: 'List the events of an install',
  description: 'A page covers seven days at most, so that it can be empty and have a next one.',
  params: InstallPath,
  querystring: InstallEventsQuery,
  response: { 200: ref(InstallEvents, 'One page, newest first.') },
} satisfies FastifySchema;

const exportEventsOperation = {
  operationId: 'exportInstallEvents',
  tags: TAGS,
  summary: 'Export the events of an install as CSV',
  description: 'All stored events, day by day. The audit log records it.',
  params: InstallPath,
  response: csvAnswer('One line for each event, the oldest day first.'),
} satisfies FastifySchema;

const exportOperation = {
  operationId: 'exportInstall',
  tags: TAGS,
  summary: 'Export the data of an install',
  description: 'Without license keys and fingerprints. The audit log records each export.',
  params: InstallPath,
  body: ref(ReasonedChange),
  response: jsonFileAnswer('Its activations and events.'),
} satisfies FastifySchema;

const eraseOperation = {
  operationId: 'eraseInstall',
  tags: TAGS,
  summary: 'Delete all events of an install',
  description:
    'Reports follow within minutes; activations stay with their licenses. Archived events stay in the files of `archives`. If it is interrupted, repeat it.',
  params: InstallPath,
  body: ref(ReasonedChange),
  response: { 200: ref(InstallErased, 'The events were deleted.') },
} satisfies FastifySchema;

const showMachineOperation = {
  operationId: 'showMachine',
  tags: TAGS,
  summary: 'Show a machine with its licenses and its use',
  description: 'An unknown machine is answered with empty lists.',
  querystring: MachineQuery,
  response: { 200: ref(Machine, 'The machine.') },
} satisfies FastifySchema;

const eraseMachineOperation = {
  operationId: 'eraseMachine',
  tags: TAGS,
  summary: 'Delete the days of use of a machine',
  description: 'Reports follow within minutes; activations stay with their licenses.',
  body: ref(MachineErase),
  response: { 200: ref(MachineErased, 'The days were deleted.') },
} satisfies FastifySchema;
