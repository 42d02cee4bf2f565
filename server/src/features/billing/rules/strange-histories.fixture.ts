import { PERSONAL, type BuyerHistory } from './buyer-history.fixture.ts';
import {
  adjustment,
  began,
  checkout,
  line,
  month,
  monthly,
  payment,
  PRICES,
  renewal,
  snapshot,
} from './facts.fixture.ts';
import type { AdoptableLicense } from './plan-licenses.ts';

const start = [checkout({ subscriptionId: 'sub_1', currency: 'USD' }), began()];

const imported: AdoptableLicense = {
  provider: 'paddle',
  licenseId: '0',
  kind: 'subscription',
  name: 'sub_1',
  productId: 'personal',
  maxActivations: 2,
  subscription: true,
  expiresAt: month(4),
  customerEmail: null,
};
const MOVED = { ...PERSONAL, isAdopted: true };

/** Histories of events that cannot be right, and of buyers who come from elsewhere. */
export const strangeHistories: readonly BuyerHistory[] = [
  {
    name: 'The provider sent a negative amount for my purchase',
    facts: [payment({ total: -1_000 })],
    expected: { cause: /the amount is negative/ },
  },
  {
    name: 'The provider sent a negative amount for my renewal',
    facts: [...start, renewal(4, { total: -1_000 })],
    expected: { licenses: [PERSONAL], cause: /the amount is negative/ },
  },
  {
    name: 'My renewal is in another currency than my subscription',
    facts: [...start, renewal(4, { currency: 'JPY' })],
    expected: { licenses: [PERSONAL], cause: /it is paid in JPY, and its purchase in USD/ },
  },
  {
    name: 'My renewal in another currency was paid back, and my subscription is still active',
    facts: [
      ...start,
      snapshot(month(4), 'active', 4),
      renewal(4, { currency: 'JPY' }),
      adjustment({ transactionId: 'txn_4', occurredAt: month(4, 2), currency: 'JPY' }),
    ],
    expected: { licenses: [{ ...PERSONAL, expiresAt: month(5), isRefunded: true }] },
  },
  {
    name: 'A stranger who paid my renewal got the money back, and last month is not over',
    facts: [
      ...start,
      snapshot(month(3, 20), 'active', 4),
      renewal(4, { occurredAt: month(3, 20), customerId: 'ctm_stranger' }),
      adjustment({ transactionId: 'txn_4', occurredAt: month(3, 22) }),
    ],
    expected: { licenses: [PERSONAL] },
  },
  {
    name: 'I got 1000 yen back for ten dollars',
    facts: [...start, adjustment({ full: null, currency: 'JPY' })],
    expected: { licenses: [PERSONAL], cause: /it refunds in JPY what was paid in USD/ },
  },
  {
    name: 'A stranger paid for my subscription, and gets no key of mine',
    facts: [...start, renewal(4, { customerId: 'ctm_stranger' })],
    expected: { licenses: [PERSONAL], cause: /of another customer than its purchase/ },
  },
  {
    name: 'My colleague took over my subscription, and paid',
    facts: [
      ...start,
      snapshot(month(3, 9), 'active', 3, { customerId: 'ctm_2' }),
      renewal(4, { customerId: 'ctm_2' }),
    ],
    expected: { licenses: [{ ...PERSONAL, expiresAt: month(5) }] },
  },
  {
    name: 'Another subscription names my payment, is changed and canceled, and mine goes on',
    facts: [
      ...start,
      snapshot(month(3, 5), 'active', 3, {
        subscriptionId: 'sub_2',
        transactionId: 'txn_1',
        lines: [monthly(PRICES.sellers)],
      }),
      snapshot(month(3, 9), 'canceled', null, { subscriptionId: 'sub_2' }),
    ],
    expected: { licenses: [PERSONAL], cause: /sub_2 names a transaction of another subscription/ },
  },
  {
    name: 'My payment was reported again for another subscription',
    facts: [...start, checkout({ subscriptionId: 'sub_2', occurredAt: month(3, 5), total: 5_000 })],
    expected: { licenses: [PERSONAL], cause: /it names another subscription for the transaction/ },
  },
  {
    name: 'My subscription reports a period that ends before it starts',
    facts: [
      ...start,
      snapshot(month(3, 9), 'active', null, {
        period: { startsAt: month(9), endsAt: month(3, 20) },
      }),
    ],
    expected: { licenses: [PERSONAL], cause: /the subscription reports a period that ends before/ },
  },
  {
    name: 'I paid for none of a product',
    facts: [payment({ lines: [line(PRICES.personal, { quantity: 0 })] })],
    expected: { cause: /it is paid, and the quantity of everything that it sells is 0/ },
  },
  {
    name: 'I moved here with my old key, and paid my renewal',
    facts: [snapshot(month(4), 'active', 4), renewal(4)],
    elsewhere: [imported],
    expected: { licenses: [{ ...MOVED, expiresAt: month(5) }] },
  },
  {
    name: 'I moved here with my old key, and upgraded before any other event arrived',
    facts: [snapshot(month(4), 'active', 4, { lines: [monthly(PRICES.sellers)] })],
    elsewhere: [imported],
    expected: {
      licenses: [{ ...MOVED, productId: 'sellers', machines: 10, expiresAt: month(5) }],
    },
  },
  {
    name: 'I moved here with my old key, and my card was declined',
    facts: [snapshot(month(4), 'past_due', 4)],
    elsewhere: [imported],
    expected: { licenses: [MOVED] },
  },
  {
    name: 'I moved here with my old key, and canceled',
    facts: [snapshot(month(3, 20), 'canceled', null)],
    elsewhere: [imported],
    expected: { licenses: [{ ...MOVED, isCanceled: true }] },
  },
  {
    name: 'I moved here with my old key, renewed early, got that back, and keep what I paid before',
    facts: [
      renewal(4, { occurredAt: month(3, 5) }),
      adjustment({ transactionId: 'txn_4', occurredAt: month(3, 9) }),
    ],
    elsewhere: [imported],
    expected: { licenses: [MOVED] },
  },
  {
    name: 'A key of another product ends when my renewal begins, and stays as it is',
    facts: [renewal(4)],
    elsewhere: [
      { ...imported, kind: 'renewal', name: month(4).toISOString(), productId: 'sellers' },
    ],
    expected: { licenses: [{ ...PERSONAL, expiresAt: month(5) }] },
  },
];
