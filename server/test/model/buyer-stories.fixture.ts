/** Stories of ways to sell that are hard to get right, each named after what its buyer or seller would say. */
import type { ModelLicense } from './model-shop.ts';
import type { Step } from './story-steps.ts';

/** What differs from a license of the first person that nothing happened to. */
type Expected = Partial<ModelLicense> & Pick<ModelLicense, 'product' | 'machines'>;

export interface BuyerStory {
  readonly name: string;
  /** Default of each: a purchase of `forever` at the shop's own checkout, ten days after the step before. */
  readonly steps: readonly Partial<Step>[];
  readonly licenses: readonly Expected[];
  /** Whether a license becomes another product: then the reports about it have their order. Default: false. */
  readonly hasUpgrades?: true;
  /** The places of the purchases that need an operator. Default: none. */
  readonly attention?: readonly number[];
}

const FOREVER = { product: 'forever', machines: 2 };
const TERM = { product: 'term', machines: 2 };
const VERSIONS = { product: 'versions', machines: 3, updates: 375 };
const SEAT = { product: 'seat', machines: 1 };
const POOLED = { product: 'pooled', machines: 2 };
const DESK = { product: 'desk', machines: 1, end: 41 };

export const buyerStories: readonly BuyerStory[] = [
  {
    name: 'I bought another year of updates',
    steps: [{ good: 'versions' }, { good: 'updates' }],
    licenses: [{ ...VERSIONS, updates: 740 }],
  },
  {
    name: 'I bought another year of updates and got that back',
    steps: [{ good: 'versions' }, { good: 'updates' }, { kind: 'refund', pick: 1 }],
    licenses: [VERSIONS],
  },
  {
    name: 'I got my license back, but kept the updates that I had until then',
    steps: [{ good: 'versions' }, { kind: 'refund' }],
    licenses: [{ ...VERSIONS, updates: 10, isRefunded: true }],
  },
  {
    name: 'I bought updates, and have no license of the product',
    steps: [
      { good: 'forever', person: 3 },
      { good: 'updates', person: 3 },
    ],
    licenses: [{ ...FOREVER, owner: 3 }],
    attention: [1],
  },
  {
    name: 'I have two licenses, and did not say whose updates I bought',
    steps: [{ good: 'versions' }, { good: 'versions' }, { good: 'updates' }],
    licenses: [VERSIONS, { ...VERSIONS, updates: 385 }],
    attention: [2],
  },
  {
    name: 'I have two licenses, and named the one whose updates I bought by its key',
    steps: [
      { good: 'versions' },
      { good: 'versions' },
      { kind: 'renewLicense', good: 'updates', pick: 1, isNamedByKey: true },
    ],
    licenses: [VERSIONS, { ...VERSIONS, updates: 750 }],
  },
  {
    name: 'I bought three keys',
    steps: [{ good: 'seats', quantity: 3 }],
    licenses: [SEAT, SEAT, SEAT],
  },
  {
    name: 'We are two instead of three, and then three again',
    steps: [
      { good: 'desks', quantity: 3 },
      { kind: 'changeQuantity', quantity: 2, days: 5 },
      { kind: 'changeQuantity', quantity: 3, days: 5 },
    ],
    licenses: [DESK, DESK, DESK],
  },
  {
    name: 'We are one instead of three, and my colleagues have no key any more',
    steps: [
      { good: 'desks', quantity: 3 },
      { kind: 'changeQuantity', quantity: 1 },
    ],
    licenses: [DESK, { ...DESK, isCanceled: true }, { ...DESK, isCanceled: true }],
  },
  {
    name: 'I bought the suite, and got it back',
    steps: [{ good: 'suite' }, { kind: 'refund' }],
    licenses: [
      { ...FOREVER, isRefunded: true },
      { ...SEAT, isRefunded: true },
    ],
  },
  {
    name: 'I gave a license to a friend, who bought updates for it',
    steps: [
      { good: 'versions', giftTo: 1 },
      { good: 'updates', person: 1 },
    ],
    licenses: [{ ...VERSIONS, owner: 1, updates: 740 }],
  },
  {
    name: 'I renewed the license of a friend as a gift',
    steps: [
      { good: 'term', person: 1 },
      { kind: 'renewLicense', good: 'term', giftTo: 1, seller: 'paddle' },
    ],
    licenses: [{ ...TERM, owner: 1, end: 740 }],
  },
  {
    name: 'I renewed my own license at Paddle with the address of a friend, and it is mine',
    steps: [{ good: 'term' }, { kind: 'renewLicense', good: 'term', giftTo: 1, seller: 'paddle' }],
    licenses: [{ ...TERM, end: 740 }],
  },
  {
    name: 'A stranger renewed my license, and got the money back',
    steps: [
      { good: 'term' },
      { kind: 'renewLicense', good: 'term', person: 1 },
      { kind: 'refund', pick: 1 },
    ],
    licenses: [{ ...TERM, end: 375 }],
  },
  {
    name: 'A stranger renewed my license, and needs help',
    steps: [{ good: 'term' }, { kind: 'renewLicense', good: 'term', person: 1 }],
    licenses: [{ ...TERM, end: 375 }],
    attention: [1],
  },
  {
    name: 'I renewed my license twice, and the first renewal was paid back',
    steps: [
      { good: 'term' },
      { kind: 'renewLicense', good: 'term' },
      { kind: 'renewLicense', good: 'term' },
      { kind: 'refund', pick: 1 },
    ],
    licenses: [{ ...TERM, end: 740 }],
  },
  {
    name: 'There was no key for me, so I got my money back, and nobody has to do anything',
    steps: [{ good: 'pooled' }, { kind: 'refund' }],
    licenses: [],
  },
  {
    name: 'There was no key for me until the seller added some',
    steps: [{ good: 'pooled' }, { good: 'pooled', person: 1, isTest: true }, { kind: 'addKeys' }],
    licenses: [POOLED, { ...POOLED, owner: 1, isTest: true }],
  },
  {
    name: 'I tested my shop, and a test does not renew a real license',
    steps: [{ good: 'term' }, { kind: 'renewLicense', good: 'term', isTest: true }],
    licenses: [{ ...TERM, end: 375 }],
    attention: [1],
  },
  {
    name: 'I have all updates forever, and a subscription that adds nothing takes none away',
    hasUpgrades: true,
    steps: [{ good: 'seats' }, { kind: 'renewLicense', good: 'kept' }],
    licenses: [SEAT],
    attention: [1],
  },
  {
    name: 'I upgraded twice, and the newest product decides on my updates',
    hasUpgrades: true,
    steps: [
      { good: 'term' },
      { kind: 'renewLicense', good: 'forever' },
      { kind: 'renewLicense', good: 'versions' },
    ],
    licenses: [{ ...VERSIONS, updates: 395 }],
  },
  {
    name: 'I bought two keys, one could not renew my license, and the other stays what it was',
    hasUpgrades: true,
    steps: [
      { good: 'term' },
      { kind: 'renewLicense', good: 'desks', quantity: 2 },
      { kind: 'editCatalog' },
      { kind: 'renewSubscription' },
    ],
    licenses: [
      { ...TERM, end: 375 },
      { ...DESK, end: 79 },
    ],
    attention: [1],
  },
  {
    name: 'I bought the suite, which was no larger than my license, and keep the rest of it',
    steps: [
      { good: 'versions' },
      { kind: 'renewLicense', good: 'suite' },
      { kind: 'dispute', pick: 1 },
      { kind: 'win' },
    ],
    hasUpgrades: true,
    licenses: [SEAT, VERSIONS],
    attention: [1],
  },
  {
    name: 'I bought before the seller changed the catalogue, and my colleague after it',
    steps: [{ good: 'term' }, { kind: 'editCatalog' }, { good: 'term', person: 1 }],
    licenses: [
      { ...TERM, end: 375 },
      { owner: 1, product: 'term', machines: 3, end: 386 },
    ],
  },
];
