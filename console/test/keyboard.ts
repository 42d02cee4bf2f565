import assert from 'node:assert/strict';

import type { Page } from 'playwright-core';

/** How long a page may take to show what is pressed or typed next. */
const TIMEOUT_MS = 30_000;

/** The first text of the label names a field: hints follow it. */
const READ_FOCUS = `(() => {
  const { activeElement: element } = document;
  const texts = element.labels?.[0] && document.createTreeWalker(element.labels[0], NodeFilter.SHOW_TEXT);
  const label = texts?.nextNode()?.textContent;
  return (label ?? element.getAttribute('aria-label') ?? element.textContent).trim();
})()`;

/** Returns the name of the element that has the focus. */
export async function readFocus(page: Page): Promise<string> {
  return page.evaluate<string>(READ_FOCUS);
}

/** Waits until the element with a name has the focus: the page moves it after it has changed. */
export async function waitForFocus(page: Page, name: string): Promise<void> {
  const end = Date.now() + TIMEOUT_MS;
  let focused = await readFocus(page);
  while (focused !== name) {
    assert.ok(Date.now() < end, `${focused} has the focus, not ${name}`);
    focused = await readFocus(page);
  }
}

/**
 * Presses Tab until an element with a name has the focus; begins again after the last one, because the page may still be loading.
 * @throws AssertionError when none has it
 */
export async function tabTo(page: Page, name: string): Promise<void> {
  const seen = new Set<string>();
  const end = Date.now() + TIMEOUT_MS;
  while (Date.now() < end) {
    const focused = await readFocus(page);
    if (focused === name) return;
    seen.add(focused);
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not reach ${name}, only: ${[...seen].join(' | ')}`);
}

/** Presses Enter on the element with a name. */
export async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}

/** Chooses among the radio buttons of a group: Tab reaches the checked one, an arrow the next. */
export async function choose(page: Page, checked: string, label: string): Promise<void> {
  await tabTo(page, checked);
  const end = Date.now() + TIMEOUT_MS;
  while ((await readFocus(page)) !== label) {
    assert.ok(Date.now() < end, `no arrow reaches ${label}`);
    await page.keyboard.press('ArrowDown');
  }
}

/** A button with a dialog. */
export interface DialogButton {
  readonly label: string;
  /** The title of the dialog; default: the label. */
  readonly title?: string;
  /** The button that confirms; default: the label. */
  readonly confirm?: string;
  readonly fields?: Readonly<Record<string, string>>;
  /** What the console reports; absent: the test looks for it. */
  readonly done?: string;
}

/** Opens the dialog of a button, fills in its fields, and confirms. */
export async function pressButton(page: Page, button: DialogButton): Promise<void> {
  const { label, title = label, confirm = label, fields = {}, done } = button;
  await press(page, label);
  await page.getByRole('dialog', { name: title }).waitFor();
  for (const [field, text] of Object.entries(fields)) await type(page, field, text);
  await press(page, confirm);
  if (done !== undefined) await page.getByText(done).waitFor();
}

/** Types into the field with a label; replaces what it contains. */
export async function type(page: Page, label: string, text: string): Promise<void> {
  await tabTo(page, label);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(text);
}
