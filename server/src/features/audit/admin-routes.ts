/** The audit log, for administrators. */
import {
  AuditChain,
  AuditEntries,
  AuditQuery,
  AuditRowsQuery,
  AuditVerification,
  AuditVerify,
  ref,
  type AuditEntry,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import {
  answerPage,
  csvAnswer,
  readOrder,
  readPageRequest,
  answerCsv,
} from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { ADMIN, ADMIN_FRESH, operatorOf } from '#server/http/require-operator.ts';
import { createSerialLimiter } from '#server/lib/concurrency-limiter.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import {
  exportEntries,
  listEntryPage,
  type AuditDependencies,
  type StoredAuditEntry,
} from './list-entries.ts';
import { checkNewestEntries, verifyPart, type Verification } from './verify-chain.ts';

const AUDIT = '/api/v1/admin/audit';
const TAGS = ['admin: audit'];

/** Entries that `GET …/chain` verifies, in some 20 ms. */
const NEWEST = 1_000;

/** Entries that one request verifies at most, in about half a second. */
const MAX_VERIFIED = 20_000;

export function registerAuditRoutes(app: App, deps: AuditDependencies): void {
  app.get(AUDIT, { config: ADMIN, schema: listOperation }, ({ query }) =>
    answerPage(
      readPageRequest(query, '-occurred_at'),
      (page) => listEntryPage(deps, query, page),
      viewEntry,
    ),
  );
  app.get(
    `${AUDIT}/export`,
    { config: ADMIN_FRESH, schema: exportOperation },
    async (request, reply) => {
      const { query } = request;
      const order = readOrder(query, '-occurred_at');
      const rows = await exportEntries(deps, query, order, operatorOf(request).actor);
      return answerCsv(reply, 'audit', CSV_COLUMNS, rows);
    },
  );
  registerVerification(app, deps);
}

function viewEntry(entry: StoredAuditEntry): AuditEntry {
  return {
    id: entry.id,
    sequence: entry.sequence,
    occurred_at: entry.occurredAt.toISOString(),
    actor: entry.actor,
    action: entry.action,
    subject_id: entry.subjectId,
    reason: entry.reason,
    details: entry.details,
    hash: entry.hash,
  };
}

const CSV_COLUMNS: CsvColumns<StoredAuditEntry> = {
  sequence: (entry) => entry.sequence,
  occurred_at: (entry) => entry.occurredAt,
  actor: (entry) => entry.actor,
  action: (entry) => entry.action,
  subject_id: (entry) => entry.subjectId,
  reason: (entry) => entry.reason,
  details: (entry) => JSON.stringify(entry.details),
  hash: (entry) => entry.hash,
};

function registerVerification(app: App, deps: AuditDependencies): void {
  // One at a time, so that verifications take a part of one core and one connection.
  const limiter = createSerialLimiter(1);
  app.get(
    `${AUDIT}/chain`,
    { config: { ...ADMIN, ...OWN_SLOTS }, schema: chainOperation },
    async (): Promise<AuditChain> => {
      const { entries, verification } = await limiter.run(() => checkNewestEntries(deps, NEWEST));
      const { verified, problem } = verification;
      return { entries, checked: verified, problem: problem?.message ?? null };
    },
  );
  app.post(
    `${AUDIT}/verify`,
    { config: { ...ADMIN, ...OWN_SLOTS }, schema: verifyOperation },
    async ({ body }) => {
      const { after = null, expected = null } = body;
      return viewVerification(
        await limiter.run(() => verifyPart(deps, after, MAX_VERIFIED, expected)),
      );
    },
  );
}

function viewVerification(verification: Verification): AuditVerification {
  const { verified, head, problem, isComplete } = verification;
  return {
    verified,
    problem: problem?.message ?? null,
    complete: isComplete,
    last: head && { sequence: head.sequence, hash: head.hash, occurred_at: head.occurredAt },
  };
}

const listOperation = {
  operationId: 'listAuditEntries',
  tags: TAGS,
  summary: 'List the audit log',
  querystring: AuditQuery,
  response: { 200: ref(AuditEntries, 'A page of entries.') },
} satisfies FastifySchema;

const exportOperation = {
  operationId: 'exportAuditEntries',
  tags: TAGS,
  summary: 'Export the audit log as CSV',
  querystring: AuditRowsQuery,
  response: csvAnswer('One line for each entry.'),
} satisfies FastifySchema;

const chainOperation = {
  operationId: 'showAuditChain',
  tags: TAGS,
  summary: 'Show the state of the audit chain',
  description: 'Verifies the newest 1,000 entries.',
  response: { 200: ref(AuditChain, 'The state of the chain.') },
} satisfies FastifySchema;

const verifyOperation = {
  operationId: 'verifyAuditLog',
  tags: TAGS,
  summary: 'Verify a part of the audit log',
  description:
    'Verifies up to 20,000 entries. Repeat it with `last` as `after` until `complete`; a problem ends the verification.',
  body: ref(AuditVerify),
  response: { 200: ref(AuditVerification, 'The result of this part.') },
} satisfies FastifySchema;
