import {
  dryRunCampaign,
  exportDryRun,
  previewCampaign,
  sendTestMail,
  showCampaignStart,
  showPreviewFrame,
  type CampaignRecipients,
} from '@latchkey/contract';

import { forbidden } from '#server/errors.ts';
import { answerCsv } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { NO_SLOT, OWN_SLOTS } from '#server/http/database-slots.ts';
import { serveOperation } from '#server/http/serve-operation.ts';

import * as recipients from './campaigns/dry-run.ts';
import { PREVIEW_FRAME, PREVIEW_FRAME_HEADERS } from './campaigns/preview-frame.ts';
import type { Selection } from './campaigns/select-recipients.ts';
import * as test from './campaigns/send-test-mail.ts';
import * as view from './campaigns/view-campaign.ts';
import type { OutreachDependencies } from './dependencies.ts';

/** Registers the operations of writing a campaign, which change no campaign. */
export function registerComposeRoutes(app: App, deps: OutreachDependencies): void {
  serveOperation(app, showCampaignStart, () => view.readCampaignStart(deps), NO_SLOT);
  serveOperation(
    app,
    showPreviewFrame,
    (_request, reply) => {
      void reply.headers(PREVIEW_FRAME_HEADERS);
      return PREVIEW_FRAME;
    },
    NO_SLOT,
  );
  serveOperation(app, previewCampaign, ({ body }) => view.previewCampaign(deps, body), NO_SLOT);
  serveOperation(app, dryRunCampaign, ({ body }) => recipients.dryRun(deps, toSelection(body)));
  serveOperation(app, exportDryRun, async ({ body, operator }, reply) => {
    const rows = await recipients.exportDryRun(deps, toSelection(body), operator.actor);
    return answerCsv(reply, 'recipients', recipients.DRY_RUN_COLUMNS, rows);
  });
  serveOperation(
    app,
    sendTestMail,
    async ({ body, operator: { actor, email, name } }) => {
      if (email === null) throw forbidden(null);
      await test.sendTestMail(deps, body, { email, name, actor });
      return { sent_to: email };
    },
    OWN_SLOTS,
  );
}

function toSelection(body: CampaignRecipients): Selection {
  const { audience, texts, default_language: defaultLanguage, list } = body;
  return { audience, texts, defaultLanguage, list: list ?? null };
}
