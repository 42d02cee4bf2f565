import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  EventBatch,
  EventIn,
  HeartbeatRequest,
  LicenseActivate,
  LicenseDeactivate,
  LicenseValidate,
  MAX_EVENTS,
  OutreachRequest,
  Recipient,
  SubscriberCreate,
  TrialStartRequest,
  expectedVersion,
  listQuery,
  reason,
  ref,
} from '@latchkey/contract';
import * as fc from 'fast-check';
import { type TSchema, Type } from 'typebox';
import { createMetrics } from '#server/metrics.ts';
import { createShell } from '../shell.ts';
import { MAX_FAULTS, explain } from './explain.ts';

const uuid = '8f14e45f-ceea-467f-a8f5-5d3b8a6e3c11';
const event = { event_id: uuid, name: 'app_started', occurred_at: '2026-11-20T10:00:00Z' };
const batch = { install_id: uuid, session_id: uuid, app_version: '1.0', events: [event] };

/** Returns the types of the faults of `value`, each after the last part of its location. */
function validationErrorsOf(schema: TSchema, value: unknown): string[] {
  return explain(schema, value, ['body']).map(({ loc, type }) => `${loc.at(-1)}: ${type}`);
}

describe('rejects values that the database cannot store', () => {
  const cases: readonly (readonly [string, TSchema, unknown, readonly string[]])[] = [
    ['urn:uuid:', EventIn, { ...event, event_id: `urn:uuid:${uuid}` }, ['event_id: uuid_parsing']],
    ['U+0000 in text', EventIn, { ...event, name: 'a\0b' }, ['name: value_error']],
    [
      'a machine id of more than 1,024 characters',
      LicenseDeactivate,
      { license_key: 'k', activation_id: uuid, machine_id: 'm'.repeat(1025) },
      ['machine_id: string_too_long'],
    ],
    ['a lone surrogate in text', EventIn, { ...event, name: '\ud800' }, ['name: string_unicode']],
    ['U+0000 in a prop', EventIn, { ...event, props: { a: '\0' } }, ['a: value_error']],
    [
      'U+0000 in the name of a prop',
      EventIn,
      { ...event, props: { '\0': 'a' } },
      ['\0: value_error'],
    ],
    [
      'the year 0',
      EventIn,
      { ...event, occurred_at: '0000-01-01T00:00:00Z' },
      ['occurred_at: datetime_parsing'],
    ],
    [
      'an offset beyond 15:59',
      EventIn,
      { ...event, occurred_at: '2026-11-20T10:00:00+16:00' },
      ['occurred_at: datetime_from_date_parsing'],
    ],
    [
      'a leap second',
      EventIn,
      { ...event, occurred_at: '2026-06-30T23:59:60Z' },
      ['occurred_at: datetime_from_date_parsing'],
    ],
    [
      'a bare date',
      EventIn,
      { ...event, occurred_at: '2026-11-20' },
      ['occurred_at: datetime_from_date_parsing'],
    ],
    ['a number for a date', EventIn, { ...event, occurred_at: 1 }, ['occurred_at: datetime_type']],
  ];
  for (const [what, schema, value, expected] of cases) {
    test(what, () => {
      assert.deepEqual(validationErrorsOf(schema, value), expected);
    });
  }
});

test('an unknown word of an enum is one fault', () => {
  const request = { template: 'x', recipients: [{ email: 'ada@example.com' }] };
  assert.deepEqual(validationErrorsOf(OutreachRequest, request), ['template: enum']);
});

test('rejects values of other types than boolean, with two kinds of faults', () => {
  const request = { license_key: 'K', activation_id: uuid, machine_id: 'm' };
  const faults = ['true', 0, 1.5, [], {}].map((usage_sharing) =>
    validationErrorsOf(LicenseValidate, { ...request, usage_sharing }),
  );
  assert.deepEqual(faults, [
    ['usage_sharing: bool_parsing'],
    ['usage_sharing: bool_parsing'],
    ['usage_sharing: bool_type'],
    ['usage_sharing: bool_type'],
    ['usage_sharing: bool_type'],
  ]);
  assert.deepEqual(validationErrorsOf(LicenseValidate, { ...request, usage_sharing: null }), []);
});

test('reports the length of a list that is empty or too long, without its items', () => {
  assert.deepEqual(explain(EventBatch, { ...batch, events: [] }, ['body']), [
    {
      loc: ['body', 'events'],
      msg: 'List should have at least 1 item after validation, not 0',
      type: 'too_short',
    },
  ]);
  const events = Array.from({ length: 5_000 }, () => ({}));
  assert.deepEqual(explain(EventBatch, { ...batch, events }, ['body']), [
    {
      loc: ['body', 'events'],
      msg: 'List should have at most 500 items after validation, not 5000',
      type: 'too_long',
    },
  ]);
});

test('reports at most a hundred faults, with integers as indexes', () => {
  const events = Array.from({ length: MAX_EVENTS }, () => ({}));
  const faults = explain(EventBatch, { ...batch, events }, ['body']);
  assert.equal(faults.length, MAX_FAULTS);
  assert.deepEqual(faults.at(-1)?.loc, ['body', 'events', 33, 'event_id']);
  const props = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`p${index}`, 0]));
  assert.equal(explain(EventIn, { ...event, props }, ['body']).length, MAX_FAULTS);
});

test('ignores unknown fields of any name', () => {
  const body: unknown = JSON.parse(
    '{"email":"ada@example.com","x":"\\u0000","__proto__":{"email":7},"constructor":1}',
  );
  assert.deepEqual(validationErrorsOf(SubscriberCreate, body), []);
  const inherited: unknown = JSON.parse('{"__proto__":{"email":"ada@example.com"}}');
  assert.deepEqual(validationErrorsOf(SubscriberCreate, inherited), ['email: missing']);
});

