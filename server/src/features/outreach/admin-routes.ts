import {
  campaignMessages,
  campaigns,
  cancelCampaign,
  createCampaign,
  deleteCampaign,
  duplicateCampaign,
  pauseCampaign,
  reportCampaign,
  resumeCampaign,
  sendCampaign,
  showCampaign,
  updateCampaign,
} from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';
import { DONE } from '#server/http/done.ts';
import { serveOperation } from '#server/http/serve-operation.ts';

import { serveList } from '../lists/serve-list.ts';
import { toCampaign, toContent } from './campaigns/campaign-views.ts';
import * as control from './campaigns/control-campaign.ts';
import * as edit from './campaigns/edit-campaign.ts';
import { campaignSource } from './campaigns/list-campaigns.ts';
import { messageSource } from './campaigns/list-messages.ts';
import { startCampaign } from './campaigns/start-campaign.ts';
import * as view from './campaigns/view-campaign.ts';
import type { OutreachDependencies } from './dependencies.ts';

/** Registers the operations on outreach campaigns. */
export function registerCampaignRoutes(app: App, deps: OutreachDependencies): void {
  serveList(app, deps, campaigns, campaignSource(deps));
  serveOperation(app, showCampaign, ({ params }) =>
    edit.showCampaign(deps, params.id).then(toCampaign),
  );
  serveOperation(app, reportCampaign, ({ params }) => view.reportCampaign(deps, params.id));
  serveList(app, deps, campaignMessages, messageSource(deps));
  registerDrafts(app, deps);
  registerSending(app, deps);
}

function registerDrafts(app: App, deps: OutreachDependencies): void {
  serveOperation(app, createCampaign, ({ body, operator }) =>
    edit.createDraft(deps, toContent(body), operator.actor).then(toCampaign),
  );
  serveOperation(app, updateCampaign, ({ params, body, operator }) => {
    const expected = { version: body.expected_version, actor: operator.actor };
    return edit.updateDraft(deps, params.id, toContent(body), expected).then(toCampaign);
  });
  serveOperation(app, duplicateCampaign, ({ params, operator }) =>
    edit.duplicateCampaign(deps, params.id, operator.actor).then(toCampaign),
  );
  serveOperation(app, deleteCampaign, ({ params, operator }) =>
    edit.deleteDraft(deps, params.id, operator.actor).then(() => DONE),
  );
}

function registerSending(app: App, deps: OutreachDependencies): void {
  serveOperation(app, sendCampaign, ({ params, body, operator: { actor } }) => {
    const { expected_version: version, max_recipients: maxRecipients, list = null } = body;
    const start = { version, maxRecipients, list, actor };
    return startCampaign(deps, params.id, start).then(toCampaign);
  });
  serveOperation(app, pauseCampaign, ({ params, operator: { actor } }) =>
    control.pauseCampaign(deps, params.id, { actor, reason: null }).then(toCampaign),
  );
  serveOperation(app, resumeCampaign, ({ params, operator: { actor } }) =>
    control.resumeCampaign(deps, params.id, { actor, reason: null }).then(toCampaign),
  );
  serveOperation(app, cancelCampaign, ({ params, body: { reason }, operator: { actor } }) =>
    control.cancelCampaign(deps, params.id, { actor, reason }).then(toCampaign),
  );
}
