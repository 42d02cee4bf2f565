import type { MailBlock } from '#server/mail/mail-content.ts';
import { renderMail, type RenderedMail } from '#server/mail/render-mail.ts';
import { formatDate } from '#server/pages/format-date.ts';

import type { Language } from '@latchkey/contract';

import { keyEmailTexts, replacedKeyTexts } from './texts.ts';

/** The content of an e-mail with keys. */
export interface KeyEmailFacts {
  /** Null if unknown. */
  readonly customerName: string | null;
  /** In the order of the lines; at least one. */
  readonly keys: readonly EmailedKey[];
  /** Identifies the purchase for the buyer. */
  readonly transactionId: string;
  /** The address of the page for buyers; null: no link to it. */
  readonly buyerPage: string | null;
}

/** A license key in an e-mail. */
export interface EmailedKey {
  readonly productName: string;
  readonly licenseKey: string;
  readonly maxActivations: number;
  /** The end of updates; null: it gets all. */
  readonly updatesUntil: Date | null;
}

/** Writes the e-mail with the keys of a transaction. */
export function writeKeyEmail(language: Language, facts: KeyEmailFacts): RenderedMail {
  const texts = keyEmailTexts[language];
  const { buyerPage, customerName, keys, transactionId } = facts;
  const products = [...new Set(keys.map(({ productName }) => productName))];
  return render(language, {
    subject: texts.subject(keys.length, products.length === 1 ? (products[0] ?? null) : null),
    customerName,
    introduction: texts.thanks(keys.length),
    keys,
    instructions: describeActivation(language, buyerPage),
    footer: [texts.keep, texts.order(transactionId)],
  });
}

/** Writes the e-mail with the key of one license, without a purchase. */
export function writeLicenseKeyEmail(
  language: Language,
  key: EmailedKey & Pick<KeyEmailFacts, 'buyerPage' | 'customerName'>,
): RenderedMail {
  const texts = keyEmailTexts[language];
  return render(language, {
    subject: texts.subject(1, key.productName),
    customerName: key.customerName,
    introduction: texts.here,
    keys: [key],
    instructions: describeActivation(language, key.buyerPage),
    footer: [texts.keep],
  });
}

function describeActivation(language: Language, buyerPage: string | null): MailBlock[] {
  const texts = keyEmailTexts[language];
  return [
    { kind: 'heading', text: texts.howTo },
    { kind: 'steps', items: texts.steps },
    { kind: 'paragraph', text: texts.moving },
    ...linkTo(language, buyerPage),
  ];
}

function linkTo(language: Language, buyerPage: string | null): MailBlock[] {
  if (buyerPage === null) return [];
  return [{ kind: 'link', text: keyEmailTexts[language].page, url: buyerPage }];
}

interface KeyEmailContent extends Pick<KeyEmailFacts, 'customerName' | 'keys'> {
  readonly subject: string;
  readonly introduction: string;
  readonly instructions: readonly MailBlock[];
  readonly footer: readonly string[];
}

function render(
  language: Language,
  { subject, customerName, introduction, keys, instructions, footer }: KeyEmailContent,
): RenderedMail {
  const texts = keyEmailTexts[language];
  const greeting = texts.greeting(toGreetingName(customerName));
  return renderMail({
    language,
    subject,
    preview: `${greeting} ${introduction}`,
    blocks: [
      { kind: 'title', text: subject },
      { kind: 'paragraph', text: greeting },
      { kind: 'paragraph', text: introduction },
      ...listKeys(language, keys),
      ...instructions,
    ],
    footer,
  });
}

/** More keys of the same kind are listed in one block: mail programs cut off long e-mails. */
const MAX_BLOCKS = 10;

function listKeys(language: Language, keys: readonly EmailedKey[]): MailBlock[] {
  if (keys.length <= MAX_BLOCKS) {
    return keys.map((key) => ({
      kind: 'code',
      label: key.productName,
      code: key.licenseKey,
      note: describeKey(language, key),
    }));
  }
  const sameKind = Map.groupBy(keys, (key) => `${key.productName} ${describeKey(language, key)}`);
  return [...sameKind.values()].flatMap((same): MailBlock[] => {
    const [first] = same;
    if (first === undefined) return [];
    return [
      { kind: 'heading', text: `${first.productName} (${same.length})` },
      { kind: 'paragraph', text: describeKey(language, first) },
      { kind: 'lines', lines: same.map(({ licenseKey }) => licenseKey) },
    ];
  });
}

function describeKey(language: Language, { maxActivations, updatesUntil }: EmailedKey): string {
  const { machines, updates } = keyEmailTexts[language];
  if (updatesUntil === null) return machines(maxActivations);
  return `${machines(maxActivations)} ${updates(formatDate(language, updatesUntil))}`;
}

const MAX_NAME_CHARACTERS = 60;

/** Returns the name for an e-mail, or null if it contains a link or address: buyers choose it freely, also of other people. */
export function toGreetingName(name: string | null): string | null {
  const trimmed = name?.replaceAll(/\s+/gu, ' ').trim() ?? '';
  const plain = /^[\p{L}\p{M}\p{N} .'’·,-]+$/u.test(trimmed) && !/\.\p{L}{2,}/u.test(trimmed);
  return plain && trimmed.length <= MAX_NAME_CHARACTERS ? trimmed : null;
}

/** An example for the preview; its keys are not valid. */
export const exampleKeyEmail: KeyEmailFacts = {
  customerName: 'Robin Example',
  keys: [
    {
      productName: 'Example Studio',
      licenseKey: 'LK-EXAMP-LE000-00000-00000-00000',
      maxActivations: 2,
      updatesUntil: null,
    },
    {
      productName: 'Example Server',
      licenseKey: 'LK-EXAMP-LE000-00000-00000-00001',
      maxActivations: 1,
      updatesUntil: null,
    },
  ],
  transactionId: 'txn_01example',
  buyerPage: 'https://license.example.com/my',
};

/** The content of an e-mail with a replaced key. */
interface ReplacedKeyFacts extends EmailedKey {
  /** Null if unknown. */
  readonly customerName: string | null;
  /** Whether machines stay activated. */
  readonly machinesKept: boolean;
  /** As in {@link KeyEmailFacts}. */
  readonly buyerPage: string | null;
}

/** Writes the e-mail with the key that replaces an earlier one. */
export function writeReplacedKeyEmail(language: Language, facts: ReplacedKeyFacts): RenderedMail {
  const texts = replacedKeyTexts[language];
  return render(language, {
    subject: texts.subject(facts.productName),
    customerName: facts.customerName,
    introduction: texts.replaced,
    keys: [facts],
    instructions: [
      { kind: 'heading', text: texts.whatToDo },
      { kind: 'paragraph', text: facts.machinesKept ? texts.machinesKept : texts.machinesDropped },
      ...linkTo(language, facts.buyerPage),
    ],
    footer: [texts.keep],
  });
}

/** An example for the preview; its key is not valid. */
export const exampleReplacedKey: ReplacedKeyFacts = {
  customerName: 'Robin Example',
  productName: 'Example Studio',
  licenseKey: 'LK-EXAMP-LE000-00000-00000-00002',
  maxActivations: 2,
  updatesUntil: null,
  machinesKept: true,
  buyerPage: 'https://license.example.com/my',
};
