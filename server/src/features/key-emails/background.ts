/** Feature: send buyers the keys of their licenses, and the payers of gifts a note. */
import { defineJobHandler, type JobHandler } from '#server/jobs/job-queue.ts';

import type { BillingDependencies } from '../billing/dependencies.ts';
import { sendLicenseKey } from './resend-license-key.ts';
import { sendGiftNote } from './send-gift-note.ts';
import { sendKeyEmail } from './send-key-email.ts';
import { sendReplacedKey } from './send-replaced-key.ts';

export function createKeyEmailJobs(deps: BillingDependencies): readonly JobHandler[] {
  return [
    defineJobHandler('send_key_email', (key, signal) => sendKeyEmail(deps, key, signal)),
    defineJobHandler('send_gift_note', (key, signal) => sendGiftNote(deps, key, signal)),
    defineJobHandler('send_replaced_key', (job, signal) => sendReplacedKey(deps, job, signal)),
    defineJobHandler('send_license_key', (job, signal) => sendLicenseKey(deps, job, signal)),
  ];
}
