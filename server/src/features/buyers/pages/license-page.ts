import { cutText } from '#server/lib/text.ts';
import { markup, type Markup } from '#server/pages/markup.ts';

import type { PageFrame } from '../../suppressions/page-frame.ts';
import { formatDate } from '#server/pages/format-date.ts';
import type { OwnMachine, OwnMachines } from '../own-licenses.ts';
import { noticeLine, showNotice, textsOf, type BuyerPage, type Notice } from './frame.ts';
import { buyButtons, sendKeysForm, type LicenseView } from './license-list.ts';
import { statusLines } from './license-status.ts';

/** Enough to recognize a machine; an id may have 1,024 characters. */
const SHOWN_ID_CHARACTERS = 64;

/** What a page of a license offers. */
export interface LicensePageOptions {
  /** Whether the buyer sees other licenses as well. */
  readonly hasOthers: boolean;
  /** The payment provider's page for card and invoices; null: none. */
  readonly portal: string | null;
  readonly offersAirgap: boolean;
  /** The machine that was freed before; null: none. */
  readonly freedId: string | null;
  readonly notice: Notice | null;
}

/** The id of a machine, short enough for a page. */
export function shortMachineId({ machineId }: Pick<OwnMachine, 'machineId'>): string {
  return cutText(machineId, SHOWN_ID_CHARACTERS);
}

/** The page of one license with its machines. */
export function licensePage(
  view: LicenseView,
  machines: OwnMachines,
  options: LicensePageOptions,
): BuyerPage {
  const { frame, hasMail, nameProduct, now } = view;
  const { license, list } = textsOf(frame);
  const { license: own, deactivated } = machines;
  const offered = buyButtons(view, own);
  const freed = deactivated.find(({ activationId }) => activationId === options.freedId);
  return {
    frame,
    title: nameProduct(own.productId),
    isSignedIn: true,
    hasError: options.notice?.isProblem === true,
    content: markup`${options.hasOthers && markup`<nav><a href="/my">${list.back}</a></nav>`}
${freed !== undefined && noticeLine(license.freed(shortMachineId(freed)), hasMail && own.customerEmail !== null ? license.freedNotice : null)}
${showNotice(options.notice)}
${statusLines(frame.language, own, now)}
${own.keyHint !== '' && markup`<p class="hint">${list.keyEnds(own.keyHint)}</p>`}
${offered.length > 0 && markup`<p class="row">${offered}</p>`}
${options.portal !== null && markup`<p><a href="${options.portal}" rel="noopener noreferrer">${license.portal}</a></p>`}
<p>${license.moves(machines.moves.left, machines.moves.days)}</p>
${options.offersAirgap && markup`<p><a class="button quiet" href="/my/licenses/${own.id}/offline">${textsOf(frame).airgap.link}</a></p>`}
${machineSection(frame, machines)}
${deactivated.length > 0 && deactivatedSection(frame, deactivated)}
${hasMail && own.customerEmail !== null && sendKeysForm(frame)}`,
  };
}

function machineSection(frame: PageFrame, machines: OwnMachines): Markup {
  const { license, list } = textsOf(frame);
  const { active, license: own } = machines;
  const items = active.map((machine) => machineItem(frame, own.id, machine));
  return markup`<section aria-labelledby="machines">
<h2 id="machines">${license.machines}</h2>
<p>${list.machines(own.active, own.maxActivations)}</p>
${machines.pages > 1 && markup`<nav aria-label="${license.pages}">${pager(frame, machines)}</nav>`}
${active.length === 0 ? markup`<p>${license.none} ${license.unused}</p>` : markup`<ul class="plain">${items}</ul>`}
${machines.pages > 1 && markup`<p class="pager">${pager(frame, machines)}</p>`}
</section>`;
}

function machineItem(frame: PageFrame, licenseId: string, machine: OwnMachine): Markup {
  const { free } = textsOf(frame).license;
  const id = shortMachineId(machine);
  return markup`
<li class="machine">
<h3><code>${id}</code></h3>
${factList(frame, machine, [])}
<a class="button quiet" href="/my/licenses/${licenseId}/machines/${machine.activationId}">${free}<span class="hidden"> ${id}</span></a>
</li>`;
}

/** All that is known about a machine, as a list of terms. */
export function machineFacts(frame: PageFrame, machine: OwnMachine): Markup {
  const { since } = textsOf(frame).license;
  return factList(frame, machine, [[since, formatDate(frame.language, machine.activatedAt)]]);
}

type Facts = readonly (readonly [term: string, value: string | null])[];

/** What distinguishes a machine among hundreds. @param others further facts */
function factList(frame: PageFrame, machine: OwnMachine, others: Facts): Markup {
  const { license } = textsOf(frame);
  const day = (date: Date | null) => (date === null ? null : formatDate(frame.language, date));
  const facts: Facts = [
    [license.lastSeen, day(machine.lastSeenAt)],
    [license.version, machine.appVersion],
    [license.system, machine.osVersion],
    ...others,
    [license.offlineUntil, day(machine.airgappedUntil)],
    [license.deactivatedOn, day(machine.deactivatedAt)],
  ];
  const known = facts.filter(([, value]) => value !== null);
  return markup`<dl>${known.map(([term, value]) => markup`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function deactivatedSection(frame: PageFrame, machines: readonly OwnMachine[]): Markup {
  const { license } = textsOf(frame);
  const items = machines.map(
    (machine) => markup`
<li><h3><code>${shortMachineId(machine)}</code></h3>${factList(frame, machine, [])}</li>`,
  );
  return markup`<details><summary>${license.deactivated(machines.length)}</summary><ul class="plain">${items}</ul></details>`;
}

function pager(frame: PageFrame, { license: own, page, pages }: OwnMachines): Markup {
  const { license } = textsOf(frame);
  const href = (number: number): string => `/my/licenses/${own.id}?page=${number}`;
  return markup`${page > 1 && markup`<a href="${href(page - 1)}">${license.newer}</a>`}
<span>${license.page(page, pages)}</span>
${page < pages && markup`<a href="${href(page + 1)}">${license.older}</a>`}
${page < pages - 1 && markup`<a href="${href(pages)}">${license.oldest}</a>`}`;
}
