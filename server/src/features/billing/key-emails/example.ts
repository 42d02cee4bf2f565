import type { KeyEmailFacts } from './key-email.ts';

/** A made-up purchase, for looking at the e-mail. No key of it opens anything. */
export const exampleKeyEmail: KeyEmailFacts = {
  customerName: 'Robin Example',
  keys: [
    {
      productName: 'Example Studio',
      licenseKey: 'LK-EXAMP-LE000-00000-00000-00000',
      maxActivations: 2,
    },
    {
      productName: 'Example Server',
      licenseKey: 'LK-EXAMP-LE000-00000-00000-00001',
      maxActivations: 1,
    },
  ],
  transactionId: 'txn_01example',
};
