/** Reports from name to value, doctor, jobs and tasks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { press, type } from '../keyboard.ts';
import type { Console } from '../open-console.ts';

export function testUsage(running: () => Console): void {
  test('chooses a period and shows the numbers of the chart as a table, by keyboard alone', async () => {
    const { page, close, go } = await running().open('viewer');
    await go('/usage');
    await press(page, '7 days');
    await page.waitForURL(/\?days=7$/);
    await press(page, 'By week');
    await page.waitForURL(/by=week/);
    await page.getByText('Machines each week, on average').waitFor();
    await press(page, 'Show as table');
    await page.getByRole('columnheader', { name: 'Period before' }).waitFor();
    await press(page, 'Platforms');
    await page.getByRole('row', { name: /macOS/ }).waitFor();
    await close();
  });

  test('goes from an event to its properties and their values, and keeps the period', async () => {
    const { page, close, go } = await running().open('viewer');
    await go('/events?days=7');
    await press(page, 'export_finished');
    await page.getByRole('heading', { name: 'export_finished' }).waitFor();
    await press(page, 'format');
    await page.getByRole('heading', { name: 'Values of format' }).waitFor();
    await page.getByRole('row', { name: /pdf/ }).waitFor();
    assert.match(page.url(), /days=7/);
    await page.goBack();
    await page.getByRole('row', { name: /pages/ }).waitFor();
    await close();
  });

  test('finds one event by its id, and the events of its install', async () => {
    const { world, open } = running();
    const { page, close, go } = await open('viewer');
    await go('/events');
    await type(page, 'Id of an event or of an install', world['eventId'] ?? '');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'export_finished' }).waitFor();
    await press(page, world['installId'] ?? '');
    await page.getByRole('heading', { name: 'Install 3f2b8c1e' }).waitFor();
    await page.getByRole('link', { name: 'export_finished' }).waitFor();
    await go('/events');
    await type(page, 'Id of an event or of an install', world['installId'] ?? '');
    await press(page, 'Events of install');
    await page.getByRole('heading', { name: 'Install 3f2b8c1e' }).waitFor();
    await close();
  });

  test('runs the checks of doctor, and shows a cause and a fix for each problem', async () => {
    const { page, close, go } = await running().open('viewer');
    await go('/health?tab=doctor');
    await press(page, 'Run the checks');
    const problem = page.getByRole('listitem').filter({ hasText: 'Failed jobs:' });
    await problem.getByText('Each job exhausted its retries').waitFor();
    await problem.getByText('Remove the cause').waitFor();
    await page.getByRole('button', { name: 'Run again' }).waitFor();
    await close();
  });

  test('runs a task and a failed job again, which a viewer cannot', async () => {
    const opened = running();
    const { pool } = opened.service;
    const { page, close, go } = await opened.open('admin');
    await go('/jobs?tab=tasks');
    await page.getByText('Paddle answered 401').waitFor();
    await press(page, 'Run now');
    await page.getByRole('dialog', { name: 'Run this task now' }).waitFor();
    await press(page, 'Run now');
    await page.getByText('The task runs now.').waitFor();
    await go('/jobs?state=failed');
    await press(page, 'Retry');
    await page.getByRole('dialog', { name: /^Retry job/ }).waitFor();
    await type(page, 'Reason', 'The relay is back');
    await press(page, 'Retry');
    await page.getByText('The job runs now.').waitFor();
    const { rows } = await pool.query(
      `select reason from audit_log where action = 'jobs.retry' order by sequence`,
    );
    assert.deepEqual(rows.at(-1), { reason: 'The relay is back' });
    await close();
    const viewer = await opened.open('viewer');
    await viewer.go('/jobs');
    assert.equal(await viewer.page.getByRole('button', { name: 'Retry', exact: true }).count(), 0);
    await viewer.close();
  });
}