describe('the validator and the explanation agree on', () => {
  const { app } = createShell({
    publicUrl: 'http://localhost',
    trustedProxies: [],
    log: { error: () => {}, warn: () => {}, info: () => {} },
    metrics: createMetrics({ version: 'test' }),
    state: () => 'ready',
  });
  before(async () => {
    app.post('/', { schema: { body: ref(EventBatch) } }, async () => '');
    await app.ready();
  });
  after(() => app.close());

  const oddValue = fc.oneof(
    fc.constantFrom<unknown>(null, true, 0, 1.5, '', 'K', 'en', 'startup', 'personal', [], {}),
    fc.constantFrom<unknown>(uuid, `urn:uuid:${uuid}`, 'ada@example.com', 'Ada <a@example.com>'),
    fc.constantFrom<unknown>('2026-11-20T10:00:00Z', '2026-11-20', '0000-01-01T00:00:00Z'),
    fc.constantFrom<unknown>('\0', '\ud800', { a: 'b' }, { a: 1 }, { '\0': 'b' }, [null], ['a']),
    fc.string({ unit: 'binary' }),
    fc.jsonValue(),
  );
  const oddItem = fc.oneof(
    oddObject([...Object.keys(EventIn.properties), ...Object.keys(Recipient.properties)]),
    fc.constant(event),
    fc.constant({ email: 'ada@example.com' }),
  );

  function oddObject(names: readonly string[]): fc.Arbitrary<unknown> {
    const entries = names.map((name) => [name, oddValue] as const);
    return fc.record(Object.fromEntries(entries), { requiredKeys: [] });
  }

  const requests = {
    LicenseActivate: {
      schema: LicenseActivate,
      valid: { license_key: 'K', machine_fingerprint: {} },
    },
    LicenseValidate: {
      schema: LicenseValidate,
      valid: { license_key: 'K', activation_id: uuid, machine_id: 'm' },
    },
    LicenseDeactivate: {
      schema: LicenseDeactivate,
      valid: { license_key: 'K', activation_id: uuid, machine_id: 'm' },
    },
    TrialStartRequest: { schema: TrialStartRequest, valid: { machine_fingerprint: {} } },
    HeartbeatRequest: {
      schema: HeartbeatRequest,
      valid: { machine_id: 'm', machine_fingerprint: {} },
    },
    SubscriberCreate: { schema: SubscriberCreate, valid: { email: 'ada@example.com' } },
    OutreachRequest: {
      schema: OutreachRequest,
      valid: { template: 'personal', recipients: [{ email: 'ada@example.com' }] },
    },
    EventBatch: { schema: EventBatch, valid: batch },
  };

  for (const [name, { schema, valid }] of Object.entries(requests)) {
    test(name, () => {
      const judge = app.validatorCompiler?.({
        schema: ref(schema),
        method: 'POST',
        url: '/',
        httpPart: 'body',
      });
      assert.ok(judge);
      assert.equal(judge(structuredClone(valid)), true);
      const names = Object.keys(schema.properties);
      const change = fc.tuple(
        fc.constantFrom(...names),
        fc.oneof(oddValue, fc.array(oddItem, { maxLength: 4 })),
      );
      const nearlyValid = fc
        .array(change, { maxLength: 3 })
        .map((changes) => ({ ...valid, ...Object.fromEntries(changes) }));
      const body = fc.oneof(nearlyValid, oddObject(names), oddValue);
      let refused = 0;
      fc.assert(
        fc.property(body, (value) => {
          const faults = explain(schema, value, ['body']);
          const verdict = judge(structuredClone(value));
          assert.equal(verdict === true, faults.length === 0, JSON.stringify(faults));
          if (faults.length > 0) refused += 1;
        }),
        { numRuns: 400 },
      );
      assert.ok(
        refused > 0 && refused < 400,
        `${refused} of 400 refused: the inputs do not cover both cases`,
      );
    });
  }
});

test('reports fields that a closed object does not have', () => {
  const schema = listQuery(['name'], { color: Type.Optional(Type.String()) });
  assert.deepEqual(validationErrorsOf(schema, { colour: 'red', sort: 'size' }), [
    'sort: enum',
    'colour: extra_forbidden',
  ]);
});

test('a field that is not known is reported with the name that was probably meant', () => {
  const schema = Type.Object(
    { max_activations: Type.Optional(Type.String()) },
    { additionalProperties: false },
  );
  assert.deepEqual(explain(schema, { max_activation: '3', zzz: 1 }, ['body']), [
    {
      loc: ['body', 'max_activation'],
      type: 'extra_forbidden',
      msg: 'Extra inputs are not permitted: did you mean max_activations?',
    },
    { loc: ['body', 'zzz'], type: 'extra_forbidden', msg: 'Extra inputs are not permitted' },
  ]);
});

test('reports texts that are too short, and numbers that are not whole or out of range', () => {
  const schema = Type.Object({ reason, expected_version: expectedVersion });
  assert.deepEqual(validationErrorsOf(schema, { reason: '', expected_version: 0 }), [
    'reason: string_too_short',
    'expected_version: greater_than_equal',
  ]);
  assert.deepEqual(
    [1.5, '1', 2 ** 31].map((expected_version) =>
      validationErrorsOf(schema, { reason: 'r', expected_version }),
    ),
    [
      ['expected_version: int_type'],
      ['expected_version: int_type'],
      ['expected_version: less_than_equal'],
    ],
  );
});
