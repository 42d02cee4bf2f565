import { markup } from '#server/pages/markup.ts';

import type { PageFrame } from '../../suppressions/page-frame.ts';
import { formatDate } from '#server/pages/format-date.ts';
import type { OwnMachine } from '../own-licenses.ts';
import type { FreeingDecision } from '../rules/decide-freeing.ts';
import { errorLine, postButton, textsOf, type BuyerPage } from './frame.ts';
import { machineFacts, shortMachineId } from './license-page.ts';

/** What the page on which a machine is freed shows. */
export interface FreePageFacts {
  readonly licenseId: string;
  readonly machine: OwnMachine;
  /** How long the software may run on it. */
  readonly offlineDays: number;
  /** The moves of the license. */
  readonly moves: { readonly left: number; readonly days: number };
  /** Whether the owner gets an e-mail. */
  readonly isMailed: boolean;
}

/** The page that asks before a machine is freed. @param error why it was not freed; null: not tried */
export function freePage(frame: PageFrame, facts: FreePageFacts, error: string | null): BuyerPage {
  const { freeing, license } = textsOf(frame);
  const { isMailed, licenseId, machine, moves, offlineDays } = facts;
  const action = `/my/licenses/${licenseId}/machines/${machine.activationId}`;
  return {
    frame,
    title: freeing.title,
    isSignedIn: true,
    hasError: error !== null,
    content: markup`${errorLine('error', error)}
<h2><code>${shortMachineId(machine)}</code></h2>
${machineFacts(frame, machine)}
${error === null && markup`<p>${freeing.effect(offlineDays)}</p>`}
${error === null && moves.left === 0 && markup`<p>${freeing.noMoves(moves.days)}</p>`}
${error === null && isMailed && markup`<p>${freeing.mailed}</p>`}
<div class="row">
${error === null && postButton(action, freeing.button)}
<a class="button quiet" href="/my/licenses/${licenseId}">${error === null ? freeing.cancel : license.machines}</a>
</div>`,
  };
}

/** Why a machine is not freed; null: it is, or can be. */
export function freeingError(frame: PageFrame, decision: FreeingDecision): string | null {
  const { freeing } = textsOf(frame);
  switch (decision.kind) {
    case 'free':
      return null;
    case 'already':
      return freeing.already;
    case 'airgapped':
      return freeing.airgapped(formatDate(frame.language, decision.until));
    case 'limit': {
      const from = formatDate(frame.language, decision.availableAt);
      return freeing.limit(decision.limit, decision.days, from);
    }
  }
}
